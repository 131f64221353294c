"""The backend `process` of a vector: the same episodes, and faults that cost one each."""

from __future__ import annotations

import signal
from typing import Any

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")


import gem
from gem.errors import BadArguments, EnvUsageError, GemError, OpaqueError
from gem.vector import VectorEnv, VectorStep, make_vec
from gem.vector._base import AutoReset

pytestmark = pytest.mark.slow

LENGTH = 4


def walks(backend: str = "process", number: int = 4, **options: Any) -> VectorEnv:
    settings = {"num_workers": 2} if backend == "process" else {}
    return make_vec(
        "trouble:Walk", num_envs=number, backend=backend, seed=5, **{**settings, **options}
    )


def told(step: VectorStep) -> list[list[Any]]:
    """Return all that a step tells but the process ids."""
    infos = [dict(info) for info in step.infos]
    for info in infos:
        info.pop("pid", None)
        info.get("final_info", {}).pop("pid", None)
    return [step.observations, *(column.tolist() for column in step[1:4]), infos]


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_episodes_are_those_of_the_callers_thread(autoreset: AutoReset) -> None:
    streams = []
    for backend in ("sync", "process"):
        with walks(backend, autoreset=autoreset, length=LENGTH) as vector:
            starts = [vector.reset()[0]]
            streams.append(starts + [told(vector.step([f"{n}"] * 4)) for n in range(11)])

    assert streams[0] == streams[1]


@pytest.mark.parametrize(
    ("backend", "action", "kind"),
    [
        ("sync", 1, "int"),
        ("sync", ("on", ()), "tuple"),
        ("thread", 1, "int"),
        ("thread", ("on", ()), "tuple"),
        ("process", 1, "int"),
        ("process", ("on", ()), "tuple"),
        ("process", None, "NoneType"),
    ],
)
def test_an_action_that_is_no_text_is_refused_by_the_environment(
    backend: str, action: Any, kind: str
) -> None:
    with walks(backend, number=2, autoreset="off") as vector:
        vector.reset()
        step = vector.step(["on", action])

        assert step.infos[0].get("error") is None
        assert f"of type {kind}. An action is a string" in step.infos[1]["error"]


def test_a_spec_that_somebody_changes_is_no_other_vectors() -> None:
    with walks(number=2) as vector:
        specs: list[Any] = list(vector.specs)
        assert specs[0] is specs[1]
        specs[0].kwargs["length"] = 1
    with walks(number=1) as vector:
        [spec] = vector.specs
        assert spec is not None
        assert spec.kwargs == {}


def test_without_autoreset_an_ended_one_waits_for_its_reset() -> None:
    with walks(autoreset="off", length=1) as vector:
        vector.reset()
        assert vector.step({1: "on"}).truncated.tolist() == [True]
        with pytest.raises(EnvUsageError, match="reset"):
            vector.step({1: "on"})
        observations, _ = vector.reset(indices=[1])

        assert len(observations) == 1


def test_the_specs_are_those_of_the_environments_with_their_wrappers() -> None:
    with walks(wrappers=["episode_tracking"], length=LENGTH) as vector:
        assert (
            vector.specs
            == (gem.make("trouble:Walk", wrappers=["episode_tracking"], length=4).spec,) * 4
        )


@pytest.mark.parametrize(
    ("harm", "reason", "error"),
    [
        ("raise", "env_error", "RuntimeError: out of order (troubled.py, line "),
        ("crash", "worker_lost", "its worker was ended by SIGSEGV"),
        ("hang", "step_timeout", "TimeoutError: the environment did not answer within 2.0 s"),
    ],
)
def test_a_step_that_fails_costs_its_own_episode(harm: str, reason: str, error: str) -> None:
    with walks("sync") as calm, walks(step_timeout_s=2.0) as vector:
        calm.reset(), vector.reset()
        [expected, harmed] = (told(each.step(["go"] * 4)) for each in (calm, vector))
        assert harmed == expected
        step = vector.step(["go", harm, "go", "go"])
        others = told(calm.step(["go"] * 4))

        assert step.truncated.tolist() == [False, True, False, False]
        told_of = step.infos[1]["final_info"]
        assert (told_of["stop_reason"], list(told_of)) == (reason, ["stop_reason", "error"])
        assert told_of["error"].startswith(error)
        assert str(step.observations[1]).startswith("at ")
        for index in (0, 2, 3):
            assert [column[index] for column in told(step)] == [each[index] for each in others]


