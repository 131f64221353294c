"""`MCPTool`: gem-llm's way to call the tools of MCP servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gem.compat import BaseTool
from gem.env import wait_for
from gem.errors import BadArguments, in_one_line
from gem.tools import ToolContext, answer
from gem_tools.mcp import McpTools
from gem_tools.mcp.errors import McpUnavailable
from gem_tools.mcp.toolset import McpTool

__all__ = ["MCPTool"]

_HOW = (
    "You may call tools while you answer this, one in a message; its result comes back in the "
    "next one. Write a call like this, its arguments as one JSON object:\n"
    "<tool_call>\n<tool_name>NAME</tool_name>\n<arguments>\n{}\n</arguments>\n</tool_call>\n"
    "These are the tools:\n<tools>\n"
)
_SERVERS = '{"mcpServers": {name: {"command": ..., "args": [...]}}}'
_REFUSED = ("log_handler", "progress_handler", "sampling_handler")


class MCPTool(BaseTool):
    """Call the tools of one or several MCP servers.

    `config` is the address of a server, or `{"mcpServers": {name: server}}`, where a server has a
    `command` with `args` and `env`, or a `url` with `headers`. Of several servers each tool is
    called by the server's name, "_" and its own. `auth` is a bearer token. `execution_timeout`
    is in seconds. Connections are made when they are first needed; `validate_on_init` makes
    them at once. Raises BadArguments for handlers, which nothing here calls.
    """

    tool_type = "mcp"

    def __init__(
        self,
        config: str | Mapping[str, Any],
        auth: str | None = None,
        headers: Mapping[str, str] | None = None,
        log_handler: object = None,
        progress_handler: object = None,
        sampling_handler: object = None,
        max_retries: int = 3,
        delay_between_retries: float = 1.0,
        execution_timeout: float = 30.0,
        validate_on_init: bool = True,
        num_workers: int = 1,
    ) -> None:
        super().__init__(num_workers)
        handlers = (log_handler, progress_handler, sampling_handler)
        unsupported = [
            name for name, value in zip(_REFUSED, handlers, strict=True) if value is not None
        ]
        if unsupported:
            raise BadArguments(
                f"MCPTool was given {', '.join(unsupported)}, and nothing here would call it. "
                "Leave it out.",
                subject="MCPTool",
            )
        # A connection that is lost is made again by the tools themselves.
        self.max_retries = max_retries
        self.delay_between_retries = delay_between_retries
        self.execution_timeout = execution_timeout
        bearer = {} if auth is None else {"Authorization": f"Bearer {auth}"}
        servers = _servers(config)
        self._toolsets = {
            name: _toolset(
                server,
                prefix=f"{name}_" if len(servers) > 1 else "",
                headers={**bearer, **(headers or {})},
                timeout_s=execution_timeout,
            )
            for name, server in servers.items()
        }
        if validate_on_init:
            self._tools()

    @classmethod
    def from_url(
        cls,
        url: str,
        auth: str | None = None,
        headers: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> MCPTool:
        """Call the tools of the server at an address."""
        return cls(url, auth=auth, headers=headers, **kwargs)

    @classmethod
    def from_local_command(
        cls, server_params: Mapping[str, Any], name: str = "default", **kwargs: Any
    ) -> MCPTool:
        """Call the tools of a server that is started: `{"command": ..., "args": [...]}`."""
        return cls({"mcpServers": {name: server_params}}, **kwargs)

    @classmethod
    def from_multi_server(cls, servers: Mapping[str, str], **kwargs: Any) -> MCPTool:
        """Call the tools of several servers, each an address under a name."""
        return cls({"mcpServers": {name: {"url": url} for name, url in servers.items()}}, **kwargs)

    @classmethod
    def from_config_file(cls, config_path: str, **kwargs: Any) -> MCPTool:
        """Read `config` from a JSON file. Raises BadArguments where it holds none."""
        try:
            config = json.loads(Path(config_path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise BadArguments(
                f"MCPTool was given the file {config_path!r:.300}, which cannot be read: "
                f"{in_one_line(error)}. Give the path of a JSON file with servers.",
                subject="MCPTool",
            ) from error
        if not isinstance(config, Mapping):
            raise BadArguments(
                f"MCPTool was given the file {config_path!r:.300}, which holds no JSON object. "
                f"Write {_SERVERS} into it.",
                subject="MCPTool",
            )
        return cls(config, **kwargs)

    def get_available_tools(self) -> list[dict[str, Any]]:
        """Return each tool's name, description and parameters, a JSON schema."""
        return [
            {"name": name, "description": tool.description, "parameters": dict(tool.parameters)}
            for name, tool in self._tools().items()
        ]

    def instruction_string(self) -> str:
        """Return what tells a policy how to call the tools, with the schema of each."""
        schemas = [json.dumps(tool.schema()) for tool in self._tools().values()]
        return _HOW + "\n".join(schemas) + "\n</tools>"

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        """Make the first call of an action. What goes wrong is an answer that says so."""
        start = action.find("<tool_call>")
        stop = action.find("</tool_call>", start) if start >= 0 else -1
        if stop < 0:
            return False, True, "", ""
        inside = action[start + len("<tool_call>") : stop]
        name = _inside(inside, "tool_name")
        if name is None:  # a call in another form is for somebody else
            return False, True, "", ""
        text, failed = self._called(name, _inside(inside, "arguments") or "{}")
        call = action[: stop + len("</tool_call>")]
        return True, failed, f"\n<tool_response>\n{text}\n</tool_response>\n", call

    def _called(self, name: str, json_text: str) -> tuple[str, bool]:
        try:
            tools = self._tools()
        except McpUnavailable as error:
            return in_one_line(error), True
        if name not in tools:
            return f"There is no tool {name!r:.60}. There is {', '.join(tools)}.", True
        try:
            arguments = json.loads(json_text)
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            return f"The arguments of {name} cannot be read. Write one JSON object.", True
        context = ToolContext(call_id="call_0", timeout_s=self.execution_timeout)
        result = wait_for(answer(tools[name], arguments, context))
        return result.content, result.is_error

    def close(self) -> None:
        """End every connection; a later call begins anew."""
        for toolset in self._toolsets.values():
            wait_for(toolset.aclose())

    def _tools(self) -> dict[str, McpTool]:
        return {tool.name: tool for toolset in self._toolsets.values() for tool in toolset}


