"""Groups, the repeats of one seed, come whole and in the order of the plan."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from gem._python.seeding import key_seed
from gem.conversation import Request
from gem.episode import Episode
from gem.errors import EnvUsageError
from gem.rollouts import rollout
from gem.rollouts._planning import plan_episodes

from .running import Guess, fingerprints, run


def run_groups(policy: Any, env: Any = "demo:Coin", **options: Any) -> list[list[Episode]]:
    async def collect() -> list[list[Episode]]:
        return [group async for group in rollout(policy, env, **options).groups()]

    return asyncio.run(collect())


@pytest.mark.parametrize("concurrency", [1, 3, 64])
def test_groups_are_whole_and_come_in_the_order_of_the_plan(concurrency: int) -> None:
    chance = random.Random(5)

    async def jittered(request: Request) -> str:
        for _ in range(chance.randrange(9)):
            await asyncio.sleep(0)
        return request.sample or ""

    jittered.wants = ("sample",)  # type: ignore[attr-defined]
    options: dict[str, Any] = {"episodes": 5, "repeats": 4}
    groups = run_groups(jittered, ["demo:Coin", "demo:Dice"], concurrency=concurrency, **options)
    places = [[(e.env_index, e.episode_index, e.repeat) for e in group] for group in groups]
    assert places == [[(env, k, r) for r in range(4)] for env in range(2) for k in range(5)]
    steady = run(Guess(), ["demo:Coin", "demo:Dice"], **options)
    assert fingerprints([e for group in groups for e in group]) == fingerprints(steady)


def test_a_slow_group_holds_up_its_own_place_and_lets_so_many_begin() -> None:
    plan = plan_episodes("demo:Dice", episodes=50, repeats=2)
    slow = key_seed("policy", plan[0].seed, 0, 0)
    asked: list[int] = []

    async def play() -> list[int]:
        go = asyncio.Event()

        async def policy(request: Request) -> str:
            asked.append(request.seed)
            if request.seed == slow:
                await go.wait()
            return "x"

        groups = rollout(policy, "demo:Dice", plan=plan, concurrency=4).groups()
        first = asyncio.ensure_future(groups.__anext__())
        while len(asked) < 8:
            await asyncio.sleep(0)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(asked) == 8  # four in flight at a time, and four more beyond them
        go.set()
        order = [(await first)[0].episode_index]
        order += [group[0].episode_index async for group in groups]
        return order

    assert asyncio.run(play()) == list(range(50))


def test_a_group_may_be_larger_than_what_is_in_flight() -> None:
    [group] = run_groups(Guess(), repeats=9, concurrency=2)
    assert [episode.repeat for episode in group] == list(range(9))


@pytest.mark.parametrize(("first", "then"), [("groups", "groups"), ("groups", ""), ("", "groups")])
def test_a_run_is_taken_once(first: str, then: str) -> None:
    async def take() -> None:
        run = rollout(Guess(), "demo:Coin")
        ways = [getattr(run, way)() if way else aiter(run) for way in (first, then)]
        raise AssertionError(f"taken twice: {ways}")

    with pytest.raises(EnvUsageError, match="were taken before"):
        asyncio.run(take())


def test_an_error_is_in_its_group() -> None:
    def policy(request: Request) -> str:
        return "raise" if request.seed == broken else "x"

    plan = plan_episodes("demo:Coin", episodes=2, repeats=2)
    broken = key_seed("policy", plan[1].seed, 1, 0)
    groups = run_groups(policy, plan=plan)
    assert [[e.is_error for e in group] for group in groups] == [[False, True], [False, False]]


def test_no_more_groups_are_begun_than_are_taken() -> None:
    started: set[int] = set()

    async def policy(request: Request) -> str:
        started.add(request.seed)
        return "x"

    async def take_one() -> None:
        groups = rollout(policy, "demo:Dice", episodes=50, repeats=2, concurrency=4).groups()
        await groups.__anext__()
        before = len(started)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(started) <= before + 4
        await groups.aclose()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(take_one())
    assert len(started) <= 8