def test_a_reset_that_fails_leaves_it_to_the_next_step_to_try_again() -> None:
    with make_vec("trouble:Refusing", num_envs=2, backend="process", num_workers=1) as vector:
        observations, infos = vector.reset()
        assert observations[0] == ""
        assert infos[0]["stop_reason"] == "env_error"
        assert vector.step(["go", "go"]).infos[0]["stop_reason"] == "env_error"


def test_a_reset_that_fails_after_an_end_is_told_with_the_end() -> None:
    with make_vec("trouble:Once", backend="process", num_workers=1) as vector:
        vector.reset()
        step = vector.step(["go"])

        assert step.terminated.tolist() == [True]
        assert step.infos[0]["final_observation"] == "done"
        assert "only once" in step.infos[0]["error"]


@pytest.mark.parametrize("action", ["nan", "inf", "text"])
def test_a_reward_that_is_no_finite_number_is_a_failure(action: str) -> None:
    with make_vec("trouble:Odd", num_envs=2, backend="process", num_workers=1) as vector:
        vector.reset()
        step = vector.step(["on", action])

        assert step.rewards.tolist() == [1.0, 0.0]
        assert step.infos[1]["final_info"]["stop_reason"] == "env_error"
        assert vector.step(["on", "on"]).rewards.tolist() == [1.0, 1.0]


def test_what_is_ready_comes_without_the_slower_ones() -> None:
    with walks(step_timeout_s=30) as vector:
        vector.reset()
        vector.send({0: "hang", 1: "go"})
        assert vector.recv(min_ready=1).indices == [1]
        assert vector.recv(min_ready=1, timeout_s=0.0).indices == []

        vector.send({3: "go"})
        assert vector.recv().indices == [3]
        vector.host._close_timeout_s = 0.01  # type: ignore[attr-defined]


def test_an_environment_that_cannot_be_made_is_named() -> None:
    with pytest.raises(GemError, match=r"Environment 0, trouble:Walk, .*out of order"):
        walks(harm="raise")


def test_what_only_this_process_has_is_refused() -> None:
    gem.register("trouble:Live", lambda: gem.make("trouble:Walk"))
    with pytest.raises(OpaqueError):
        make_vec("trouble:Live", backend="process")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_workers": 0}, "num_workers=0"),
        ({"backend_options": {"start_method": "thread"}}, "'forkserver', 'spawn', 'fork'"),
        ({"backend_options": {"speed": 9}}, "'speed'.*It takes start_method"),
        ({"number": 0}, "at least one"),
    ],
)
def test_wrong_options_are_one_clear_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArguments, match=message):
        walks(**options)


def test_there_are_no_more_workers_than_environments() -> None:
    with walks(number=1, num_workers=5) as vector:
        assert len(vector.host.processes) == 1  # type: ignore[attr-defined]


def test_without_a_number_there_is_a_worker_for_each_processor() -> None:
    from gem.hosting._processes import available_cpus

    with walks(number=64, num_workers=None) as vector:
        assert len(vector.host.processes) == min(64, available_cpus())  # type: ignore[attr-defined]


@pytest.mark.parametrize("place", ["submit", "collect"])
def test_an_interrupt_loses_no_answer(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes in the middle of what must be done whole, in submit or in collect."""
    with walks("sync") as calm, walks() as vector:
        calm.reset(), vector.reset()
        pool = vector.host  # type: ignore[attr-defined]
        settle, wire = pool._settle, pool._enqueue

        def broken(*args: Any) -> None:
            monkeypatch.undo()
            signal.raise_signal(signal.SIGINT)
            (wire if place == "submit" else settle)(*args)

        monkeypatch.setattr(pool, "_enqueue" if place == "submit" else "_settle", broken)
        with pytest.raises(KeyboardInterrupt):
            vector.step(["go"] * 4)
        results = vector.recv(min_ready=4)

        order = sorted(range(4), key=results.indices.__getitem__)
        assert [results.observations[at] for at in order] == calm.step(["go"] * 4).observations
        assert told(vector.step(["on"] * 4)) == told(calm.step(["on"] * 4))
