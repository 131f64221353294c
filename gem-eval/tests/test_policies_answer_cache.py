"""Answers that are kept, and what is asked of a server all the same."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import Message, Reply, Request, Usage, read_episodes
from gem_eval import RunStopped, SettingsError
from gem_eval.policies.answer_cache import AnswerCache
from gem_eval.policies.openai import OpenAIPolicy

QUESTION = Request((Message("user", "Guess."),), seed=5)
KEY = "sk-0123456789abcdef"
TOTAL = 20


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def ask(cache: AnswerCache, *requests: Request, url: str, **options: Any) -> list[Reply]:
    """Ask one after another, and close the cache."""
    policy = OpenAIPolicy(f"m@{url}", **options)
    policy.answer_cache = cache

    async def answers() -> list[Reply]:
        replies = [await policy(request) for request in requests]
        await policy.aclose()
        return replies

    replies = asyncio.run(answers())
    cache.close()
    return replies


def test_what_was_asked_before_is_not_asked_again(server: Any, tmp_path: Path) -> None:
    [first] = ask(AnswerCache(tmp_path / "cache"), QUESTION, url=server.url)
    cache = AnswerCache(tmp_path / "cache")  # as in another process

    [second] = ask(cache, QUESTION, url=server.url)

    assert len(server.asked) == 1
    assert cache.hits == 1
    assert second.message == first.message
    assert (first.usage, second.usage) == (Usage(11, 5), Usage(0, 0))


@pytest.mark.parametrize(
    ("request_", "options"),
    [
        (Request((Message("user", "Guess again."),), seed=5), {}),
        (Request((Message("user", "Guess."),), seed=6), {}),
        (Request(prompt="Guess.", seed=5), {}),
        (QUESTION, {"temperature": 0.5}),
        (QUESTION, {"system": "Be brief."}),
    ],
)
def test_what_differs_is_asked(
    server: Any, answers: Any, tmp_path: Path, request_: Request, options: Any
) -> None:
    body = b'{"choices": [{"text": "7", "message": {"content": "7"}}]}'
    server.answers = [answers.Answer(body=body)]
    ask(AnswerCache(tmp_path), QUESTION, url=server.url)

    ask(AnswerCache(tmp_path), request_, url=server.url, **options)

    assert len(server.asked) == 2


def test_repeats_are_no_one_answer_where_no_seed_is_sent(server: Any, tmp_path: Path) -> None:
    again = Request(QUESTION.messages, seed=6)

    ask(AnswerCache(tmp_path), QUESTION, again, url=server.url, sends_seed=False)

    assert len(server.asked) == 2


def test_another_address_is_asked(server: Any, tmp_path: Path) -> None:
    ask(AnswerCache(tmp_path), QUESTION, url=server.url)

    ask(AnswerCache(tmp_path), QUESTION, url=server.url.replace("127.0.0.1", "localhost"))

    assert len(server.asked) == 2


def test_errors_are_not_kept(server: Any, answers: Any, tmp_path: Path) -> None:
    server.answers = [answers.Answer(400, b"wrong"), answers.Answer(body=b"{}"), answers.chat("7")]
    cache = AnswerCache(tmp_path)
    for _ in range(2):
        with pytest.raises(gem_eval.PolicyError):
            ask(cache, QUESTION, url=server.url)

    [reply] = ask(cache, QUESTION, url=server.url)

    assert reply.message.text == "7"
    assert cache.hits == 0


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE answers SET answer = X'7b7d'",
        "UPDATE answers SET answer = 'text'",
        "UPDATE answers SET answer = X''",
        "DROP TABLE answers",
    ],
)
def test_what_is_damaged_is_asked_again(server: Any, tmp_path: Path, damage: str) -> None:
    cache = AnswerCache(tmp_path)
    ask(cache, QUESTION, url=server.url)
    with closing(sqlite3.connect(tmp_path / "answers.sqlite3")) as file:
        file.execute(damage)
        file.commit()

    [reply] = ask(cache, QUESTION, url=server.url)

    assert reply.usage == Usage(11, 5)
    assert len(server.asked) == 2


def test_what_another_version_cannot_read_is_asked_again(server: Any, tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    ask(cache, QUESTION, url=server.url)
    page = b"<html>Welcome</html>"
    with closing(sqlite3.connect(tmp_path / "answers.sqlite3")) as file:
        row = (sha256(page).digest(), page)
        file.execute("UPDATE answers SET digest = ?, answer = ?", row)
        file.commit()

    ask(cache, QUESTION, url=server.url)

    assert len(server.asked) == 2
    assert cache.hits == 0


@pytest.mark.parametrize("is_file", [False, True])
def test_a_cache_that_cannot_be_used_is_one_line(tmp_path: Path, is_file: bool) -> None:
    if is_file:
        (tmp_path / "cache").write_text("I am a file.")
    else:
        (tmp_path / "cache").mkdir()
        (tmp_path / "cache" / "answers.sqlite3").write_text("I am no database. " * 100)

    with pytest.raises(SettingsError, match=r"^The cache .*cache cannot be used: .*--cache"):
        gem_eval.evaluate(
            "tiny:Guess", "noop", out=tmp_path / "run", episodes=1, cache=tmp_path / "cache"
        )

    assert not (tmp_path / "run").exists()


def settings(url: str, out: Path, **options: Any) -> dict[str, Any]:
    usual = {
        "envs": "tiny:Guess",
        "policies": [f"openai:m@{url}", "random"],
        "episodes": TOTAL,
        "concurrency": 8,
        "max_turns": 2,
        "cache": out.parent / "cache",
        "out": out,
    }
    return {**usual, **options}


def test_a_second_run_asks_nobody_and_has_the_same_episodes(
    server: Any, answers: Any, tmp_path: Path, fingerprints: Any
) -> None:
    server.answers = [answers.chat(r"\boxed{8}")]
    first = gem_eval.evaluate(**settings(server.url, tmp_path / "first"))
    asked = len(server.asked)

    second = gem_eval.evaluate(**settings(server.url, tmp_path / "second"))

    assert len(server.asked) == asked + 1  # the look before the first episode
    assert fingerprints(second.path) == fingerprints(first.path)
    counters = second.summary.counters
    assert counters is not None
    assert counters.cache_hits == asked - 1
    tokens = second.summary.results[0].tokens
    assert tokens is not None
    assert (tokens.prompt, tokens.completion) == (0, 0)
    assert gem_eval.resume(second.path).summary.counters == counters


def test_what_a_stopped_run_was_answered_is_not_paid_twice(
    server: Any, answers: Any, tmp_path: Path
) -> None:
    server.answers = [answers.chat(r"\boxed{8}")]
    given = settings(server.url, tmp_path / "run", max_total_tokens=160, concurrency=1)
    with pytest.raises(RunStopped, match="The budget of 160 tokens"):
        gem_eval.evaluate(**given)

    gem_eval.resume(tmp_path / "run", max_total_tokens=100_000)

    turns = sum(
        len(episode.turns)
        for episode in read_episodes(tmp_path / "run" / "episodes.jsonl")
        if episode.policy != "random"
    )
    assert len(server.asked) == turns + 2  # the look before each start


@pytest.mark.slow
def test_the_table_says_what_came_from_the_cache(
    server: Any, answers: Any, gem_env: Any, tmp_path: Path
) -> None:
    server.answers = [answers.chat(r"\boxed{8}")]
    policy = ("--policy", f"openai:m@{server.url}", "--episodes", "1", "--max-turns", "1")
    command = ("eval", "tiny:Guess", *policy, "--cache", "cache", "--out")
    gem_env(*command, "first")

    done = gem_env(*command, "second")

    assert done.returncode == 0
    assert "1 answer came from the cache, and cost no token.\n" in done.stdout


def test_no_key_is_in_the_cache(
    server: Any, answers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.answers = [answers.chat("hello"), answers.chat(f"Your key is {KEY}.")]
    other = Request((Message("user", "What is my key?"),))
    cache = AnswerCache(tmp_path)

    ask(cache, QUESTION, other, url=server.url)

    texts = [file.read_bytes() for file in tmp_path.iterdir()]
    assert any(b"hello" in text for text in texts)
    assert not any(KEY.encode() in text for text in texts)


WRITER = """
import asyncio, sys
from gem_eval.policies.answer_cache import AnswerCache

