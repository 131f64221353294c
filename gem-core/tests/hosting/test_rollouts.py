"""The backend `process` of a rollout: the same episodes, and faults that cost one each."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.conversation import Request
from gem.episode import Episode
from gem.errors import BadArguments, OpaqueError
from gem.hosting._processes import ProcessHost
from gem.rollouts._planning import PlannedEpisode
from gem.rollouts._stats import RolloutStats

pytestmark = pytest.mark.slow

LENGTH = 5
HANGS_S = 2.0  # what a step is waited for; only one that hangs takes any time


class Sampler:
    """Takes what the environment samples."""

    wants = ("sample", "solution")

    def __call__(self, request: Request) -> str:
        return request.sample or ""


def go(request: Request) -> str:
    return "go"


def played(
    policy: Any = go, env: Any = "trouble:Walk", **options: Any
) -> dict[tuple[int, int, int], Episode]:
    async def collect() -> list[Episode]:
        return [each async for each in gem.rollout(policy, env, **options)]

    return {
        (each.env_index, each.episode_index, each.repeat): each for each in asyncio.run(collect())
    }


def fingerprints(**options: Any) -> dict[tuple[int, int, int], str]:
    return {place: each.fingerprint() for place, each in played(**options).items()}


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_episodes_are_those_of_the_callers_process(backend: str) -> None:
    options = {
        "policy": Sampler(),
        "env": ["trouble:Unnamed", "trouble:Slow"],
        "wrappers": ["episode_tracking"],
        "env_kwargs": {"length": LENGTH},
        "episodes": 4,
        "repeats": 2,
        "seed": 7,
    }

    assert fingerprints(backend=backend, concurrency=5, **options) == fingerprints(**options)


def test_the_record_holds_what_the_worker_made() -> None:
    inline, process = (
        played(env_kwargs={"length": LENGTH}, wrappers=["concat"], backend=backend)[0, 0, 0]
        for backend in ("inline", "process")
    )

    assert (process.env_kwargs, process.wrappers) == (inline.env_kwargs, inline.wrappers)


@pytest.mark.parametrize(
    ("harm", "reason", "error"),
    [
        ("raise", "env_error", "RuntimeError: out of order (troubled.py, line "),
        ("crash", "worker_lost", "its worker was ended by SIGSEGV"),
        ("hang", "step_timeout", "TimeoutError: the environment did not answer within 2.0 s"),
    ],
)
def test_a_step_that_fails_costs_its_own_episode(
    harm: str, reason: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem.hosting._processes._GRACE_S", 60.0)  # none that hangs is killed

    def policy(request: Request) -> str:
        return harm if request.turn == 2 and request.task == 1 else "go"

    options: dict[str, Any] = {"env": "trouble:Tasks", "episodes": "all"}
    calm = played(**options)
    stats = RolloutStats()
    harmed = played(
        policy, backend="process", num_workers=1, step_timeout_s=HANGS_S, stats=stats, **options
    )

    [bad] = [place for place, each in harmed.items() if each.is_error]
    assert (harmed[bad].task, harmed[bad].stop_reason) == (1, reason)
    assert str(harmed[bad].error).startswith(error)
    assert len(harmed[bad].turns) == 3
    for place in calm.keys() - {bad}:
        assert harmed[place].fingerprint() == calm[place].fingerprint()
    assert stats.deadline_hits == (harm == "hang")
    assert stats.as_dict()["restarts"] == (harm == "crash")


@pytest.mark.parametrize("backend", ["inline", "thread", "process"])
def test_an_environment_that_cannot_help_is_no_error_of_its_own(
    backend: str, placed: Callable[[str, str], str]
) -> None:
    [episode] = played(Sampler(), env="trouble:Odd", backend=backend).values()

    assert (episode.stop_reason, episode.error) == (
        "policy_error",
        placed("RuntimeError: no idea", "solve"),
    )


@pytest.mark.parametrize("harm", ["crash", "hang"])
def test_help_that_ends_its_worker_is_told_as_that(harm: str) -> None:
    [episode] = played(
        Sampler(),
        env="trouble:Helpless",
        backend="process",
        env_kwargs={"then": harm},
        step_timeout_s=HANGS_S,
    ).values()

    assert episode.stop_reason == {"crash": "worker_lost", "hang": "step_timeout"}[harm]


def test_a_reset_that_fails_costs_its_own_episode() -> None:
    assert {
        each.stop_reason for each in played(env="trouble:Refusing", backend="process").values()
    } == {"env_error"}


def test_an_environment_that_cannot_be_made_is_an_error_on_its_episodes(
    placed: Callable[[str, str], str],
) -> None:
    plan = [PlannedEpisode(0, index, 0, index, None) for index in range(3)]
    episodes = played(backend="process", plan=plan, env_kwargs={"harm": "raise"})

    assert [each.stop_reason for each in episodes.values()] == ["env_error"] * 3
    assert episodes[0, 0, 0].error == placed("RuntimeError: out of order", "do_harm")


def test_an_environment_with_an_unreadable_spec_costs_its_own_episodes() -> None:
    plan = [PlannedEpisode(index, number, 0, 1, None) for number in (0, 1) for index in (1, 0)]

    episodes = played(
        env=["trouble:Walk", "trouble:Misstated"],
        plan=plan,
        backend="process",
        num_workers=1,
        max_turns=1,
    )

    assert {place[:2]: each.stop_reason for place, each in episodes.items()} == {
        (0, 0): "max_turns",
        (0, 1): "max_turns",
        (1, 0): "env_error",
        (1, 1): "env_error",
    }
    assert "blocking" in str(episodes[1, 0, 0].error)


def test_a_failed_environment_is_made_anew_for_the_next_episode() -> None:
    def policy(request: Request) -> str:
        return "raise" if request.task == 0 else "go"

    episodes = played(
        policy, env="trouble:Tasks", episodes="all", backend="process", concurrency=1, num_workers=1
    )

    assert {each.task: each.is_error for each in episodes.values()} == {0: True, 1: False, 2: False}


def test_an_answer_that_no_record_could_hold_gives_the_environment_up() -> None:
    episodes = played(env="trouble:Huge", backend="process", episodes=2, concurrency=1)

    assert [each.stop_reason for each in episodes.values()] == ["env_error"] * 2


@pytest.mark.parametrize("harm", ["hang", "deaf"])
def test_an_episode_out_of_time_is_stopped_in_its_worker(harm: str) -> None:
    def policy(request: Request) -> str:
        return harm if request.task == 0 else "go"

    episodes = played(
        policy,
        env="trouble:Tasks",
        episodes="all",
        backend="process",
        num_workers=1,
        concurrency=1,
        episode_timeout_s=3.0,
        backend_options={"start_method": "fork"},  # the first episode pays for the start
    )

    errors = {each.task: each.error for each in episodes.values()}
    assert "the episode did not end within 3.0 s" in str(errors.pop(0))
    assert errors == {1: None, 2: None}


def test_an_episode_out_of_time_while_its_environment_is_made_is_a_step_timeout() -> None:
    [episode] = played(
        env_kwargs={"harm": "hang"},
        plan=[PlannedEpisode(0, 0, 0, 1, None)],
        backend="process",
        episode_timeout_s=0.3,
    ).values()

    assert episode.stop_reason == "step_timeout"


def test_leaving_early_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts: list[ProcessHost] = []
    monkeypatch.setattr(ProcessHost, "close", _noting(hosts, ProcessHost.close))

    async def look() -> int:
        episodes = gem.rollout(
            go, "trouble:Slow", episodes=50, concurrency=8, backend="process", num_workers=2
        )
        first = await anext(episodes)
        await episodes.aclose()
        return len(first.turns)

    assert asyncio.run(look()) > 0
    assert {host.is_closed for host in hosts} == {True}


def test_a_run_that_cannot_be_planned_ends_the_workers_that_counted_its_tasks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hosts: list[ProcessHost] = []
    monkeypatch.setattr(ProcessHost, "close", _noting(hosts, ProcessHost.close))

    with pytest.raises(BadArguments, match="trouble:Walk"):
        gem.rollout(go, "trouble:Walk", episodes="all", backend="process", num_workers=1)

    assert [host.is_closed for host in hosts] == [True]


def test_a_plan_that_cannot_be_read_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts: list[ProcessHost] = []
    monkeypatch.setattr(ProcessHost, "close", _noting(hosts, ProcessHost.close))
    stats = RolloutStats()

    with pytest.raises(AttributeError, match="env_index"):
        played(plan=[(0, 0, 0, 1, None)], stats=stats, backend="process", num_workers=1)

    assert [host.is_closed for host in hosts] == [True]
    elapsed_s = stats.elapsed_s
    assert stats.elapsed_s == elapsed_s  # its clock has stopped


def _noting(hosts: list[ProcessHost], close: Callable[..., Any]) -> Callable[..., Any]:
    def noting(host: ProcessHost) -> Any:
        hosts.append(host)
        return close(host)

    return noting


def test_a_run_that_never_begins_starts_no_process() -> None:
    async def look() -> None:
        await gem.rollout(go, "trouble:Walk", backend="process").aclose()
        assert [
            each async for each in gem.rollout(go, "trouble:Walk", plan=[], backend="process")
        ] == []

    asyncio.run(look())


def test_on_threads_are_also_those_that_never_block() -> None:
    spec = gem.EnvSpec(id="trouble:Tells", target="troubled:Tells", blocking=False)
    gem.register(spec)
    names = {
        backend: played(env="trouble:Tells", backend=backend)[0, 0, 0].turns[0].observation
        for backend in ("inline", "thread")
    }

    assert names == {"inline": "MainThread", "thread": "gem-environments"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "process", "num_workers": 0}, "num_workers=0"),
        ({"backend": "inline", "num_workers": 3}, "num_workers=3"),
        ({"backend": "thread", "num_workers": 0}, "num_workers=0"),
        ({"backend": "process", "backend_options": {"speed": 9}}, "'speed'.*It takes start_method"),
        ({"backend": "inline", "backend_options": {"speed": 9}}, "'speed'.*It takes none"),
        ({"backend": "nothing"}, "'inline', 'process', .*'sync', 'thread'"),
    ],
)
def test_wrong_options_are_one_clear_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArguments, match=message):
        gem.rollout(go, "trouble:Walk", **options)


def test_what_only_this_process_has_is_refused_before_anything_runs() -> None:
    gem.register("trouble:Live", lambda: gem.make("trouble:Walk"))

    with pytest.raises(OpaqueError):
        gem.rollout(go, "trouble:Live", backend="process")


def test_a_fork_has_what_only_this_process_has() -> None:
    gem.register("trouble:Live", lambda: gem.make("trouble:Walk"))
    [episode] = played(
        env="trouble:Live", backend="process", backend_options={"start_method": "fork"}
    ).values()

    assert episode.stop_reason == "truncated"


def test_the_steps_are_made_in_other_processes() -> None:
    [episode] = played(backend="process", env_kwargs={"length": 1}).values()

    assert episode.turns[0].info["pid"] != os.getpid()


class Noted(gem.Env):
    """Notes in a file which process made it."""

    def __init__(self, *, notes: str) -> None:
        with Path(notes).open("a") as file:
            file.write(f"{os.getpid()}\n")

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Go.", {}

    def step(self, action: str) -> gem.Step:
        return gem.Step("", 1.0, True, False, {})


def test_an_environment_for_processes_is_never_made_in_the_caller(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    gem.register("trouble:Noted", Noted)

    options: dict[str, Any] = {"backend_options": {"start_method": "fork"}, "num_workers": 1}
    [episode] = played(
        env="trouble:Noted", backend="process", env_kwargs={"notes": str(notes)}, **options
    ).values()

    assert episode.error is None
    assert str(os.getpid()) not in notes.read_text().split()
