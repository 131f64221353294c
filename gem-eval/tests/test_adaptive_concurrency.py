"""`openai:` at a server that has too much to do: fewer requests in flight, and nothing is lost."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import Message, Reply, Request
from gem_eval import PolicyError
from gem_eval.policies.openai import OpenAIPolicy

TOTAL = 60
QUESTION = Request((Message("user", "Guess."),), seed=5)
Fingerprints = Callable[[Path], dict[tuple[str, int, int, int], str]]


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def settings(url: str, out: Path, **policy: Any) -> dict[str, Any]:
    waits = {"backoff_s": 0.01, "max_backoff_s": 0.01}
    return {
        "envs": "tiny:Guess",
        "policies": f"openai:m@{url}",
        "policy_kwargs": {"openai": {**waits, **policy}},
        "episodes": TOTAL,
        "concurrency": 16,
        "max_turns": 3,
        "out": out,
    }


def is_look(asked: Any) -> bool:
    """Say whether a request only asks whether anybody is there: the policy wants one token."""
    return bool(asked.body.get("max_tokens") == 1)


@pytest.fixture
def small(server: Any, answers: Any) -> Iterator[Any]:
    """Return a server that refuses whatever comes while it has four requests to answer."""

    class Small(type(server)):  # type: ignore[misc] # the class of a fixture
        busy_now = 0
        busiest = 0
        refused = 0

        def next(self, asked: Any) -> Any:
            with self.counting:
                self.busy_now += 1
                self.busiest = max(self.busiest, self.busy_now)
                has_room = self.busy_now <= 4
                self.refused += not has_room
            if not has_room:
                self.has_refused.set()
            elif not is_look(asked):
                # The first four take until a fifth request has come, however late that is sent.
                self.has_refused.wait(60)
                time.sleep(0.005)  # that is how long its model takes
            with self.counting:
                self.busy_now -= 1
            if has_room:
                return super().next(asked)
            return answers.Answer(429, b"slow down", (("Retry-After", "0"),))

        counting = threading.Lock()
        has_refused = threading.Event()

    served = Small()
    served.answers = [answers.chat(r"\boxed{8}")]
    yield served
    served.close()


@pytest.mark.slow
def test_a_server_with_little_room_costs_no_episode(
    small: Any, server: Any, tmp_path: Path, fingerprints: Fingerprints
) -> None:
    server.answers = list(small.answers)
    gem_eval.evaluate(**settings(server.url, tmp_path / "undisturbed"))

    # A refusal beside others is no attempt: not even one of them may be made again.
    found = gem_eval.evaluate(**settings(small.url, tmp_path / "run", max_retries=0))

    assert (found.summary.episodes, found.summary.errors) == (TOTAL, 0)
    assert small.refused > 0
    assert small.busiest <= 16
    undisturbed = fingerprints(tmp_path / "undisturbed")
    assert sorted(fingerprints(found.path).values()) == sorted(undisturbed.values())


def asked_at_once(policy: OpenAIPolicy, count: int) -> list[Reply | str]:
    """Ask so often at once; an error stands as its text."""

    async def answer() -> Reply | str:
        try:
            return await policy(QUESTION)
        except PolicyError as error:
            return str(error)

    async def answers() -> list[Reply | str]:
        said = await asyncio.gather(*(answer() for _ in range(count)))
        await policy.aclose()
        return said

    return asyncio.run(answers())


def policy_at(url: str, **options: Any) -> OpenAIPolicy:
    usual = {"backoff_s": 0.0, "max_backoff_s": 0.0, "max_retries": 0}
    return OpenAIPolicy(f"m@{url}", **{**usual, **options})


def test_a_refusal_beside_others_is_no_attempt(server: Any, answers: Any) -> None:
    # All four are refused at the same time: one that was refused alone would be given up.
    busy = answers.Answer(429, b"busy", meets=threading.Barrier(4))
    server.answers = [busy] * 4 + [answers.chat("hello")]

    said = asked_at_once(policy_at(server.url), 4)

    assert all(isinstance(reply, Reply) for reply in said)


def test_a_refusal_is_an_attempt_where_the_number_is_fixed(server: Any, answers: Any) -> None:
    server.answers = [*[answers.Answer(429, b"busy")] * 4, answers.chat("hello")]

    said = asked_at_once(policy_at(server.url, adapts_concurrency=False), 4)

    assert all("429: busy (after 1 attempt)" in str(text) for text in said)


def test_a_request_that_is_refused_beside_others_for_ever_is_given_up(
    server: Any, answers: Any
) -> None:
    class Picky(type(server)):  # type: ignore[misc] # the class of a fixture
        def next(self, asked: Any) -> Any:
            is_large = "large" in str(asked.body)
            return answers.Answer(429, b"too large") if is_large else super().next(asked)

    picky = Picky()
    picky.answers = [answers.chat("hello")]
    policy = policy_at(picky.url)
    large = Request((Message("user", "large"),), seed=5)

    async def ask() -> str:
        is_over = asyncio.Event()

        async def small_talk() -> None:
            while not is_over.is_set():
                await policy(QUESTION)

        others = [asyncio.ensure_future(small_talk()) for _ in range(4)]
        with pytest.raises(PolicyError) as caught:
            await policy(large)
        is_over.set()
        await asyncio.gather(*others)
        await policy.aclose()
        return str(caught.value)

    said = asyncio.run(ask())
    picky.close()

    assert "429: too large" in said


def test_to_wait_for_a_turn_is_not_within_the_time_of_a_request(
    server: Any, answers: Any, skipping_loop: Any
) -> None:
    busy = answers.Answer(429, b"busy", (("Retry-After", "90"),))
    server.answers = [busy, answers.chat("hello")]
    policy = policy_at(server.url, total_timeout_s=60.0, max_backoff_s=100.0, max_retries=4)

    async def ask() -> Reply:
        with pytest.raises(PolicyError, match=r"within 60 s"):
            await policy(QUESTION)  # which may not be asked again in time
        asking = asyncio.ensure_future(policy(QUESTION))
        await asyncio.sleep(0)
        assert "1 wait for their turn" in policy.state
        skipping_loop.skipped_s += 90.0
        reply = await asking
        await policy.aclose()
        return reply

    reply: Reply = skipping_loop.run_until_complete(ask())
    assert reply.message.text == "hello"


@pytest.mark.parametrize("fault", ["late", "silent", "failing"])
def test_a_server_that_is_late_or_fails_is_asked_less(
    server: Any, answers: Any, fault: str
) -> None:
    hangs = answers.Answer(hangs=True)
    failed = answers.Answer(500, b"out of memory")

    class Late(type(server)):  # type: ignore[misc] # the class of a fixture
        def next(self, asked: Any) -> Any:
            # A look is answered whenever it comes, so that the server never counts as away.
            return answers.chat("hello") if is_look(asked) else super().next(asked)

    limits = {"late": {"total_timeout_s": 0.1}, "silent": {"read_timeout_s": 0.1}, "failing": {}}

    async def ask(url: str) -> str:
        policy = policy_at(url, **limits[fault])
        await asyncio.gather(*(policy(QUESTION) for _ in range(4)), return_exceptions=True)
        state = policy.state
        await policy.aclose()
        return state

    with closing(Late()) as late:
        late.answers = [failed if fault == "failing" else hangs]
        state = asyncio.run(ask(late.url))

    assert state == "throttled to 2 at once"


def test_each_event_loop_has_turns_of_its_own(server: Any, answers: Any) -> None:
    server.answers = [*[answers.Answer(400, b"wrong")] * 3, answers.chat("hello")]
    policy = policy_at(server.url)

    async def leave_in_the_middle() -> None:
        asking = asyncio.ensure_future(policy(QUESTION))
        await asyncio.sleep(0)
        asking.cancel()

    asyncio.run(leave_in_the_middle())
    asked_at_once(policy, 3)

    assert isinstance(asked_at_once(policy, 1)[0], Reply)


@pytest.fixture
def faulty(server: Any, answers: Any) -> Iterator[Any]:
    """Return a server that answers slowly, and of which each fourth answer is a fault."""
    good = answers.chat(r"\boxed{8}")
    faults = [
        answers.Answer(429, b"slow down", (("Retry-After", "0.01"),)),
        answers.Answer(500, b"out of memory"),
        answers.Answer(drops=True),
        answers.Answer(503, b"overloaded", (("Retry-After", "0"),)),
    ]

    class Faulty(type(server)):  # type: ignore[misc] # the class of a fixture
        def next(self, asked: Any) -> Any:
            time.sleep(0.002)  # that is how long its model takes
            return super().next(asked)

    served = Faulty()
    served.answers = [good]
    for number in range(60):
        served.answers += [good, good, faults[number % len(faults)], good]
    yield served
    served.close()


@pytest.mark.slow
def test_a_faulty_server_gives_the_totals_of_one_without_faults(
    faulty: Any, server: Any, answers: Any, tmp_path: Path, fingerprints: Fingerprints
) -> None:
    server.answers = [answers.chat(r"\boxed{8}")]
    expected = gem_eval.evaluate(**settings(server.url, tmp_path / "undisturbed"))

    found = gem_eval.evaluate(**settings(faulty.url, tmp_path / "run", max_retries=20))

    assert (found.summary.episodes, found.summary.errors) == (TOTAL, 0)
    assert found.summary.results[0].success_rate == expected.summary.results[0].success_rate
    assert len(faulty.asked) > len(server.asked)
    undisturbed = fingerprints(expected.path)
    assert sorted(fingerprints(found.path).values()) == sorted(undisturbed.values())


@pytest.mark.slow
def test_what_a_silent_server_ended_is_played_again(
    server: Any, answers: Any, tmp_path: Path
) -> None:
    good = answers.chat(r"\boxed{8}")
    server.answers = [*[good] * 20, *[answers.Answer(hangs=True)] * 5, good]
    # Generous: a good answer that took longer would be one more error.
    found = gem_eval.evaluate(**settings(server.url, tmp_path / "run", read_timeout_s=2.0))
    assert (found.summary.episodes, found.summary.errors) == (TOTAL, 5)

    summary = gem_eval.resume(found.path).summary

    assert (summary.episodes, summary.errors, summary.retried) == (TOTAL, 0, 5)
