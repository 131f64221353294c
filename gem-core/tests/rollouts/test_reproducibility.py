"""The same content in any order, on any thread, at any concurrency."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest

from gem.conversation import Request
from gem.rollouts._planning import plan_episodes

from .running import Guess, fingerprints, run


@pytest.mark.parametrize("concurrency", [2, 7, 64])
def test_concurrency_does_not_change_the_content(concurrency: int) -> None:
    alone = run(Guess(), "demo:Coin", episodes=40, concurrency=1)
    together = run(Guess(), "demo:Coin", episodes=40, concurrency=concurrency)
    assert fingerprints(together) == fingerprints(alone)
    assert len(fingerprints(alone)) == 40


def test_threads_do_not_change_the_content() -> None:
    plan = plan_episodes("demo:Coin", episodes=20)
    inline = run(Guess(), "demo:Coin", plan=plan)
    threaded = run(Guess(), "demo:BlockingCoin", plan=plan)
    assert [e.turns for e in sorted(inline, key=lambda e: e.seed)] != []
    assert Counter(tuple(t.action for t in e.turns) for e in inline) == Counter(
        tuple(t.action for t in e.turns) for e in threaded
    )


def test_completion_order_does_not_change_the_content() -> None:
    chance = random.Random(5)

    async def jittered(request: Request) -> str:
        await asyncio.sleep(chance.random() / 100)
        return request.sample or ""

    jittered.wants = ("sample",)  # type: ignore[attr-defined]
    steady = run(Guess(), "demo:Coin", episodes=20)
    assert fingerprints(run(jittered, "demo:Coin", episodes=20)) == fingerprints(steady)


def test_another_users_random_numbers_do_not_change_the_content() -> None:
    def meddling(request: Request) -> str:
        random.seed(request.turn)
        random.random()
        return request.sample or ""

    meddling.wants = ("sample",)  # type: ignore[attr-defined]
    steady = run(Guess(), "demo:Coin", episodes=20)
    assert fingerprints(run(meddling, "demo:Coin", episodes=20)) == fingerprints(steady)


def test_each_repeat_samples_anew_and_reproducibly() -> None:
    def actions() -> list[tuple[str, ...]]:
        episodes = run(Guess(), "demo:Coin", repeats=8, env_kwargs={"sides": "abcdef"})
        episodes.sort(key=lambda episode: episode.repeat)
        return [tuple(turn.action for turn in episode.turns) for episode in episodes]

    assert len(set(actions())) > 4
    assert actions() == actions()


def test_a_policy_that_samples_gets_another_seed_each_turn_and_repeat() -> None:
    seeds: list[int] = []

    def policy(request: Request) -> str:
        seeds.append(request.seed)
        return "neither"

    run(policy, "demo:Coin", max_turns=2, repeats=2)
    assert len(set(seeds)) == 4
