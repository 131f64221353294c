"""Ask a search server: POST URL with `queries`, `topk` and `return_scores`, as Search-R1 does.

Queries that are asked at the same time travel together.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import weakref
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from gem import MicroBatch
from gem.env import end_soon, wait_for
from gem.errors import BadArguments
from gem.registry import check_requirements
from gem.retries import Backoff, retry_after_s
from gem_tools.search.errors import SearchUnavailable
from gem_tools.search.hits import Hit, check_search, plain_query
from gem_tools.search.retrieve_reply import MalformedHitsError, read_reply

if TYPE_CHECKING:
    import httpx

__all__ = ["RetrieveClient"]

_LOOPBACK = re.compile(r"localhost|127\.\d+\.\d+\.\d+|::1")
_REQUIRES = ("aiohttp>=3.12", "httpx>=0.27", "httpx-aiohttp>=0.2")
_SHOWN = 300
_random = random.Random()


class _RetryableError(Exception):
    """A failed attempt that another may mend: its text, and what the server asks to wait."""

    def __init__(self, text: str, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class _UnreachableError(_RetryableError):
    """There was no answer at all."""


class _Asked(NamedTuple):
    query: str
    k: int


_Holder = AsyncGenerator["httpx.AsyncClient", None]


class _Line(NamedTuple):
    """What one event loop asks through."""

    http: httpx.AsyncClient
    holder: _Holder
    batches: Any  # a MicroBatch of queries and hits; its types are those of a policy


class RetrieveClient:
    """A search server at `url`, which ends in `/retrieve` unless it has another path.

    A call ends within `timeout_s` (seconds), whatever happens. Failed connections, 429 and 5xx
    are tried again up to `max_retries` times, with growing waits that honour Retry-After. While
    the server cannot be reached each further call gets one attempt, so a dead server fails a whole
    run fast.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = 30.0,
        connect_timeout_s: float = 5.0,
        max_retries: int = 3,
        backoff_s: float = 0.25,
        max_batch: int = 64,
        max_reply_bytes: int = 16 * 1024 * 1024,
    ) -> None:
        check_requirements(_REQUIRES, subject="A client of search servers", of="gem-tools")
        self.url = _address(url)
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._max_retries = max_retries
        self._backoff = Backoff(backoff_s, longest_s=timeout_s)
        self._max_batch = max_batch
        self._max_bytes = max_reply_bytes
        self._lines: dict[asyncio.AbstractEventLoop, _Line] = {}
        # What nobody closes is closed when the last of this client is gone. The clients are also
        # held here, apart, so that they are not collected unclosed together with it.
        self._holders: dict[asyncio.AbstractEventLoop, _Holder] = {}
        weakref.finalize(self, end_soon, self._holders).atexit = False
        self._pid = os.getpid()
        self._is_down = False

    async def asearch(self, query: str, k: int, *, timeout_s: float | None = None) -> list[Hit]:
        """Return up to `k` hits, the best first. Raises SearchUnavailable where none came.

        `timeout_s` shortens the client's own deadline for this call.
        """
        check_search([query], k)
        limit_s = self._timeout_s if timeout_s is None else min(timeout_s, self._timeout_s)
        line = await self._line()
        asked = line.batches(_Asked(plain_query(query), k))
        try:
            hits: list[Hit] = await asyncio.wait_for(asked, limit_s)
        except asyncio.TimeoutError:
            raise self._failed(
                f"did not answer within {limit_s:g} s, further attempts included. Check the "
                "server, or give the search more time"
            ) from None
        return hits

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return up to `k` hits for each query. It blocks; on an event loop use `asearch`."""
        check_search(queries, k)
        return wait_for(self._search(queries, k))

    async def _search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return await asyncio.gather(*(self.asearch(query, k) for query in queries))

    async def aclose(self) -> None:
        """Close the connections of every loop. A later call opens new ones."""
        self._start_afresh_after_fork()
        lines = self._lines
        self._lines = {}
        self._holders.clear()
        for loop, line in lines.items():
            if loop is asyncio.get_running_loop():
                await _close(line)
            elif loop.is_running():
                with suppress(RuntimeError):  # it ended in this very moment
                    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_close(line), loop))

    def close(self) -> None:
        """Close the connections, from synchronous code."""
        wait_for(self.aclose())

    async def _line(self) -> _Line:
        self._start_afresh_after_fork()
        loop = asyncio.get_running_loop()
        if loop not in self._lines:
            for old in [each for each in self._lines if each.is_closed()]:
                del self._lines[old]
                del self._holders[old]
            batches: Any = MicroBatch(self._ask, max_batch=self._max_batch, max_wait_s=0)  # type: ignore[arg-type]
            # A proxy cannot reach this machine's own servers.
            uses_proxies = not _is_here(self.url)
            holder = self._holders[loop] = _held(self._connect_timeout_s, uses_proxies)
            # Nothing is awaited until the client is there: no other call makes one meanwhile.
            self._lines[loop] = _Line(await anext(holder), holder, batches)
        return self._lines[loop]

    def _start_afresh_after_fork(self) -> None:
        """Leave the connections to the process that opened them; its loops do not run here."""
        if self._pid != os.getpid():
            self._lines = {}
            self._holders.clear()
            self._pid = os.getpid()

    async def _ask(self, asked: list[_Asked]) -> list[list[Hit]]:
        """Answer a batch, trying again where that may help."""
        body = {
            "queries": [each.query for each in asked],
            "topk": max(each.k for each in asked),
            "return_scores": True,
        }
        content = json.dumps(body).encode()
        jitter = _random.getrandbits(32)  # no result depends on it
        attempt = 0
        while True:
            try:
                reply = await self._attempt(content)
                break
            except _RetryableError as error:
                delay_s = self._backoff.delay_s(attempt, jitter, error.retry_after_s)
                is_hopeless = self._is_down and isinstance(error, _UnreachableError)
                if is_hopeless or attempt >= self._max_retries:
                    self._is_down = isinstance(error, _UnreachableError)
                    raise self._failed(
                        f"{error} ({attempt + 1} attempts). Check that it runs and has room"
                    ) from error
            await asyncio.sleep(delay_s)
            attempt += 1
        try:
            found = read_reply(reply, len(asked))
        except MalformedHitsError as error:
            raise self._failed(
                f"sent a reply that cannot be read: {error}. Check that it is a search server"
            ) from error
        return [hits[: each.k] for each, hits in zip(asked, found, strict=True)]

    async def _attempt(self, content: bytes) -> bytes:
        import aiohttp
        import httpx

        line = await self._line()
        try:
            async with line.http.stream("POST", self.url, content=content) as reply:
                self._is_down = False
                body = await self._body(reply)
        # The transport lets those of aiohttp's errors through that it has no name for.
        except (httpx.TransportError, aiohttp.ClientError) as error:
            raise _UnreachableError(f"gave no answer: {_shown(error)}") from error
        if reply.status_code == 200:
            return body
        said = f"answered {reply.status_code}: {_shown(body.decode('utf-8', 'replace'))}"
        if reply.status_code == 429 or reply.status_code >= 500:
            raise _RetryableError(said, retry_after_s(reply.headers.get("retry-after")))
        raise self._failed(f"{said}. Check its address, and what it takes")

    async def _body(self, reply: httpx.Response) -> bytes:
        body = bytearray()
        async for chunk in reply.aiter_raw():
            body += chunk
            if len(body) > self._max_bytes:
                raise self._failed(
                    f"sent more than {self._max_bytes} bytes in one reply. Ask for fewer hits, or "
                    "raise max_reply_bytes"
                )
        return bytes(body)

    def _failed(self, what: str) -> SearchUnavailable:
        return SearchUnavailable(f"The search server at {self.url} {what}.", url=self.url)


async def _held(connect_timeout_s: float, uses_proxies: bool) -> _Holder:
    """Yield a client and close it, at the latest as the loop ends.

    `asyncio.run` ends every generator that is left; nobody has to call `aclose` for that.
    """
    import httpx  # heavy: 0.1 s
    from httpx_aiohttp import HttpxAiohttpClient  # heavy: 0.2 s

    # httpx's own pool walks over all of its connections for each request.
    client = HttpxAiohttpClient(
        headers={"Content-Type": "application/json", "Accept-Encoding": "identity"},
        # What a call may take is up to its own deadline.
        timeout=httpx.Timeout(None, connect=connect_timeout_s),
        # 0 is aiohttp's word for no limit; httpx's word, None, would leave aiohttp's 100.
        limits=httpx.Limits(max_connections=0),
        trust_env=uses_proxies,
    )
    try:
        yield client
    finally:
        await client.aclose()


def _is_here(url: str) -> bool:
    import httpx

    return _LOOPBACK.fullmatch(httpx.URL(url).host) is not None


async def _close(line: _Line) -> None:
    await line.batches.aclose()
    await line.holder.aclose()


def _address(text: str) -> str:
    import httpx

    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise _no_address(text, str(error)) from error
    if url.scheme not in {"http", "https"} or not url.host or url.userinfo or url.fragment:
        raise _no_address(text, "it needs http or https and a host, and takes no user or fragment")
    return str(url.copy_with(path="/retrieve") if url.path in {"", "/"} else url)


def _no_address(text: str, why: str) -> BadArguments:
    return BadArguments(
        f"{text!r:.200} is no address of a search server: {why}. Write it like "
        "http://127.0.0.1:8000/retrieve.",
        subject="url",
    )


def _shown(what: object) -> str:
    line = " ".join(str(what).split()) or type(what).__name__
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
