"""A server that this process uses: connected to when it is needed, and again when it has died."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from gem.env import on_background, wait_for
from gem.errors import in_one_line
from gem_tools.mcp.errors import McpUnavailable
from gem_tools.mcp.link import Link

if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool

    from gem_tools.mcp.connection import Connection

__all__ = ["Server", "server_at"]

MOST_STARTS = 5
"""Connections that are begun within a minute; a server that needs more is given up for a while."""

_MINUTE_S = 60.0
_FORGOTTEN = "Session terminated"  # what the SDK makes of a reply that the session is not found
_QUIET = logging.NullHandler()

_servers: weakref.WeakValueDictionary[Link, Server] = weakref.WeakValueDictionary()
_finding = threading.Lock()


def server_at(link: Link) -> Server:
    """Return the one server of this process at a link. It ends when nobody holds it any more."""
    with _finding:
        server = _servers.get(link)
        if server is None:
            server = _servers[link] = Server(link)
        return server


class Server:
    """Calls a server's tools, from any thread and event loop, over one connection.

    A call that was under way when the server died has failed, for nobody knows what came of it.
    The next call connects to it again, at most 5 times a minute. One that it refused because it
    has forgotten the session is made again.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        self._connection: Connection | None = None
        self._ends_it: Any = None
        self._pid = os.getpid()
        self._starts: deque[float] = deque(maxlen=MOST_STARTS)

    def tools(self) -> tuple[Tool, ...]:
        """Return what the server offers. It blocks. Raises McpUnavailable and EnvUsageError."""
        import mcp  # noqa: F401 - heavy: 2 s, and not on the event loop

        logging.getLogger("mcp").addHandler(_QUIET)  # it logs what servers say
        return wait_for(self._tools())

    async def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Make one call. Raises McpUnavailable where it gets no proper answer."""
        return await on_background(self._call(name, arguments))

    async def aclose(self) -> None:
        """End the connection and what was started for it. A later call begins a new one."""
        await on_background(self._close())

    async def _tools(self) -> tuple[Tool, ...]:
        return (await self._connected()).tools.result()

    async def _call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        try:
            return await self._attempt(name, arguments)
        except McpUnavailable as error:
            if str(error.__cause__) != _FORGOTTEN:
                raise
        return await self._attempt(name, arguments)

    async def _attempt(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        from mcp.shared.exceptions import MCPError
        from mcp.types import CONNECTION_CLOSED
        from pydantic import ValidationError

        connection = await self._connected()
        try:
            return await connection.call(name, arguments)
        except asyncio.CancelledError:
            connection.check_soon()
            raise
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await connection.check()
                what = f"{connection.why or 'broke off'} during the call, which is not made again"
                if not connection.is_over:
                    # Servers use this code for errors of their own as well: their words tell.
                    words = in_one_line(error)[:500]
                    what = f"failed during the call, which is not made again: {words}"
                raise self._failed(what) from error
            if str(error) == _FORGOTTEN:
                connection.end()
            raise self._failed(f"refused the call: {in_one_line(error)[:500]}") from error
        except ValidationError as error:
            raise self._failed("answered with what is no result of a tool") from error
        except Exception as error:
            connection.end()
            raise self._failed(f"cannot be reached: {in_one_line(error)[:500]}") from error

    async def _connected(self) -> Connection:
        """Return a connection that stands. All who wait for one wait for the same."""
        if self._pid != os.getpid():  # a fork: the connection is its parent's
            _of_parents.append(self._connection)
            self._connection = None
            self._pid = os.getpid()
        if self._connection is None or self._connection.is_over:
            self._connection = self._begun()
        connection = self._connection
        try:
            await asyncio.shield(connection.tools)
        except Exception as error:
            reason = connection.why or in_one_line(error)[:500]
            raise self._failed(
                f"could not be connected to: {reason}. Check that it runs, and what it says when "
                "it is started by hand"
            ) from error
        return connection

    def _begun(self) -> Connection:
        from gem_tools.mcp.connection import Connection

        now = time.monotonic()
        if len(self._starts) == MOST_STARTS and now - self._starts[0] < _MINUTE_S:
            wait_s = _MINUTE_S - (now - self._starts[0])
            raise self._failed(
                f"was connected to {MOST_STARTS} times within a minute, and ended each time. It is "
                f"tried again in {wait_s:.0f} s at the earliest"
            )
        self._starts.append(now)
        atexit.unregister(_end_all)
        atexit.register(_end_all)
        connection = Connection(self.link.transport(), start_timeout_s=self.link.start_timeout_s)
        if self._ends_it is not None:
            self._ends_it.detach()
        self._ends_it = weakref.finalize(self, connection.end_soon)
        self._ends_it.atexit = False  # all are ended at once then, and waited for
        return connection

    async def _close(self) -> None:
        if self._connection is not None and self._pid == os.getpid():
            await self._connection.aclose()
            self._starts.clear()  # it has not died

    def _failed(self, what: str) -> McpUnavailable:
        return McpUnavailable(f"The MCP server {self.link} {what}.", server=str(self.link))


_of_parents: list[Connection | None] = []  # never collected: that would close pipes of the parent


def _end_all() -> None:
    """End every server before the interpreter does."""
    from gem_tools.mcp.connection import end_all
    from gem_tools.mcp.process import kill_all

    end_all()
    kill_all()
