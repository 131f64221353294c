"""The client of a search server: together, in time, and with clear errors."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from gem.errors import BadArguments
from gem_tools.search import Hit, RetrieveClient, SearchUnavailable, open_index

pytest.importorskip("httpx")

Answer = tuple[int, bytes]
BuildsIndex = Callable[..., Path]

T = TypeVar("T")


def echo(body: bytes) -> Answer:
    """Find each query itself, as often as hits were asked for."""
    asked = json.loads(body)
    document = [{"id": query, "contents": f"t\n{query}"} for query in asked["queries"]]
    result = [[{"document": each, "score": 1.0}] * asked["topk"] for each in document]
    return 200, json.dumps({"result": result}).encode()


def drop(body: bytes) -> None:
    """Close the connection without an answer."""


def replying(plain: object, status: int = 200) -> Callable[[bytes], Answer]:
    content = plain if isinstance(plain, bytes) else json.dumps(plain).encode()
    return lambda _: (status, content)


def run(url: str, use: Callable[[RetrieveClient], Awaitable[T]], **options: Any) -> T:
    """Use a client on an event loop and close it."""

    async def main() -> T:
        client = RetrieveClient(url, backoff_s=0.001, **options)
        try:
            return await use(client)
        finally:
            await client.aclose()

    return asyncio.run(main())


def ask_all(url: str, queries: Sequence[str], **options: Any) -> list[Any]:
    """Ask at the same time. Returns the hits of each query, or its error."""

    async def use(client: RetrieveClient) -> list[Any]:
        asked = (client.asearch(query, 1) for query in queries)
        return list(await asyncio.gather(*asked, return_exceptions=True))

    return run(url, use, **options)


FLOCK = [f"goose {number}" for number in range(20)]


def search(url: str, **options: Any) -> list[Hit]:
    return run(url, lambda client: client.asearch("goose", 2), **options)


def test_it_finds_what_the_index_holds(server: Any, index_of: BuildsIndex) -> None:
    queries = ["glass flute", "", "title:* AND (", "\ud800 comet\x00", "\u202egoose", "q" * 10**6]
    expected = open_index(index_of()).search(queries, 3)

    async def use(client: RetrieveClient) -> list[list[Hit]]:
        return list(await asyncio.gather(*(client.asearch(query, 3) for query in queries)))

    assert run(server.url, use) == expected


def test_it_can_be_used_from_plain_code_and_from_loops(server: Any, index_of: BuildsIndex) -> None:
    [expected] = open_index(index_of()).search(["comet"], 2)
    client = RetrieveClient(server.url)

    assert client.search(["comet", "comet"], 2) == [expected, expected]
    for _ in range(2):

        async def ask() -> list[Hit]:
            hits = await client.asearch("comet", 2)
            await client.aclose()
            return hits

        assert asyncio.run(ask()) == expected
    assert client.search(["comet"], 2) == [expected]
    client.close()


def test_a_forked_process_asks_on_its_own(stub: Any) -> None:
    code = """if True:
        import os, sys
        from gem_tools.search import RetrieveClient
        client = RetrieveClient(sys.argv[1])
        client.search(["before"], 1)
        child = os.fork()
        if not child:
            client.search(["child"], 1)
            client.close()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        client.search(["after"], 1)
        client.close()
    """
    server = stub(echo)

    subprocess.run([sys.executable, "-c", code, server.url], check=True, timeout=60)

    asked = [json.loads(body)["queries"] for body in server.bodies]
    assert asked == [["before"], ["child"], ["after"]]


def test_an_address_without_a_path_is_of_a_retrieve_server() -> None:
    assert RetrieveClient("http://127.0.0.1:8000").url == "http://127.0.0.1:8000/retrieve"
    assert RetrieveClient("http://127.0.0.1:8000/other").url == "http://127.0.0.1:8000/other"


def test_queries_of_one_time_travel_together(stub: Any) -> None:
    server = stub(echo)

    async def use(client: RetrieveClient) -> list[list[Hit]]:
        asked = (client.asearch(str(number), 1 + number % 3) for number in range(10))
        return list(await asyncio.gather(*asked))

    found = run(server.url, use)

    assert [[hit.id for hit in hits] for hits in found] == [
        [str(number)] * (1 + number % 3) for number in range(10)
    ]
    assert [json.loads(body) for body in server.bodies] == [
        {"queries": [str(number) for number in range(10)], "topk": 3, "return_scores": True}
    ]


def test_a_batch_has_a_most(stub: Any) -> None:
    server = stub(echo)

    async def use(client: RetrieveClient) -> None:
        await asyncio.gather(*(client.asearch(str(number), 1) for number in range(10)))

    run(server.url, use, max_batch=4)

    assert sorted(len(json.loads(body)["queries"]) for body in server.bodies) == [2, 4, 4]


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (replying({"error": "no"}, 400), "answered 400"),
        (replying(b"a traceback", 500), "answered 500"),
        (replying({"result": "nothing"}), "cannot be read"),
        (replying(b"x" * 100_000), "sent more than 65536 bytes"),
    ],
    ids=["400", "500", "malformed", "long"],
)
def test_a_query_that_the_server_fails_on_costs_its_neighbours_nothing(
    stub: Any, fault: Callable[[bytes], Answer], why: str
) -> None:
    server = stub(lambda body: fault(body) if b"swan" in body else echo(body))

    goose, swan, heron = ask_all(
        server.url, ["goose", "swan", "heron"], max_retries=1, max_reply_bytes=1 << 16
    )

    assert ([hit.id for hit in goose], [hit.id for hit in heron]) == (["goose"], ["heron"])
    assert isinstance(swan, SearchUnavailable)
    assert why in str(swan)


@pytest.mark.parametrize(
    "failure", [replying(b"busy", 503), replying(b"slow down", 429), drop], ids=["503", "429", "x"]
)
def test_a_query_that_is_asked_alone_is_tried_again_where_that_may_help(
    stub: Any, failure: Callable[[bytes], Answer | None]
) -> None:
    asked_before = set()

    def answer(body: bytes) -> Answer | None:
        if b"swan" in body:
            return 400, b"no swans"
        if body in asked_before:
            return echo(body)
        asked_before.add(body)
        return failure(body)

    swan, *geese = ask_all(stub(answer).url, ["swan", *FLOCK])

    assert "no swans" in str(swan)
    assert [hit.id for [hit] in geese] == FLOCK


def test_a_bad_reply_to_a_query_that_is_asked_alone_is_final(stub: Any) -> None:
    server = stub(lambda body: (500, b"a traceback") if b"swan" in body else echo(body))

    ask_all(server.url, ["goose", "swan", "heron"], max_retries=1)

    asked = sorted(json.loads(body)["queries"] for body in server.bodies)
    assert asked == [*[["goose"]], *[["goose", "swan", "heron"]] * 2, ["heron"], ["swan"]]


def test_few_queries_of_a_batch_are_asked_alone_at_once(stub: Any) -> None:
    too_many = threading.Barrier(9)

    def answer(body: bytes) -> Answer:
        if b"swan" in body:
            return 400, b"no swans"
        with suppress(threading.BrokenBarrierError):  # for all, once one has waited in vain
            too_many.wait(0.3)
            return 500, b"nine at once"
        return echo(body)

    _, *geese = ask_all(stub(answer).url, ["swan", *FLOCK])

    assert [hit.id for [hit] in geese] == FLOCK


@pytest.mark.parametrize(
    "fault", [replying(b"no", 400), replying(b"<html>"), replying(b"x" * 100_000)]
)
def test_a_server_that_fails_on_everything_is_spared_most_of_a_batch(
    stub: Any, fault: Callable[[bytes], Answer]
) -> None:
    server = stub(fault)

    errors = ask_all(server.url, FLOCK, max_reply_bytes=1 << 16)

    assert len(server.bodies) == 1 + 8
    assert all(isinstance(error, SearchUnavailable) for error in errors)
    assert len({str(error) for error in errors}) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_a_refusal_that_is_no_querys_fault_fails_a_batch_at_once(stub: Any, status: int) -> None:
    server = stub(replying(b"no", status))

    errors = ask_all(server.url, FLOCK)

    assert len(server.bodies) == 1
    assert all(f"answered {status}" in str(error) for error in errors)


def test_a_server_without_room_is_not_asked_for_each_query_alone(stub: Any) -> None:
    server = stub(replying(b"busy", 503))

    errors = ask_all(server.url, FLOCK, max_retries=1)

    assert all("answered 503" in str(error) for error in errors)
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    "failure", [replying(b"busy", 503), replying(b"slow down", 429), drop], ids=["503", "429", "x"]
)
def test_a_failure_that_passes_is_tried_again(
    stub: Any, failure: Callable[[bytes], Answer | None]
) -> None:
    server = stub(failure, failure, echo)

    assert [hit.id for hit in search(server.url)] == ["goose", "goose"]
    assert len(server.bodies) == 3


@pytest.mark.slow
def test_a_server_is_not_asked_again_before_the_time_that_it_names(stub: Any) -> None:
    server = stub(lambda _: (429, b"slow down", ("Retry-After", "60")))

    with pytest.raises(SearchUnavailable, match=r"did not answer within 2 s"):
        search(server.url, timeout_s=2.0)  # time enough to have asked a first time

    assert len(server.bodies) == 1


def test_a_server_that_stays_busy_is_an_error_with_what_it_said(stub: Any) -> None:
    server = stub(replying(b"no room\n\n here", 503))

    with pytest.raises(SearchUnavailable, match=r"answered 503: no room here \(3 attempts\)"):
        search(server.url, max_retries=2)

    assert len(server.bodies) == 3


def test_a_request_that_is_refused_is_not_tried_again(stub: Any) -> None:
    server = stub(replying({"error": "no such thing"}, 400))

    with pytest.raises(SearchUnavailable, match=r"answered 400: .*no such thing") as caught:
        search(server.url)

    assert len(server.bodies) == 1
    assert caught.value.url == server.url


def test_a_redirection_is_not_followed(stub: Any) -> None:
    server = stub(replying(b"", 302))

    with pytest.raises(SearchUnavailable, match="answered 302"):
        search(server.url)


def test_a_dead_server_costs_its_attempts_once(stub: Any) -> None:
    server = stub(drop)

    async def use(client: RetrieveClient) -> None:
        for attempts in (3, 1, 1):
            before = len(server.bodies)
            with pytest.raises(SearchUnavailable, match="gave no answer"):
                await client.asearch("goose", 1)
            assert len(server.bodies) == before + attempts

    run(server.url, use, max_retries=2)


@pytest.fixture
def port() -> Iterator[str]:
    """Return a port that nobody else is given, though a server may listen there."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield str(held.getsockname()[1])


