"""`mcp`: the tools that a server offers, as tools of ours."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gem.content import ToolResult
from gem.errors import BadArguments
from gem.parsing import NotPlainError
from gem.tools import Tool, ToolContext
from gem_tools.mcp.contents import as_description, as_name, as_parameters, as_text
from gem_tools.mcp.errors import McpUnavailable
from gem_tools.mcp.link import Link
from gem_tools.mcp.server import Server, server_at

if TYPE_CHECKING:
    from mcp.types import Tool as Offered

__all__ = ["McpTool", "McpTools"]


class McpTools:
    """The tools of one server; iterate over it to have them, which connects to the server.

    The server is started with `command` (a list of words; `cwd`, and `env` beside PATH, which is
    all that it sees of this environment), or runs at `url` (with `headers`). `$NAME` in a value of
    `env` or `headers` stands for a variable of this process. `allow` names the tools that are
    taken, None for all. Each is called `prefix` and its name, in which characters other than
    letters, digits, "_" and "-" become "_".

    One connection serves the whole process. No state of an episode lives in it: a server that
    keeps one gives out a handle, which the policy passes on. A call takes at most `timeout_s`, a
    start `start_timeout_s`.

    Raises BadArguments; on iteration McpUnavailable too, and EnvUsageError on the background loop.
    """

    def __init__(
        self,
        *,
        command: Sequence[str] | None = None,
        url: str | None = None,
        allow: Collection[str] | None = None,
        prefix: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 60.0,
        start_timeout_s: float = 30.0,
        max_concurrent: int | None = None,
        max_characters: int = Tool.max_characters,
    ) -> None:
        link = Link.to(
            command, url, env=env, headers=headers, cwd=cwd, start_timeout_s=start_timeout_s
        )
        if isinstance(allow, str):
            raise _bad(f"was given allow={allow!r:.80}. Write it as a list of names")
        if as_name(prefix) != prefix:
            raise _bad(f"was given the prefix {prefix!r:.80}. It may have letters, digits, _ and -")
        self._server = server_at(link)
        self._allow = None if allow is None else frozenset(allow)
        self._prefix = prefix
        self._options: dict[str, Any] = {
            "timeout_s": timeout_s,
            "max_concurrent": max_concurrent,
            "max_characters": max_characters,
        }
        self._tools: tuple[McpTool, ...] | None = None

    def __iter__(self) -> Iterator[McpTool]:
        if self._tools is None:
            self._tools = self._made(self._server.tools())
        return iter(self._tools)

    async def aclose(self) -> None:
        """End the connection, which all tools of the server share; a later call begins anew."""
        await self._server.aclose()

    def _made(self, offered: Sequence[Offered]) -> tuple[McpTool, ...]:
        named = {tool.name: tool for tool in offered}
        if self._allow is None:
            allowed = list(named)
        else:
            allowed = [name for name in named if name in self._allow]
            if absent := sorted(self._allow - named.keys()):
                known = ", ".join(map(repr, named))
                raise _bad(
                    f"was asked for {', '.join(map(repr, absent))}, which {self._server.link} does "
                    f"not offer. It offers {known:.1000}"
                )
        allowed_tools = [self._tool(named[name]) for name in allowed]
        tools = {tool.name: tool for tool in allowed_tools}
        if len(tools) < len(allowed) or len(named) < len(offered):
            raise _bad(
                f"found two tools at {self._server.link} that cannot be told apart by their names. "
                "Name those that you want in 'allow'"
            )
        return tuple(tools.values())

    def _tool(self, offered: Offered) -> McpTool:
        try:
            parameters = as_parameters(offered.input_schema)
        except NotPlainError as error:
            raise McpUnavailable(
                f"The MCP server {self._server.link} offers {offered.name!r:.80}, which cannot be "
                f"called: {error}. Name the tools that you want in 'allow', without this one.",
                server=str(self._server.link),
            ) from error
        return McpTool(
            self._server,
            offered.name,
            name=as_name(self._prefix + offered.name),
            description=as_description(offered.description),
            parameters=parameters,
            **self._options,
        )


class McpTool(Tool):
    """One tool of a server; `offered` is its name there. Its arguments are checked there, too."""

    def __init__(
        self,
        server: Server,
        offered: str,
        *,
        name: str,
        description: str,
        parameters: Mapping[str, Any],
        timeout_s: float | None,
        max_concurrent: int | None,
        max_characters: int,
    ) -> None:
        self._server = server
        self.offered = offered
        self.name = name
        self.description = description
        self.parameters = parameters
        self.timeout_s = timeout_s
        self.max_concurrent = max_concurrent
        self.max_characters = max_characters

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Call the server. An error that it reports is a result. Raises McpUnavailable."""
        result = await self._server.call(self.offered, dict(arguments))
        return ToolResult(context.call_id, as_text(result), bool(result.is_error))

    async def aclose(self) -> None:
        """End the connection, which all tools of the server share; a later call begins anew."""
        await self._server.aclose()


def _bad(what: str) -> BadArguments:
    return BadArguments(f"The tool 'mcp' {what}.", subject="mcp")
