"""Let answers alone of what a server says reach the SDK. Knows nothing about where they come from.

A server can ask the client for things, and tell it others, as often as it likes. Here each
request is refused before the next message is read, so that none piles up, and news are dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Protocol

from mcp.shared.message import SessionMessage
from mcp.types import (
    METHOD_NOT_FOUND,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
)

__all__ = ["AnswersAlone", "Stream", "Writer"]

_MOST_ASIDE = 10_000
"""Messages beside answers, one after another, from a server that is still listened to."""


class Writer(Protocol):
    """Takes messages for a server."""

    async def send(self, item: SessionMessage, /) -> None:
        """Send one."""


class Stream:
    """What the SDK asks of a stream beside messages: it is entered, left and closed."""

    async def aclose(self) -> None: ...

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class AnswersAlone(Stream):
    """The answers among a server's messages. `on_end` is told why when there are no more."""

    def __init__(
        self,
        messages: AsyncIterator[SessionMessage | Exception],
        writer: Writer,
        on_end: Callable[[str], None],
    ) -> None:
        self._messages = messages
        self._writer = writer
        self._on_end = on_end
        self._aside = 0

    def __aiter__(self) -> AnswersAlone:
        return self

    async def __anext__(self) -> SessionMessage:
        while self._aside < _MOST_ASIDE:
            try:
                item = await self._messages.__anext__()
            except StopAsyncIteration:
                self._on_end("ended")
                raise
            if isinstance(item, SessionMessage):
                if isinstance(item.message, (JSONRPCResponse, JSONRPCError)):
                    self._aside = 0
                    return item
                if isinstance(item.message, JSONRPCRequest):
                    await self._writer.send(SessionMessage(_reply(item.message)))
            self._aside += 1
            await asyncio.sleep(0)  # a flood takes turns with all else
        self._on_end(f"sent {_MOST_ASIDE} messages that answer nothing")
        raise StopAsyncIteration

    async def receive(self) -> SessionMessage:
        return await self.__anext__()


def _reply(request: JSONRPCRequest) -> JSONRPCResponse | JSONRPCError:
    if request.method == "ping":
        return JSONRPCResponse(jsonrpc="2.0", id=request.id, result={})
    refusal = ErrorData(code=METHOD_NOT_FOUND, message="This client answers no requests.")
    return JSONRPCError(jsonrpc="2.0", id=request.id, error=refusal)
