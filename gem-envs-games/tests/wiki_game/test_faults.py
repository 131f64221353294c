"""Servers that fail, fall silent or never end: an error in good time, and no more."""

from __future__ import annotations

import gzip

import pytest

import gem
from gem.errors import DataError

from .conftest import Served
from .loopback import Dripping, Reply

pytest.importorskip("httpx", reason="the extra `wiki` is not installed")

from gem_envs_games.wiki_game.mediawiki import MediaWiki

BUSY = (503, "text/plain", b"busy")
GARBAGE = [
    (200, "application/json", b"not json"),
    (200, "application/json", b'{"query": {"pages": 5}}'),
    (200, "application/json", b'{"query": ' + b"[" * 10_000),
    (200, "application/json", b'{"error": {"code": "readapidenied", "info": "No."}}'),
    (200, "application/json", b"\xff\xfe\x00"),
    (200, "application/json", b'{"query": {}}'),
    (200, "application/json", b" " * (5 * 2**20)),
    (403, "text/plain", b"no"),
    (404, "text/plain", b"no"),
    (302, "http://127.0.0.1:1/away", b""),
    (302, "ftp://127.0.0.1/away", b""),
    (302, "http://[", b""),
    BUSY,
]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
DRIPS = {
    "status": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "header": (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "body": (HEAD + b"\r\n[", b" "),
    "chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
}


@pytest.mark.parametrize("fault", GARBAGE, ids=lambda fault: f"{fault[0]} {fault[2][:20]!r}")
def test_an_answer_of_no_use_is_a_data_error(served: Served, fault: Reply) -> None:
    wiki, env_id, kwargs = served
    wiki.faults = [fault] * 30
    with gem.make(env_id, **kwargs) as env, pytest.raises(DataError, match="no answer of use"):
        env.reset(seed=0)

    assert len(wiki.requests) < 30


def test_a_server_that_is_busy_is_asked_again(served: Served) -> None:
    wiki, env_id, kwargs = served
    wiki.faults = [BUSY]
    with gem.make(env_id, **{**kwargs, "retries": 1}) as env:
        env.reset(seed=0)

    assert wiki.requests[0] == wiki.requests[1]


def test_a_silent_server_is_given_up(served: Served) -> None:
    wiki, env_id, kwargs = served
    wiki.faults = [60.0] * 2
    with gem.make(env_id, **{**kwargs, "retries": 1}, timeout_s=0.05) as env:
        with pytest.raises(DataError, match="asked 2 times"):
            env.reset(seed=0)
        wiki.released.set()


def test_a_server_that_is_away_is_a_data_error(served: Served) -> None:
    _, env_id, kwargs = served
    away = {**kwargs, "url": "http://127.0.0.1:1"}

    with gem.make(env_id, **away) as env, pytest.raises(DataError, match="Check the address"):
        env.reset(seed=0)


def test_an_error_in_the_middle_ends_the_episode_and_not_the_game(served: Served) -> None:
    wiki, env_id, kwargs = served
    with gem.make(env_id, **kwargs) as env:
        env.reset(seed=0)
        wiki.faults = [BUSY]
        with pytest.raises(DataError):
            env.step(env.sample_action())

        assert env.reset(seed=0)[1]["suffix"].startswith("You are on: ")


@pytest.mark.parametrize("part", DRIPS)
def test_an_answer_that_never_ends_is_cut_off(part: str) -> None:
    with Dripping(*DRIPS[part]) as server:
        wiki = MediaWiki(server.url, timeout_s=1.0, retries=0)
        with pytest.raises(DataError, match="not done within"):
            wiki.page("Nile")

        assert server.hung_up.wait(60)
        wiki.close()


def test_the_body_of_a_redirect_is_not_read() -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n"
    with Dripping(head, b"x") as server:
        wiki = MediaWiki(server.url, timeout_s=60.0, retries=0)
        with pytest.raises(DataError, match="more than 5 redirects"):
            wiki.page("Nile")
        wiki.close()


def test_a_compressed_answer_is_of_no_use() -> None:
    bomb = gzip.compress(gzip.compress(bytes(2**20)))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: %d\r\n\r\n"
    with Dripping(head % len(bomb) + bomb, b"") as server:
        wiki = MediaWiki(server.url, retries=0)
        with pytest.raises(DataError, match="compressed, unasked"):
            wiki.page("Nile")
        wiki.close()
