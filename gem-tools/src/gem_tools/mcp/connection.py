"""One connection to a server. One task enters what the SDK opens and leaves it again."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from mcp.client import Client, ClientSession
from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    PaginatedRequestParams,
    Tool,
)

__all__ = ["Connection", "end_all"]

MOST_TOOLS = 1_000
_PROBE_S = 5.0
_EXIT_S = 2.5

_open: WeakSet[Connection] = WeakSet()


class TooManyToolsError(Exception):
    """A server offers more tools than anybody has."""


class Connection:
    """A connection that has begun, made on the event loop that it stays on.

    `tools` becomes what the server offers once the connection stands, or the error that it met.
    """

    def __init__(self, transport: Any, *, start_timeout_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._pid = os.getpid()
        self._transport = transport
        self._timeout_s = start_timeout_s
        self._stop = asyncio.Event()
        transport.on_end = self.end
        self.why = ""
        self._session: ClientSession | None = None
        self._checking: asyncio.Task[None] | None = None
        self.gone = threading.Event()
        self.tools: asyncio.Future[tuple[Tool, ...]] = self._loop.create_future()
        self.tools.add_done_callback(lambda found: found.exception())  # somebody has looked
        self._task = asyncio.create_task(self._hold())
        self._late = self._loop.call_later(start_timeout_s, self._is_late)
        _open.add(self)

    @property
    def is_over(self) -> bool:
        """Whether no call can be made any more."""
        return self._stop.is_set() or self._task.done()

    async def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Make one call. The caller has awaited `tools`. Raises what the SDK does.

        The SDK's `call_tool` compares results with patterns that the server chose, which could
        take for ever. A result is text for a policy, so nothing is compared here.
        """
        assert self._session is not None
        params = CallToolRequestParams(name=name, arguments=arguments)
        return await self._session.send_request(CallToolRequest(params=params), CallToolResult)

    async def check(self) -> None:
        """End the connection unless the server answers something within 5 s."""
        assert self._session is not None
        try:
            await asyncio.wait_for(self._session.list_tools(), _PROBE_S)
        except asyncio.TimeoutError:
            self.end(f"answered nothing within {_PROBE_S:g} s")
        except Exception:  # noqa: BLE001 - whatever it is, it is no answer
            self.end()

    def check_soon(self) -> None:
        """Check, and do not wait for the outcome."""
        if self._checking is None or self._checking.done():
            self._checking = self._loop.create_task(self.check())

    def end(self, why: str = "ended") -> None:
        """Begin to end, from the loop itself. The first reason that is given stays in `why`."""
        self.why = self.why or why
        self._stop.set()

    def end_soon(self) -> None:
        """Begin to end, from any thread."""
        if os.getpid() == self._pid:  # in a fork there is no such connection
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._stop.set)

    async def aclose(self) -> None:
        """End, and wait until nothing is left."""
        self._give_up("was closed")
        self.end()
        await asyncio.wait({self._task})

    async def _hold(self) -> None:
        try:
            async with Client(self._transport, cache=None) as client:
                self._session = client.session
                tools = await _listed(client.session)
                if not self.tools.done():
                    self.tools.set_result(tools)
                await self._stop.wait()
        except Exception as error:  # noqa: BLE001 - the SDK and a server may raise anything
            self._fail(_first(error))
        except asyncio.CancelledError:
            self._fail(RuntimeError(f"it {self.why}"))
        finally:
            self._late.cancel()
            if self._checking is not None:
                self._checking.cancel()
            self._stop.set()
            self.gone.set()

    def _is_late(self) -> None:
        self._give_up(f"did not answer within {self._timeout_s:g} s")

    def _give_up(self, why: str) -> None:
        """End a connection that does not stand yet."""
        if not self.tools.done():
            self.end(why)
            self._task.cancel()

    def _fail(self, error: Exception) -> None:
        if not self.tools.done():
            self.tools.set_exception(error)


async def _listed(session: ClientSession) -> tuple[Tool, ...]:
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(MOST_TOOLS):
        params = PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        page = await session.list_tools(params=params)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None and len(tools) <= MOST_TOOLS:
            return tuple(tools)
        if len(tools) > MOST_TOOLS:
            break
    raise TooManyToolsError(f"it lists more than {MOST_TOOLS} tools, or pages of them")


def _first(error: BaseException) -> Exception:
    """Return what is behind a group of errors."""
    while isinstance(inner := getattr(error, "exceptions", None), tuple) and inner:
        error = inner[0]
    return error if isinstance(error, Exception) else RuntimeError(type(error).__name__)


def end_all() -> None:
    """End every connection of this process and wait for it, but not for ever."""
    connections = [connection for connection in _open if connection._pid == os.getpid()]
    for connection in connections:
        connection.end_soon()
    deadline = time.monotonic() + _EXIT_S
    for connection in connections:
        connection.gone.wait(max(deadline - time.monotonic(), 0.0))
