"""`gem-env serve-search`: the form of its answers, what it refuses, and how it ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gem_tools.search import open_index

BuildsIndex = Callable[..., Path]

httpx = pytest.importorskip("httpx")
pytest.importorskip("tantivy")


def post(server: Any, body: object) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(server.url, content=content, timeout=30, trust_env=False)


def get(server: Any, path: str) -> Any:
    return httpx.get(server.url.replace("/retrieve", path), timeout=30, trust_env=False)


def ask(server: Any, **body: object) -> list[list[dict[str, object]]]:
    reply = post(server, body)
    assert reply.status_code == 200, reply.text
    found: list[list[dict[str, object]]] = reply.json()["result"]
    return found


def test_it_answers_with_documents_and_scores(server: Any, index_of: BuildsIndex) -> None:
    queries = ["glass flute", "qqqq", "comet"]
    expected = open_index(index_of()).search(queries, 2)

    assert ask(server, queries=queries, topk=2, return_scores=True) == [
        [
            {"document": {"id": hit.id, "contents": f"{hit.title}\n{hit.text}"}, "score": hit.score}
            for hit in hits
        ]
        for hits in expected
    ]


def test_without_scores_the_documents_stand_alone(server: Any) -> None:
    [scored] = ask(server, queries=["comet"], topk=2, return_scores=True)

    assert ask(server, queries=["comet"], topk=2) == [[each["document"] for each in scored]]


def test_a_request_without_a_number_gets_three(server: Any) -> None:
    assert [len(found) for found in ask(server, queries=["Halden"], topk=None)] == [3]
    assert [len(found) for found in ask(server, queries=["Halden"])] == [3]


def test_health_says_what_is_served(server: Any, index_of: BuildsIndex) -> None:
    manifest = open_index(index_of()).manifest

    reply = get(server, "/health")

    assert reply.json() == {
        "status": "ok",
        "engine": "tantivy",
        "documents": 200,
        "digest": manifest.digest,
    }


def test_requests_at_one_time_each_get_their_own_answer(server: Any) -> None:
    asked = [([word, "comet"], k) for k in (1, 2, 3) for word in ("goose", "ferry", "iron", "fog")]
    with ThreadPoolExecutor(len(asked)) as threads:
        found = list(threads.map(lambda each: ask(server, queries=each[0], topk=each[1]), asked))

    assert found == [ask(server, queries=queries, topk=k) for queries, k in asked]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        [],
        {},
        {"query": "goose"},
        {"queries": "goose"},
        {"queries": [1]},
        {"queries": ["goose"], "topk": 0},
        {"queries": ["goose"], "topk": 1001},
        {"queries": ["goose"], "topk": True},
        {"queries": ["goose"], "topk": "3"},
        {"queries": ["goose"] * 1025},
        {"queries": ["goose"] * 21, "topk": 1000},
    ],
    ids=lambda body: repr(body)[:40],
)
def test_a_body_of_another_form_is_refused_in_one_sentence(server: Any, body: object) -> None:
    reply = post(server, body)

    assert reply.status_code == 400
    assert reply.json()["error"].startswith("The body ")
    assert ask(server, queries=["goose"])[0]


@pytest.mark.parametrize("query", ["", "\x00", "\ud800", "a" * 100_000, "title:* AND (", "\u202e"])
def test_no_query_breaks_it(server: Any, query: str) -> None:
    assert [bool(found) for found in ask(server, queries=[query, "goose"])] == [False, True]


def test_a_body_that_is_too_large_is_refused(server: Any) -> None:
    reply = post(server, {"queries": ["goose " * 200_000]})

    assert reply.status_code == 413
    assert "more than 1048576 bytes" in reply.json()["error"]


def test_there_is_nothing_else(server: Any) -> None:
    assert get(server, "/retrieve").status_code == 405
    assert get(server, "/").status_code == 404


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(
    serves: Any, index_of: BuildsIndex, number: signal.Signals
) -> None:
    server = serves(index_of())
    ask(server, queries=["goose"])

    server.process.send_signal(number)

    assert server.end() == (0, "")


def test_a_client_that_goes_away_in_the_middle_disturbs_nobody(
    serves: Any, index_of: BuildsIndex
) -> None:
    server = serves(index_of())
    with socket.create_connection(("127.0.0.1", int(server.port))) as connection:
        connection.sendall(b"POST /retrieve HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")

    assert ask(server, queries=["goose"])[0]
    server.process.send_signal(signal.SIGTERM)
    assert server.end() == (0, "")


def wrong_use(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "gem", "serve-search", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_port_that_is_taken_is_one_line(server: Any, index_of: BuildsIndex) -> None:
    said = wrong_use(str(index_of()), "--port", server.port)

    assert f"cannot listen at 127.0.0.1 port {server.port}" in said


@pytest.mark.parametrize("options", [["--port", "99999"], ["--host", "192.0.2.1"]])
def test_an_address_that_is_none_is_one_line(index_of: BuildsIndex, options: list[str]) -> None:
    assert "cannot listen" in wrong_use(str(index_of()), *options)


def test_a_number_of_hits_that_is_none_is_one_line(index_of: BuildsIndex) -> None:
    assert "from 1 to 1000" in wrong_use(str(index_of()), "--topk", "0")


def test_a_folder_without_an_index_is_one_line(tmp_path: Path) -> None:
    assert "no whole search index" in wrong_use(str(tmp_path))
