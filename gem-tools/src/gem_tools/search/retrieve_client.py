"""Ask a search server: POST URL with `queries`, `topk` and `return_scores`, as Search-R1 does.

Queries that are asked at the same time travel together.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gem import MicroBatch
from gem.env import PerLoop, wait_for
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
_NO_QUERYS_FAULT = (401, 403, 404, 405)
_MOST_ALONE = 8
_random = random.Random()


class _RetryableError(Exception):
    """A failed attempt that another may mend: its text, and what the server asks to wait."""

    def __init__(
        self, text: str, retry_after_s: float | None = None, *, is_faulty: bool = False
    ) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s
        self.is_faulty = is_faulty


class _UnreachableError(_RetryableError):
    """There was no answer at all."""


class _FaultyError(Exception):
    """A reply that is none, which one query of several may have brought about."""


class _Query(NamedTuple):
    query: str
    k: int


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
        server = _RemoteServer(
            self.url,
            max_retries=max_retries,
            backoff=Backoff(backoff_s, longest_s=timeout_s),
            max_reply_bytes=max_reply_bytes,
        )
        # Not a method: what opens the batches must not hold this object (see `PerLoop`).
        self._batches = PerLoop(partial(_open_batches, server, connect_timeout_s, max_batch))

    async def asearch(self, query: str, k: int, *, timeout_s: float | None = None) -> list[Hit]:
        """Return up to `k` hits, the best first. Raises SearchUnavailable where none came.

        `timeout_s` shortens the client's own deadline for this call.
        """
        check_search([query], k)
        limit_s = self._timeout_s if timeout_s is None else min(timeout_s, self._timeout_s)
        batches = await self._batches.get()
        answer = batches(_Query(plain_query(query), k))
        try:
            found: list[Hit] | SearchUnavailable = await asyncio.wait_for(answer, limit_s)
        except asyncio.TimeoutError:
            raise _unavailable(
                self.url,
                f"did not answer within {limit_s:g} s, further attempts included. Check the "
                "server, or give the search more time",
            ) from None
        if isinstance(found, SearchUnavailable):
            raise found
        return found

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return up to `k` hits for each query. It blocks; on an event loop use `asearch`."""
        check_search(queries, k)
        return wait_for(self._search(queries, k))

    async def _search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return await asyncio.gather(*(self.asearch(query, k) for query in queries))

    async def aclose(self) -> None:
        """Close the connections of every loop. A later call opens new ones."""
        await self._batches.aclose()

    def close(self) -> None:
        """Close the connections, from synchronous code."""
        wait_for(self.aclose())


