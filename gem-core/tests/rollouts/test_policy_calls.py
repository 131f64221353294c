"""A call of the policy that fails is made again, and a run counts its calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gem.conversation import Request
from gem.rollouts import rollout
from gem.rollouts._stats import RolloutStats

from .envs import fail_with
from .running import PATIENT_S, Solve, late, never, run, run_one


class Failing:
    """Fails its first `times` calls of each turn, and notes every request."""

    def __init__(self, times: int, fail: Callable[[], Any]) -> None:
        self.times, self.fail = times, fail
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Any:
        self.asked.append(request)
        if sum(asked is request for asked in self.asked) <= self.times:
            failed = self.fail()
            return await failed if isinstance(failed, asyncio.Future) else failed
        return "neither"


FAILURES: dict[str, Callable[[], Any]] = {
    "raises": lambda: fail_with(ConnectionError("refused")),
    "exits": lambda: fail_with(SystemExit(3)),
    "is late": lambda: asyncio.get_running_loop().create_future(),
    "answers badly": lambda: 7,
}


@pytest.mark.parametrize("failure", sorted(FAILURES))
def test_a_policy_call_that_fails_is_made_again_with_the_same_request(failure: str) -> None:
    policy, stats = Failing(2, FAILURES[failure]), RolloutStats()
    options: dict[str, Any] = {"max_turns": 2, "policy_timeout_s": 0.05}
    episode = run_one(policy, policy_retries=2, stats=stats, **options)
    assert [request.turn for request in policy.asked] == [0, 0, 0, 1, 1, 1]
    assert policy.asked[0] is policy.asked[2]
    assert episode.fingerprint() == run_one(lambda request: "neither", max_turns=2).fingerprint()
    assert stats.retries == 4
    assert stats.deadline_hits == (4 if failure == "is late" else 0)


def test_a_policy_that_goes_on_failing_is_an_error(placed: Callable[[str, str], str]) -> None:
    policy = Failing(2, FAILURES["raises"])
    episode = run_one(policy, policy_retries=1, retry_wait_s=0.001)
    assert (episode.stop_reason, len(policy.asked)) == ("policy_error", 2)
    assert episode.error == placed("ConnectionError: refused", "fail_with")
    assert episode.turns == ()


def test_a_cancelled_policy_call_is_not_made_again() -> None:
    policy = Failing(1, lambda: fail_with(asyncio.CancelledError()))
    assert run_one(policy, policy_retries=3).stop_reason == "policy_error"
    assert len(policy.asked) == 1


def test_an_episode_out_of_time_asks_no_policy_again() -> None:
    asked: list[Request] = []

    async def policy(request: Request) -> str:
        asked.append(request)
        return await late(request)

    limits = {"policy_timeout_s": 1e6, "episode_timeout_s": PATIENT_S}
    episode = run_one(policy, policy_retries=3, **limits)
    assert (episode.stop_reason, len(asked)) == ("policy_error", 1)


def test_figures_are_read_while_a_run_goes_on() -> None:
    stats = RolloutStats()
    seen: list[tuple[int, int]] = []

    async def play() -> None:
        plays = rollout(Solve(), "demo:Coin", episodes=3, stats=stats, concurrency=1)
        seen.extend([(stats.episodes, stats.steps) async for _ in plays])

    asyncio.run(play())
    assert seen == [(1, 1), (2, 2), (3, 3)]
    assert (stats.errors, stats.deadline_hits) == (0, 0)


def test_errors_and_deadlines_are_counted() -> None:
    stats = RolloutStats()
    run(lambda request: "raise", "demo:Coin", episodes=2, stats=stats)
    run(never, "demo:Coin", episodes=3, stats=stats, policy_timeout_s=0.01)
    assert (stats.episodes, stats.errors, stats.deadline_hits) == (5, 5, 3)
    assert stats.steps == 0
