"""How late an event loop is, by loops that are held up, and one whose time stands still."""

from __future__ import annotations

import asyncio
import time

import pytest

import gem
from gem.rollouts import RolloutStats
from gem.rollouts._lag import LoopWatch
from gem.testing.envs import Guess


async def held_up(stats: RolloutStats, seconds: float) -> None:
    with LoopWatch(stats):
        time.sleep(seconds)


def test_a_loop_that_is_held_up_until_the_end_is_late() -> None:
    stats = RolloutStats()

    asyncio.run(held_up(stats, 0.3))

    assert stats.longest_lag_s >= 0.2


def test_a_loop_that_is_held_up_in_between_is_late_once() -> None:
    stats = RolloutStats()

    async def watched() -> None:
        with LoopWatch(stats):
            await asyncio.sleep(0.06)
            time.sleep(0.3)
            await asyncio.sleep(0.2)

    asyncio.run(watched())

    assert stats.longest_lag_s >= 0.2
    assert (stats.lag_s(0.01) or 0.0) < stats.longest_lag_s  # other looks were not as late


def test_a_watch_that_is_left_at_once_has_nothing_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    stats = RolloutStats()

    async def left_at_once() -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        monkeypatch.setattr(loop, "time", lambda: now)  # however long this thread has to wait
        with LoopWatch(stats):
            pass

    asyncio.run(left_at_once())

    assert (stats.lag_s(0.5), stats.longest_lag_s) == (None, 0.0)


def test_a_rollout_counts_the_lag_of_its_loop() -> None:
    stats = RolloutStats()

    def computes(request: gem.Request) -> str:
        time.sleep(0.2)
        return r"\boxed{1}"

    gem.run(computes, Guess, episodes=1, max_turns=1, stats=stats)

    assert stats.longest_lag_s >= 0.15
    assert stats.as_dict()["lag_p99_s"] is not None