class _RemoteServer:
    """How the server is asked, on whatever event loop. What is known of it holds for all loops."""

    def __init__(
        self, url: str, *, max_retries: int, backoff: Backoff, max_reply_bytes: int
    ) -> None:
        self.url = url
        self._max_retries = max_retries
        self._backoff = backoff
        self._max_bytes = max_reply_bytes
        self._is_down = False

    async def ask(
        self, http: httpx.AsyncClient, asked: list[_Query]
    ) -> list[list[Hit] | SearchUnavailable]:
        """Answer a batch. One query that the server fails on costs the others nothing but time."""
        try:
            return [*await self._ask(http, asked)]
        except _FaultyError as error:
            if len(asked) == 1:
                raise self._failed(str(error)) from error
        return await self._ask_each_alone(http, asked)

    async def _ask_each_alone(
        self, http: httpx.AsyncClient, asked: list[_Query]
    ) -> list[list[Hit] | SearchUnavailable]:
        """Ask each query of a batch alone, few at once: a server may have room for few requests."""
        room = asyncio.Semaphore(_MOST_ALONE)

        async def alone(query: _Query) -> list[Hit] | SearchUnavailable:
            async with room:
                return await self._ask_alone(http, query)

        first = await asyncio.gather(*map(alone, asked[:_MOST_ALONE]))
        rest = asked[_MOST_ALONE:]
        if all(isinstance(answer, SearchUnavailable) for answer in first):
            # The server fails on whatever it is asked, and is spared the rest.
            return [*first, *[first[-1]] * len(rest)]
        return [*first, *await asyncio.gather(*map(alone, rest))]

    async def _ask_alone(
        self, http: httpx.AsyncClient, query: _Query
    ) -> list[Hit] | SearchUnavailable:
        try:
            [hits] = await self._ask(http, [query], is_bad_reply_final=True)
            return hits
        except _FaultyError as error:
            return self._failed(str(error))
        except SearchUnavailable as error:
            return error

    async def _ask(
        self, http: httpx.AsyncClient, asked: list[_Query], *, is_bad_reply_final: bool = False
    ) -> list[list[Hit]]:
        """Ask together, trying again where that may help. Raises _FaultyError on a bad reply.

        With `is_bad_reply_final` a bad reply, 500, is not asked for again: it is of a query whose
        batch has had its further attempts.
        """
        body = {
            "queries": [query.query for query in asked],
            "topk": max(query.k for query in asked),
            "return_scores": True,
        }
        content = json.dumps(body).encode()
        jitter = _random.getrandbits(32)  # no result depends on it
        attempt = 0
        while True:
            try:
                reply = await self._attempt(http, content)
                break
            except _RetryableError as error:
                delay_s = self._backoff.delay_s(attempt, jitter, error.retry_after_s)
                is_hopeless = self._is_down and isinstance(error, _UnreachableError)
                is_final = is_bad_reply_final and error.is_faulty
                if is_hopeless or is_final or attempt >= self._max_retries:
                    self._is_down = isinstance(error, _UnreachableError)
                    what = f"{error} ({attempt + 1} attempts). Check that it runs and has room"
                    if error.is_faulty:
                        raise _FaultyError(what) from error
                    raise self._failed(what) from error
            await asyncio.sleep(delay_s)
            attempt += 1
        try:
            found = read_reply(reply, len(asked))
        except MalformedHitsError as error:
            raise _FaultyError(
                f"sent a reply that cannot be read: {error}. Check that it is a search server"
            ) from error
        return [hits[: query.k] for query, hits in zip(asked, found, strict=True)]

    async def _attempt(self, http: httpx.AsyncClient, content: bytes) -> bytes:
        import aiohttp
        import httpx

        try:
            async with http.stream("POST", self.url, content=content) as reply:
                self._is_down = False
                body = await self._body(reply)
        # The transport lets those of aiohttp's errors through that it has no name for.
        except (httpx.TransportError, aiohttp.ClientError) as error:
            raise _UnreachableError(f"gave no answer: {_shown(error)}") from error
        if reply.status_code == 200:
            return body
        reason = f"answered {reply.status_code}: {_shown(body.decode('utf-8', 'replace'))}"
        if reply.status_code == 429 or reply.status_code >= 500:
            wait_s = retry_after_s(reply.headers.get("retry-after"))
            # What a server has no room for it says by another status: this one is of its own error.
            raise _RetryableError(reason, wait_s, is_faulty=reply.status_code == 500)
        what = f"{reason}. Check its address, and what it takes"
        if reply.status_code in _NO_QUERYS_FAULT:
            raise self._failed(what)
        raise _FaultyError(what)

    async def _body(self, reply: httpx.Response) -> bytes:
        body = bytearray()
        async for chunk in reply.aiter_raw():
            body += chunk
            if len(body) > self._max_bytes:
                raise _FaultyError(
                    f"sent more than {self._max_bytes} bytes in one reply. Ask for fewer hits, or "
                    "raise max_reply_bytes"
                )
        return bytes(body)

    def _failed(self, what: str) -> SearchUnavailable:
        return _unavailable(self.url, what)


def _unavailable(url: str, what: str) -> SearchUnavailable:
    return SearchUnavailable(f"The search server at {url} {what}.", url=url)


async def _open_batches(
    server: _RemoteServer, connect_timeout_s: float, max_batch: int
) -> AsyncGenerator[Any, None]:
    """Yield a MicroBatch of queries, and close it and its connections.

    Its answers are hits, or the error of a query that failed beside others.

    Its type is that of a policy, from requests to replies: hence `Any`.
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
        # A proxy cannot reach this machine's own servers.
        trust_env=not _is_here(server.url),
    )
    ask: Any = partial(server.ask, client)
    batches = MicroBatch(ask, max_batch=max_batch, max_wait_s=0)
    try:
        yield batches
    finally:
        await batches.aclose()  # before its connections, which it asks through
        await client.aclose()


def _is_here(url: str) -> bool:
    import httpx

    return _LOOPBACK.fullmatch(httpx.URL(url).host) is not None


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