@pytest.mark.slow
def test_a_server_that_was_killed_and_comes_back(
    serves: Any, index_of: BuildsIndex, port: str
) -> None:
    server = serves(index_of(), "--port", port)

    async def use(client: RetrieveClient) -> None:
        expected = await client.asearch("comet", 2)
        server.process.kill()
        server.process.wait()
        with pytest.raises(SearchUnavailable, match="gave no answer"):
            await client.asearch("comet", 2)
        serves(index_of(), "--port", port)
        assert await client.asearch("comet", 2) == expected != []

    run(server.url, use)


def test_a_slow_server_ends_at_the_deadline_of_the_call(stub: Any) -> None:
    server = stub(None)

    with pytest.raises(SearchUnavailable, match=r"did not answer within 0\.05 s"):
        search(server.url, timeout_s=0.05)
    with pytest.raises(SearchUnavailable, match=r"did not answer within 0\.05 s"):
        run(server.url, lambda client: client.asearch("goose", 1, timeout_s=0.05))


def test_the_deadline_of_one_call_is_not_that_of_its_neighbours(stub: Any) -> None:
    def slow(body: bytes) -> Answer:
        server.let_go.wait(30)
        return echo(body)

    server: Any = stub(slow)

    async def use(client: RetrieveClient) -> list[Hit]:
        async def hasty() -> None:
            with pytest.raises(SearchUnavailable, match="did not answer"):
                await client.asearch("hasty", 1, timeout_s=1.0)  # it is asked beside the other
            server.let_go.set()

        hits, _ = await asyncio.gather(client.asearch("patient", 1), hasty())
        return hits

    assert [hit.id for hit in run(server.url, use)] == ["patient"]
    assert [json.loads(body)["queries"] for body in server.bodies] == [["patient", "hasty"]]


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        ([], "no list named 'result'"),
        ({"result": {}}, "no list named 'result'"),
        ({"result": []}, "answers 0 queries, and 1 were asked"),
        ({"result": [[], []]}, "answers 2 queries"),
        ({"result": [None]}, "is no list"),
        ({"result": [[3]]}, "is no object"),
        ({"result": [[{"document": None}]]}, "is no object"),
        ({"result": [[{"document": {"id": "a"}}]]}, "has no text"),
        ({"result": [[{"document": {"text": 3}}]]}, "has no text"),
        ({"result": [[{"document": {"title": 3, "text": "x"}}]]}, "has no text"),
        ({"result": [[{"document": {"id": [], "text": "x"}}]]}, "an id that is no string"),
        ({"result": [[{"document": {"text": "x"}, "score": "1"}]]}, "is no number"),
        (b'{"result": [[{"document": {"text": "x"}, "score": NaN}]]}', "is no number"),
        ({"result": [[{"document": {"text": "x"}, "score": 10**400}]]}, "is no number"),
    ],
)
def test_a_malformed_reply_is_a_clear_error(stub: Any, reply: object, what: str) -> None:
    server = stub(replying(reply))

    with pytest.raises(SearchUnavailable, match=f"a reply that cannot be read: .*{what}"):
        search(server.url)

    assert len(server.bodies) == 1


