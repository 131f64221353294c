"""What takes too long costs its own episode, and is abandoned where it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from gem._python.seeding import key_seed
from gem.conversation import Request
from gem.episode import Episode
from gem.rollouts import rollout
from gem.rollouts._planning import plan_episodes
from gem.rollouts._stats import RolloutStats

from .envs import Hanging, Stuck
from .running import HANGS_S, PATIENT_S, Solve, Stubborn, fingerprints, late, run, run_one

TIMELESS_PLUGIN = """
from gem.specs import ExecutorSpec, PluginManifest

plugin = PluginManifest(
    name="acme",
    executors=(ExecutorSpec(id="timeless", target="acme_timeless.hosts:timeless"),),
)
"""
TIMELESS_HOSTS = """
from gem.hosting._threads import ThreadHost


class Timeless(ThreadHost):
    keeps_time = False


def timeless(*, num_envs, num_workers, step_timeout_s):
    return Timeless()
"""


def test_a_policy_that_is_too_slow_is_an_error() -> None:
    async def slow(request: Request) -> str:
        await asyncio.sleep(30)
        return "H"

    episode = run_one(slow, policy_timeout_s=0.01)
    assert episode.stop_reason == "policy_error"
    assert episode.error == "TimeoutError: the policy did not answer within 0.01 s"


def test_a_policy_in_time_is_unharmed_by_a_deadline() -> None:
    async def guess(request: Request) -> str:
        return "H"

    assert run_one(guess, policy_timeout_s=30).success is not None


def test_an_exit_under_a_deadline_costs_its_own_episode(placed: Callable[[str, str], str]) -> None:
    async def leaving(request: Request) -> str:
        raise SystemExit(3)

    episodes = run(leaving, "demo:Coin", episodes=3, policy_timeout_s=30)
    assert [episode.error for episode in episodes] == [placed("SystemExit: 3", "leaving")] * 3


def test_a_call_that_somebody_else_cancelled_costs_its_own_episode() -> None:
    async def cancelled(request: Request) -> str:
        raise asyncio.CancelledError

    episodes = run(cancelled, "demo:Coin", episodes=3)
    assert [episode.stop_reason for episode in episodes] == ["policy_error"] * 3


def test_an_environment_that_waits_too_long_is_given_up() -> None:
    episode = run_one(lambda request: "30", "demo:Slow", step_timeout_s=0.01)
    assert episode.stop_reason == "step_timeout"
    assert "within 0.01 s" in (episode.error or "")


def test_an_environment_in_time_is_unharmed_by_a_deadline() -> None:
    assert run_one(lambda request: "0", "demo:Slow", step_timeout_s=30).success


def test_a_step_that_hangs_costs_one_episode_and_is_never_closed() -> None:
    def policy(request: Request) -> str:
        return "hang" if request.seed == hung else "go"

    plan = plan_episodes("demo:Hanging", episodes=4)
    Hanging.closed = 0
    hung = key_seed("policy", plan[0].seed, 0, 0)
    episodes = run(policy, "demo:Hanging", plan=plan, step_timeout_s=HANGS_S, concurrency=1)
    reasons = [episode.stop_reason for episode in episodes]
    assert reasons == ["step_timeout", "terminated", "terminated", "terminated"]
    assert Hanging.closed == 1


def test_a_solution_that_hangs_costs_one_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stuck, "hangs_in", "solve")
    episode = run_one(Solve(), "demo:Stuck", step_timeout_s=HANGS_S)
    assert episode.stop_reason == "step_timeout"


def test_an_episode_too_long_for_its_policy_is_the_policys_error() -> None:
    episode = run_one(late, episode_timeout_s=PATIENT_S)
    assert episode.stop_reason == "policy_error"
    assert episode.error == (
        f"TimeoutError: the episode did not end within {PATIENT_S} s; it waited for the policy"
    )


def test_what_a_late_policy_waits_for_is_in_the_error() -> None:
    class Waiting:
        state = "waiting 3 of 600 s for a server"

        async def __call__(self, request: Request) -> str:
            return await late(request)

    episode = run_one(Waiting(), episode_timeout_s=PATIENT_S)

    assert episode.error == (
        f"TimeoutError: the episode did not end within {PATIENT_S} s; it waited for the policy "
        "(waiting 3 of 600 s for a server)"
    )


@pytest.mark.parametrize("env", ["demo:Slow", "demo:Hanging"])
def test_an_episode_too_long_for_its_environment_is_a_step_timeout(env: str) -> None:
    waits = {"demo:Slow": "30", "demo:Hanging": "hang"}
    episode = run_one(lambda request: waits[env], env, episode_timeout_s=HANGS_S)
    assert episode.stop_reason == "step_timeout"
    assert (episode.error or "").endswith("it waited for the environment")
    assert (len(episode.turns), len(episode.played_turns)) == (1, 0)


def test_an_episode_in_which_nothing_waits_is_held_to_its_time() -> None:
    episode = run_one(lambda request: "neither", env_kwargs={"limit": 10**9}, episode_timeout_s=0.1)
    assert episode.stop_reason in {"policy_error", "step_timeout"}
    assert "the episode did not end within 0.1 s" in (episode.error or "")


def test_an_episode_too_long_for_a_solution_waits_for_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Stuck, "hangs_in", "solve")
    assert run_one(Solve(), "demo:Stuck", episode_timeout_s=0.2).stop_reason == "step_timeout"


def test_a_late_solution_is_given_up_where_the_backend_keeps_no_time(
    monkeypatch: pytest.MonkeyPatch, install: Callable[..., Path]
) -> None:
    install("acme-timeless", manifest=TIMELESS_PLUGIN, files={"hosts.py": TIMELESS_HOSTS})
    monkeypatch.setattr(Stuck, "hangs_in", "solve")

    episode = run_one(Solve(), "demo:Stuck", backend="timeless", step_timeout_s=0.2)

    assert episode.stop_reason == "step_timeout"


def test_deadlines_that_nothing_misses_do_not_change_the_content() -> None:
    async def solve(request: Request) -> str:
        await asyncio.sleep(0)
        return request.solution or ""

    solve.wants = ("solution",)  # type: ignore[attr-defined]
    limits = {"step_timeout_s": 30, "policy_timeout_s": 30, "episode_timeout_s": 30}
    for env in ("demo:Coin", "demo:BlockingCoin"):
        free = run(solve, env, episodes=20)
        assert fingerprints(run(solve, env, episodes=20, **limits)) == fingerprints(free)


def test_a_call_that_no_cancellation_ends_is_abandoned_with_its_episode() -> None:
    async def play() -> list[Episode]:
        policy, before = Stubborn(), asyncio.all_tasks()
        stats = RolloutStats()
        plays = rollout(
            policy, "demo:Coin", episodes=2, concurrency=1, policy_timeout_s=0.01, stats=stats
        )
        episodes = [episode async for episode in plays]
        policy.end.set()
        await asyncio.wait(asyncio.all_tasks() - before)
        assert stats.deadline_hits == 2
        return episodes

    episodes = asyncio.run(play())
    assert [episode.stop_reason for episode in episodes] == ["policy_error"] * 2
    assert episodes[0].error == "TimeoutError: the policy did not end when it was late"
