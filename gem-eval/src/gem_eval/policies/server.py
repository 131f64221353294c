"""Ask one HTTP server: its connections, one set for each event loop. Knows nothing about models.

The interface is httpx's, the transport is aiohttp's: httpx's own pool walks over all of its
connections for each request, which costs more than everything else once hundreds are open.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from typing import NamedTuple
from urllib.request import getproxies, proxy_bypass

import aiohttp  # heavy: 0.1 s
import httpx  # heavy: 0.1 s
from httpx_aiohttp import HttpxAiohttpClient

from gem.env import PerLoop
from gem.errors import BadArguments

__all__ = ["NoAnswerError", "ServerConnections", "ServerReply", "SilentError", "TooLongError"]

_LOOPBACK = re.compile(r"localhost|127\.\d+\.\d+\.\d+|::1")
_ERROR_BYTES = 64 * 1024
# Many servers close a connection that was idle for 5 s. Whoever keeps it for longer sends now
# and then into one that is just being closed.
_IDLE_S = 4.0


class ServerReply(NamedTuple):
    """What the server sent. Of an answer that is no 200, `body` is only the beginning."""

    status: int
    reason: str
    headers: httpx.Headers
    body: bytes


class NoAnswerError(Exception):
    """There was no connection, or it broke before the answer was whole."""


class SilentError(Exception):
    """The server took the request and then sent nothing for too long."""


class TooLongError(Exception):
    """The answer is larger than allowed, or compressed, which was not asked for."""


class ServerConnections:
    """Those to the server at `url`. Raises BadArguments where a SOCKS proxy stands before it.

    A connection has `connect_timeout_s` and each wait for a part of an answer `read_timeout_s`,
    with None any time. `uses_proxies` says whether those of the environment are asked.
    How many requests are in flight is up to the caller: connections are not limited.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str,
        connect_timeout_s: float,
        read_timeout_s: float | None,
        max_reply_bytes: int,
        uses_proxies: bool = True,
    ) -> None:
        self.url = url
        # A proxy cannot reach this machine's own servers.
        uses_proxies = uses_proxies and not _LOOPBACK.fullmatch(httpx.URL(url).host)
        if uses_proxies:
            _refuse_socks(httpx.URL(url))
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._connect_timeout_s = connect_timeout_s
        self._timeout = self._reading_for(read_timeout_s)
        self._max_bytes = max_reply_bytes
        # Not a method: what opens a client must not hold this object (see `PerLoop`).
        open_client = partial(_open_client, headers, self._timeout, uses_proxies=uses_proxies)
        self._clients = PerLoop(open_client)

    async def post(
        self, path: str, content: bytes, *, read_timeout_s: float | None = None
    ) -> ServerReply:
        """Send JSON and return the answer. Redirects are not followed.

        `read_timeout_s` is for this request alone. Raises NoAnswerError, SilentError, TooLongError.
        """
        client = await self._clients.get()
        timeout = self._timeout if read_timeout_s is None else self._reading_for(read_timeout_s)
        try:
            async with client.stream(
                "POST", self.url + path, content=content, timeout=timeout
            ) as reply:
                body = await self._body(reply)
        except (httpx.ReadTimeout, httpx.WriteTimeout) as error:
            raise SilentError from error
        # The transport lets those of aiohttp's errors through that it has no name for.
        except (httpx.TransportError, aiohttp.ClientError) as error:
            raise NoAnswerError(_reason(error)) from error
        return ServerReply(reply.status_code, reply.reason_phrase, reply.headers, body)

    async def _body(self, reply: httpx.Response) -> bytes:
        is_error = reply.status_code != 200
        if not is_error and reply.headers.get("content-encoding", "identity") != "identity":
            raise TooLongError("compressed its reply, which was not asked for.")
        body = bytearray()
        async for chunk in reply.aiter_raw():
            body += chunk
            if is_error and len(body) > _ERROR_BYTES:
                break
            if len(body) > self._max_bytes:
                raise TooLongError(
                    f"sent more than {self._max_bytes} bytes in one reply. Check the server, or "
                    "raise max_reply_bytes."
                )
        return bytes(body)

    async def aclose(self) -> None:
        """Close the connections of every loop. A later request opens new ones."""
        await self._clients.aclose()

    def _reading_for(self, read_timeout_s: float | None) -> httpx.Timeout:
        return httpx.Timeout(read_timeout_s, connect=self._connect_timeout_s, pool=None)


async def _open_client(
    headers: Mapping[str, str], timeout: httpx.Timeout, *, uses_proxies: bool
) -> AsyncGenerator[httpx.AsyncClient, None]:
    """Yield a client and close it."""
    client = HttpxAiohttpClient(
        headers=headers,
        timeout=timeout,
        # 0 is aiohttp's word for no limit. httpx's word, None, would leave aiohttp's 100.
        limits=httpx.Limits(max_connections=0, keepalive_expiry=_IDLE_S),
        trust_env=uses_proxies,
    )
    try:
        yield client
    finally:
        await client.aclose()


def _reason(error: Exception) -> str:
    """Say why there was no answer: for a connection that was not made what the system says."""
    cause = error.__cause__
    if isinstance(cause, aiohttp.ClientConnectorError):
        return str(cause.os_error)
    return str(error) or type(error).__name__


def _refuse_socks(url: httpx.URL) -> None:
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all") or ""
    if proxy.startswith("socks") and not proxy_bypass(url.host):
        raise BadArguments(
            f"The environment sends requests to {url.host} through a SOCKS proxy, and only HTTP "
            "proxies are known. Give an HTTP one, or name the host in NO_PROXY.",
            subject="openai",
        )