def test_a_reply_that_never_ends_is_cut_off(stub: Any) -> None:
    server = stub(replying(b"[" * 100_000))

    with pytest.raises(SearchUnavailable, match="more than 1000 bytes"):
        search(server.url, max_reply_bytes=1000)


@pytest.mark.parametrize(
    ("found", "hit"),
    [
        ({"document": {"id": 3, "contents": '"T"\nx'}, "score": 2}, Hit("3", 2.0, "T", "x")),
        ({"document": {"title": "T", "text": "x"}, "score": 1.5}, Hit("", 1.5, "T", "x")),
        ({"id": "a", "contents": "T\nx\ny"}, Hit("a", 0.0, "T", "x\ny")),
        ({"id": "\ud800", "contents": "T\n\ud800"}, Hit("\ufffd", 0.0, "T", "\ufffd")),
    ],
)
def test_other_servers_name_documents_in_their_way(
    stub: Any, found: dict[str, object], hit: Hit
) -> None:
    assert search(stub(replying({"result": [[found]]})).url) == [hit]


def test_a_server_that_finds_more_than_was_asked_is_cut(stub: Any) -> None:
    assert len(search(stub(replying({"result": [[{"text": "x"}] * 9]})).url)) == 2


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8000",
        "ftp://host/x",
        "http://",
        "http://user:key@host/",
        "http://h/#x",
        "http://h:x",
    ],
)
def test_an_address_of_nothing_is_refused(url: str) -> None:
    with pytest.raises(BadArguments, match="is no address of a search server"):
        RetrieveClient(url)


@pytest.mark.parametrize(("query", "k"), [(3, 1), ("goose", 0), ("goose", 1001)])
def test_arguments_are_checked_before_anything_is_sent(query: Any, k: int) -> None:
    with pytest.raises(BadArguments):
        run("http://127.0.0.1:9/", lambda client: client.asearch(query, k))


def test_a_client_that_nobody_closes_is_closed_when_it_is_collected(
    stub: Any, recwarn: pytest.WarningsRecorder
) -> None:
    async def main() -> None:
        client = RetrieveClient(stub(echo).url)
        await client.asearch("goose", 1)
        del client
        gc.collect()

    asyncio.run(main())
    gc.collect()

    assert [each for each in recwarn if each.category is ResourceWarning] == []
