from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from gem.errors import BadArguments
from gem_eval.policies.server import NoAnswerError, ServerConnections

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def server_at(url: str, **options: Any) -> ServerConnections:
    given = {
        "key": "",
        "connect_timeout_s": 10.0,
        "read_timeout_s": 10.0,
        "max_reply_bytes": 1000,
    }
    return ServerConnections(url, **{**given, **options})


@asynccontextmanager
async def listening(handle: Handle) -> AsyncIterator[str]:
    """Give the address of a server of this event loop that treats each connection so."""
    connections: list[asyncio.Task[None]] = []

    async def treat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.append(task)
        await handle(reader, writer)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    listener = await asyncio.start_server(treat, "127.0.0.1", 0, backlog=1024)
    async with listener:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        await asyncio.gather(*connections)


def test_no_request_waits_for_a_connection() -> None:
    many = 150  # more than the transport's own limit

    async def ask() -> int:
        arrived = 0
        all_are_here = asyncio.Event()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal arrived
            await reader.readuntil(b"\r\n\r\n")
            arrived += 1
            if arrived == many:
                all_are_here.set()
            await all_are_here.wait()
            writer.write(OK)

        async with listening(handle) as url:
            asked = server_at(url)
            answers = await asyncio.gather(*(asked.post("/", b"{}") for _ in range(many)))
            await asked.aclose()
        return len(answers)

    assert asyncio.run(ask()) == many


def test_a_connection_is_used_again() -> None:
    async def ask() -> int:
        connections = 0

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections
            connections += 1
            while (await reader.read(65536)) != b"":
                writer.write(OK)

        async with listening(handle) as url:
            asked = server_at(url)
            for _ in range(3):
                await asked.post("/", b"{}")
            await asked.aclose()
        return connections

    assert asyncio.run(ask()) == 1


def test_a_request_that_is_cancelled_gives_its_connection_up() -> None:
    async def ask() -> bytes:
        begun = asyncio.Event()
        rest: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"{}")
            begun.set()
            rest.set_result(await reader.read())  # until the other side closes

        async with listening(handle) as url:
            asked = server_at(url)
            request = asyncio.ensure_future(asked.post("/", b"{}"))
            await begun.wait()
            request.cancel()
            with pytest.raises(asyncio.CancelledError):
                await request
            closed = await rest
            await asked.aclose()
        return closed

    assert asyncio.run(ask()) == b""


def test_one_event_loop_after_another_may_ask(server: Any) -> None:
    asked = server_at(server.url)

    assert [asyncio.run(asked.post("/", b"{}")).status for _ in range(2)] == [200, 200]


def test_one_that_nobody_closes_is_closed_when_it_is_collected(
    server: Any, recwarn: pytest.WarningsRecorder
) -> None:
    async def ask() -> None:
        asked = server_at(server.url)
        await asked.post("/", b"{}")
        del asked
        gc.collect()

    asyncio.run(ask())
    gc.collect()

    assert [warning for warning in recwarn if warning.category is ResourceWarning] == []


def test_each_event_loop_has_connections_of_its_own(server: Any) -> None:
    asked = server_at(server.url)
    statuses: list[int] = []

    async def ask() -> None:
        statuses.append((await asked.post("/", b"{}")).status)
        there = await asyncio.to_thread(asyncio.run, asked.post("/", b"{}"))
        statuses.append(there.status)
        statuses.append((await asked.post("/", b"{}")).status)

    asyncio.run(ask())

    assert statuses == [200, 200, 200]


FORKED = """
import asyncio, gc, os, sys
from gem_eval.policies.server import ServerConnections

server = ServerConnections(
    sys.argv[1], key="", connect_timeout_s=10, read_timeout_s=10, max_reply_bytes=1000
)


async def ask():
    before = (await server.post("/", b"{}")).status
    child = os.fork()
    if not child:
        os._exit(not asyncio.run(server.post("/", b"{}")).status == 200)
    _, ended = os.waitpid(child, 0)
    after = (await server.post("/", b"{}")).status
    print(before, os.waitstatus_to_exitcode(ended), after)


asyncio.run(ask())
del server
gc.collect()
"""


@pytest.mark.slow
def test_a_forked_process_opens_connections_of_its_own(server: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, server.url],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "200 0 200\n"
    assert done.stderr == ""  # each loop closed its connections as it ended, though nobody asked


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-OpenSSH\r\n\r\n", OK[:-1]])
def test_what_is_no_whole_answer_is_none(said: bytes) -> None:
    async def ask() -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(said)

        async with listening(handle) as url:
            asked = server_at(url)
            try:
                await asked.post("/", b"{}")
            finally:
                await asked.aclose()

    with pytest.raises(NoAnswerError, match=r"\S"):
        asyncio.run(ask())


def test_another_host_is_asked_through_the_proxy_of_the_environment(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url.removesuffix("/v1"))
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    answer = asyncio.run(server_at("http://model.invalid/v1").post("/chat/completions", b"{}"))

    assert json.loads(answer.body)["choices"][0]["message"]["content"] == "hello"
    assert server.asked[0].path == "http://model.invalid/v1/chat/completions"


def test_a_socks_proxy_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(BadArguments, match="SOCKS"):
        server_at("http://model.invalid/v1")
