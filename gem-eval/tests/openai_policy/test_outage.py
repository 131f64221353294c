"""A server that is away: it is waited for, told from one that refuses, and probed."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from contextlib import closing
from typing import Any

import pytest

from gem import Reply
from gem_eval.errors import ServerAwayError, ServerRefusalError

from .asking import QUESTION, ask, complaint, policy_at


def test_a_dead_server_is_named(dead_url: str) -> None:
    assert f"{dead_url} gave no answer" in complaint(policy_at(dead_url))


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_server_that_is_away_is_waited_for(server: Any, answers: Any, status: int) -> None:
    away = answers.Answer(status, b"nobody here", (("Retry-After", "60"),))
    server.answers = [away, away, away, answers.chat("hello")]

    [reply] = ask(policy_at(server.url, max_retries=0, wait_for_server_s=60))

    assert isinstance(reply, Reply)


def test_one_of_all_who_wait_looks_for_the_server(server: Any, answers: Any) -> None:
    hello = answers.chat("hello")

    class Loading(type(server)):  # type: ignore[misc] # the class of a fixture
        looks = 0

        def next(self, asked: Any) -> Any:
            if asked.body.get("max_tokens") != 1:
                return super().next(asked)
            self.looks += 1
            return answers.Answer(503, b"loading") if self.looks == 1 else hello

    async def crowd(url: str) -> list[Reply]:
        policy = policy_at(url, wait_for_server_s=60)
        replies = await asyncio.gather(*(policy(QUESTION) for _ in range(20)))
        await policy.aclose()
        return replies

    with closing(Loading()) as loading:
        # All are told at once that the server is away.
        away = answers.Answer(503, b"loading", meets=threading.Barrier(20))
        loading.answers = [away] * 20 + [hello]
        replies = asyncio.run(crowd(loading.url))

    assert [reply.message.text for reply in replies] == ["hello"] * 20
    # Two, and more only for those who read their answer after the second look.
    assert 2 <= loading.looks <= 5
    assert len(loading.asked) == 20 + 20


def test_a_server_that_stays_away_is_told_with_what_it_said(server: Any, answers: Any) -> None:
    server.answers = [answers.Answer(503, b"loading")]

    said = complaint(policy_at(server.url, wait_for_server_s=0.05))

    assert "503: loading. It was waited for 0.05 s" in said


def test_a_server_that_was_given_up_is_waited_for_no_more(dead_url: str) -> None:
    first, second = ask(policy_at(dead_url, wait_for_server_s=0.2), QUESTION, QUESTION)

    assert "waited for 0.2 s" in str(first)
    assert "gave no answer" in str(second)
    assert "It was waited for" not in str(second)


def test_the_wait_for_a_server_does_not_count_within_the_time_of_a_request(
    server: Any, answers: Any, skipping_loop: Any
) -> None:
    away = answers.Answer(503, b"loading")
    server.answers = [away, away, answers.chat("hello")]
    policy = policy_at(server.url, wait_for_server_s=600, total_timeout_s=60)

    async def wait_and_ask() -> Reply:
        asking = asyncio.ensure_future(policy(QUESTION))
        while not policy.state:
            await asyncio.sleep(0)
        skipping_loop.skipped_s += 100.0  # before the next look
        reply = await asking
        await policy.aclose()
        return reply

    assert isinstance(skipping_loop.run_until_complete(wait_and_ask()), Reply)


def test_what_is_waited_for_is_said(dead_url: str) -> None:
    policy = policy_at(dead_url, wait_for_server_s=60)

    async def waiting() -> list[str]:
        states = [policy.state]
        request = asyncio.ensure_future(policy(QUESTION))
        while not policy.state:
            await asyncio.sleep(0)
        states.append(policy.state)
        request.cancel()
        await asyncio.wait([request])
        await policy.aclose()
        return [*states, policy.state]

    before, meanwhile, after = asyncio.run(waiting())
    assert (before, after) == ("", "")
    assert re.fullmatch(rf"waiting \d+ of 60 s for {re.escape(dead_url)}", meanwhile)


def test_a_request_that_ends_the_server_each_time_is_given_up(server: Any, answers: Any) -> None:
    drop = answers.Answer(drops=True)
    away = answers.Answer(503, b"starting")
    server.answers = [drop, away, answers.chat("hello")] * 8

    said = complaint(policy_at(server.url, max_retries=1, wait_for_server_s=60))

    assert "(after 2 attempts)" in said


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, ""), (402, ""), (403, ""), (404, ""), (429, "insufficient_quota")],
)
def test_a_refusal_for_good_is_found_by_a_probe(
    server: Any, answers: Any, status: int, code: str
) -> None:
    body = json.dumps({"error": {"message": "no", "code": code}}).encode()
    server.answers = [answers.Answer(status, body)]
    policy = policy_at(server.url)

    with pytest.raises(ServerRefusalError, match=f"answered {status}"):
        asyncio.run(policy.probe())

    assert isinstance(server.asked[0].body["messages"], list)


@pytest.mark.parametrize("status", [500, 503])
def test_a_server_that_fails_at_a_probe_is_away(server: Any, answers: Any, status: int) -> None:
    server.answers = [answers.Answer(status, b"the engine is dead")]

    with pytest.raises(ServerAwayError, match=f"answered {status}: the engine is dead. See that"):
        asyncio.run(policy_at(server.url).probe())


@pytest.mark.parametrize("status", [200, 400, 422, 429])
def test_a_probe_is_content_with_any_other_answer(server: Any, answers: Any, status: int) -> None:
    server.answers = [answers.Answer(status, b"{}")]

    asyncio.run(policy_at(server.url).probe())

    assert server.asked[0].body["max_tokens"] == 1


def test_a_server_of_finished_prompts_alone_is_there(server: Any, answers: Any) -> None:
    server.answers = [answers.Answer(404, b"no such path"), answers.Answer(body=b"{}")]

    asyncio.run(policy_at(server.url).probe())

    assert [asked.path for asked in server.asked] == ["/v1/chat/completions", "/v1/completions"]


def test_a_probe_takes_the_word_for_a_limit_that_the_server_takes(server: Any) -> None:
    asyncio.run(policy_at(server.url, extra={"max_completion_tokens": 900, "top_k": 5}).probe())

    body = server.asked[0].body
    assert (body["max_completion_tokens"], body["top_k"]) == (1, 5)
    assert "max_tokens" not in body
