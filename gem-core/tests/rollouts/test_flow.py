"""A run goes as fast as it is read, holds no more than it needs, and can be left."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any, ClassVar

import pytest

import gem
from gem._python.seeding import key_seed
from gem.conversation import Request
from gem.env import Env
from gem.rollouts import rollout
from gem.rollouts._planning import plan_episodes
from gem.testing.envs import Kuhn

from .envs import Coin, Dice
from .running import Guess, Stubborn, run


def test_episodes_come_as_they_finish() -> None:
    waits = {0: "1", 1: "0"}

    def policy(request: Request) -> str:
        return waits[request.seed == seeds[1]]

    plan = plan_episodes("demo:Slow", episodes=2)
    seeds = [key_seed("policy", each.seed, 0, 0) for each in plan]
    assert [e.episode_index for e in run(policy, "demo:Slow", plan=plan)] == [1, 0]


def test_leaving_early_waits_no_longer_than_the_deadlines_for_a_call_that_goes_on() -> None:
    async def leave() -> None:
        policy, before = Stubborn(), asyncio.all_tasks()
        plays = rollout(policy, "demo:Coin", episodes=4, policy_timeout_s=0.01, concurrency=2)
        async for _ in plays:
            break
        await plays.aclose()
        policy.end.set()
        await asyncio.wait(asyncio.all_tasks() - before)

    asyncio.run(leave())


def test_leaving_early_stops_what_is_running() -> None:
    async def take_one() -> int:
        episodes = rollout(Guess(), "demo:Coin", episodes=50, concurrency=8)
        async for _ in episodes:
            break
        await episodes.aclose()
        return len(asyncio.all_tasks())

    assert asyncio.run(take_one()) == 1


def test_no_more_episodes_are_started_than_are_taken() -> None:
    started: set[int] = set()

    async def policy(request: Request) -> str:
        started.add(request.seed)
        return "x"

    async def take_one() -> None:
        episodes = rollout(policy, "demo:Dice", episodes=50, concurrency=3)
        await episodes.__anext__()
        await asyncio.sleep(0.01)
        await episodes.aclose()

    asyncio.run(take_one())
    assert len(started) == 3


def test_no_more_environments_are_held_than_episodes_are_to_come() -> None:
    held: list[Env] = []
    most = []

    class Held(Dice):
        def __init__(self) -> None:
            held.append(self)
            most.append(len(held))

        def close(self) -> None:
            held.remove(self)

    names = [f"demo:Held{number}" for number in range(5)]
    for name in names:
        gem.register(name, Held)
    plan = plan_episodes(names, episodes=6)
    most.clear()

    run(Guess(), names, plan=plan, concurrency=3)

    assert len(most) < len(plan)  # they are used again
    assert max(most) <= 4
    assert held == []


@pytest.mark.parametrize("env", ["Coin", "Kuhn"])
def test_an_episode_that_has_ended_holds_its_environment_no_longer(env: str) -> None:
    # On the event loop, where the episode itself holds the environment.
    spec = gem.EnvSpec(id="demo:Here", target=f"{__name__}:Noted{env}", blocking=False)
    Noted.made.clear()
    gc.collect()
    gc.disable()
    try:
        assert len(run(Guess(), spec, episodes=3)) == 3
        # Without the collector: an episode that is part of a cycle would hold it.
        assert {reference() for reference in Noted.made} == {None}
    finally:
        gc.enable()


class Noted:
    """Notes the environments that are made."""

    made: ClassVar[list[weakref.ref[Any]]] = []

    def __init__(self) -> None:
        super().__init__()
        self.made.append(weakref.ref(self))


class NotedCoin(Noted, Coin):
    pass


class NotedKuhn(Noted, Kuhn):
    pass
