"""What this distribution provides: tools, and the wrapper through which a policy calls them."""

from __future__ import annotations

from gem.specs import PluginManifest, ToolSpec, WrapperSpec

plugin = PluginManifest(
    name="tools",
    summary="Tools that a policy may call, and the wrapper that lets it.",
    wrappers=(
        WrapperSpec(
            id="tools",
            target="gem_tools.wrapper:Tools",
            summary="Let a policy call tools; only actions that call none reach the environment.",
            blocking=False,
            layer="tool",
        ),
        WrapperSpec(
            id="python_tool",
            target="gem_tools.python_wrapper:python_tool",
            summary="Let a policy run Python in a sandbox; calls earn a little.",
            blocking=False,
            layer="tool",
            compat_target="gem_tools.gem_llm.python_code:python_tool",
        ),
        WrapperSpec(
            id="python_tool_no_int_reward",
            target="gem_tools.python_wrapper:python_tool_no_int_reward",
            summary="Let a policy run Python in a sandbox.",
            blocking=False,
            layer="tool",
            compat_target="gem_tools.gem_llm.python_code:python_tool_no_int_reward",
        ),
        WrapperSpec(
            id="search_tool",
            target="gem_tools.search_wrapper:search_tool",
            summary="Let a policy search an index or a server; calls earn a little.",
            blocking=False,
            layer="tool",
            compat_target="gem_tools.gem_llm.search:search_tool",
        ),
        WrapperSpec(
            id="search_tool_no_int_reward",
            target="gem_tools.search_wrapper:search_tool_no_int_reward",
            summary="Let a policy search an index or a server.",
            blocking=False,
            layer="tool",
            compat_target="gem_tools.gem_llm.search:search_tool_no_int_reward",
        ),
    ),
    tools=(
        ToolSpec(
            id="mcp",
            target="gem_tools.mcp:McpTools",
            summary="The tools of an MCP server: a command that is run, or an address.",
            requires=("mcp>=2.3,<3",),
        ),
        ToolSpec(
            id="python",
            target="gem_tools.python_tool:PythonTool",
            summary="Run a program in a sandbox and return what it prints.",
        ),
        ToolSpec(
            id="search",
            target="gem_tools.search:SearchTool",
            summary="Search an index of documents, or ask a search server.",
        ),
    ),
    hooks=("gem_tools.sandbox.hooks", "gem_tools.search.hooks"),
    published={
        "gem.tools.mcp_server.time_mcp:app": "gem_tools.gem_llm.time_server:app",
        "gem.tools.mcp_server.time_mcp:main": "gem_tools.gem_llm.time_server:main",
        "gem.tools.mcp_tool:MCPTool": "gem_tools.gem_llm.mcp:MCPTool",
        "gem.tools.python_code_tool:PythonCodeTool": "gem_tools.gem_llm.python_code:PythonCodeTool",
        "gem.tools.search_tool:SearchTool": "gem_tools.gem_llm.search:SearchTool",
        "gem.utils.sandbox:run_python": "gem_tools.gem_llm.python_code:run_python",
    },
)