def _servers(config: Any) -> Mapping[str, Any]:
    """Return the servers of a configuration by name. Raises BadArguments."""
    if isinstance(config, str):
        return {"default": {"url": config}}
    servers = config.get("mcpServers", config) if isinstance(config, Mapping) else None
    if not isinstance(servers, Mapping) or not servers:
        raise BadArguments(
            f"MCPTool was given config={config!r:.80}, which names no server. Give an address, or "
            f"{_SERVERS}.",
            subject="MCPTool",
        )
    return servers


def _toolset(server: Any, *, prefix: str, headers: Mapping[str, str], timeout_s: float) -> McpTools:
    if not isinstance(server, Mapping) or not ("url" in server or "command" in server):
        raise BadArguments(
            f"MCPTool was given the server {server!r:.80}. Write an object with a command, or a "
            "url.",
            subject="MCPTool",
        )
    if "url" in server:
        sent = {**headers, **server.get("headers", {})}
        return McpTools(url=server["url"], headers=sent, prefix=prefix, timeout_s=timeout_s)
    command = [server["command"], *server.get("args", ())]
    return McpTools(command=command, env=server.get("env"), prefix=prefix, timeout_s=timeout_s)


def _inside(text: str, tag: str) -> str | None:
    start = text.find(f"<{tag}>")
    stop = text.find(f"</{tag}>", start) if start >= 0 else -1
    return None if stop < 0 else text[start + len(tag) + 2 : stop].strip()