cache = AnswerCache(sys.argv[1])


async def write():
    for number in range(100):
        await cache.put(b"answer %d" % number, b"asked", b"%d" % number)


asyncio.run(write())
cache.close()
"""


@pytest.mark.slow
def test_many_processes_share_one_cache(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [writer.communicate()[1] for writer in writers] == ["", "", ""]
    cache = AnswerCache(tmp_path)

    async def read() -> list[bytes | None]:
        return [await cache.get(b"asked", b"%d" % number) for number in range(101)]

    found = asyncio.run(read())
    cache.close()

    assert found == [*(b"answer %d" % number for number in range(100)), None]


def test_a_forked_process_opens_the_cache_for_itself(tmp_path: Path) -> None:
    script = """
import asyncio, os, sys, warnings
from gem_eval.policies.answer_cache import AnswerCache

cache = AnswerCache(sys.argv[1])
asyncio.run(cache.put(b"answer", b"asked"))
child = os.fork()
if not child:
    os._exit(asyncio.run(cache.get(b"asked")) != b"answer")
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), asyncio.run(cache.get(b"asked")))
cache.close()
"""

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "0 b'answer'\n"


def test_parts_of_what_is_asked_do_not_run_together(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)

    async def play() -> bytes | None:
        await cache.put(b"answer", b"ab", b"c")
        return await cache.get(b"a", b"bc")

    found = asyncio.run(play())
    cache.close()

    assert found is None


def test_a_cache_that_breaks_while_it_is_used_costs_no_answer(server: Any, tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    cache.close()
    for file in tmp_path.iterdir():
        os.truncate(file, 100)  # no database any more

    [reply] = ask(cache, QUESTION, url=server.url)

    assert reply.message.text == "hello"
