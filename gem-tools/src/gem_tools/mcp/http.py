"""A server at an address: streamable HTTP, as the SDK speaks it, with bounds on what comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from gem_tools.mcp.streams import AnswersAlone

__all__ = ["HttpTransport"]

MOST_BYTES = 4 * 1024 * 1024
"""Of the reply to one message."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_TIMEOUT = httpx2.Timeout(30.0, connect=10.0, read=600.0)  # calls have deadlines of their own


class HttpTransport:
    """Open connections on entering, and close them, and the server's session, on leaving."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = url
        self._headers = headers
        self.on_end: Callable[[str], None] = lambda why: None
        self._open = AsyncExitStack()

    async def __aenter__(self) -> tuple[AnswersAlone, Any]:
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(
                httpx2.AsyncClient(
                    headers={"Accept-Encoding": "identity", **self._headers},
                    timeout=_TIMEOUT,
                    event_hooks={"request": [_hurried], "response": [self._bounded]},
                    # A proxy cannot reach this machine's own servers.
                    trust_env=httpx2.URL(self._url).host not in _LOOPBACK,
                )
            )
            streams = streamable_http_client(
                self._url, http_client=http, max_sse_event_size=MOST_BYTES
            )
            reader, writer = await stack.enter_async_context(streams)
            self._open = stack.pop_all()
        return AnswersAlone(reader.__aiter__(), writer, self.on_end), writer

    async def __aexit__(self, *error: Any) -> None:
        await self._open.__aexit__(*error)

    async def _bounded(self, response: httpx2.Response) -> None:
        """Bound a reply before any of it is read. Packed ones are refused: they may be bombs."""
        if response.headers.get("content-encoding", "identity") != "identity":
            self.on_end("packed its reply, where plain text was asked for")
            raise httpx2.DecodingError("a packed reply")
        if response.request.method == "POST":  # the stream of a GET goes on for ever
            response.stream = _Bounded(response.stream, self.on_end)


async def _hurried(request: httpx2.Request) -> None:
    """Wait 1 s at most for leave to end a session: the server may hang."""
    if request.method == "DELETE":
        request.extensions["timeout"] = httpx2.Timeout(1.0).as_dict()


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, on_end: Callable[[str], None]) -> None:
        self._stream = stream
        self._on_end = on_end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                self._on_end(f"sent a reply of more than {MOST_BYTES} bytes")
                raise httpx2.ReadError("a reply that is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
