"""A fault costs its own episode, and the environment is made anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gem
from gem.env._step import Step
from gem.errors import (
    OpaqueError,
)
from gem.hosting._in_thread import InThreadHost
from gem.specs import EnvSpec
from gem.vector import SyncVectorEnv, make_vec

from .envs import Count, Faulty, first_of, made, started


@pytest.mark.parametrize(
    ("action", "error"),
    [
        ("raise", "RuntimeError: out of order"),
        ("exit", "SystemExit: gone"),
        ("short", "TypeError: Count.step returned a tuple of 2."),
        ("nan", "ValueError: step returned the reward nan"),
        ("inf", "ValueError: step returned the reward -inf"),
        ("text", "TypeError: "),
    ],
)
def test_a_step_that_fails_costs_its_own_episode(action: str, error: str) -> None:
    vector = started(3)

    step = vector.step(["a", action, "a"])

    assert step.rewards.tolist() == [1.0, 0.0, 1.0]
    assert step.terminated.tolist() == [False, False, False]
    assert step.truncated.tolist() == [False, True, False]
    assert step.observations == ["1", first_of(1, 1), "1"]
    assert step.infos[1]["final_observation"] == ""
    assert step.infos[1]["final_info"]["stop_reason"] == "env_error"
    assert step.infos[1]["final_info"]["error"].startswith(error)
    assert vector.step(["a", "a", "a"]).observations == ["2", "1", "2"]


def test_an_environment_that_failed_is_closed_and_made_anew(faulty: type[Faulty]) -> None:
    vector = made("vec:Faulty", num_envs=2)
    vector.reset()
    vector.step(["a", "raise"])

    assert [env.closed for env in faulty.made] == [[], [1], []]
    assert isinstance(vector.host, InThreadHost)
    assert list(vector.host.local.envs.values()) == [faulty.made[0], faulty.made[2]]


@pytest.mark.parametrize("autoreset", ["next_step", "off"])
def test_without_same_step_the_failure_is_the_steps_own_info(
    autoreset: Any, placed: Callable[[str, str], str]
) -> None:
    step = started(1, autoreset=autoreset).step(["raise"])

    assert (step.observations, step.truncated.tolist()) == ([""], [True])
    assert step.infos == [
        {"stop_reason": "env_error", "error": placed("RuntimeError: out of order", "step")}
    ]


def test_off_makes_a_failed_environment_anew_at_its_reset(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", autoreset="off", seed=5)
    vector.reset()
    vector.step(["raise"])

    assert vector.reset(indices=[0])[0] == [first_of(0, 1)]
    assert len(faulty.made) == 2


def test_a_reset_that_fails_costs_its_own_episode(
    faulty: type[Faulty], placed: Callable[[str, str], str]
) -> None:
    vector = make_vec("vec:Faulty", num_envs=2, seed=5)
    faulty.reset_faults.append("no table")

    observations, infos = vector.reset()

    assert observations == ["", first_of(1, 0)]
    assert infos[0] == {
        "stop_reason": "env_error",
        "error": placed("RuntimeError: no table", "reset"),
    }
    step = vector.step(["a", "a"])
    assert step.observations == [first_of(0, 1), "1"]
    assert (step.rewards.tolist(), step.truncated.tolist()) == ([0.0, 1.0], [False, False])


def test_a_reset_that_fails_after_an_end_is_told_beside_that_end(
    faulty: type[Faulty], placed: Callable[[str, str], str]
) -> None:
    vector = make_vec("vec:Faulty", seed=5)
    vector.reset()
    vector.step(["a"])
    vector.step(["a"])
    faulty.reset_faults.extend(["still none", "no table"])

    end, later = vector.step(["a"]), vector.step(["a"])

    assert (end.terminated.tolist(), end.observations) == ([True], [""])
    assert end.infos[0]["final_observation"] == "3"
    assert end.infos[0]["error"] == placed("RuntimeError: no table", "reset")
    assert (later.truncated.tolist(), later.rewards.tolist()) == ([True], [0.0])
    assert later.infos == [
        {"stop_reason": "env_error", "error": placed("RuntimeError: still none", "reset")}
    ]
    assert vector.step(["a"]).observations == [first_of(0, 3)]


def test_one_that_cannot_be_made_anew_is_tried_again(
    faulty: type[Faulty], placed: Callable[[str, str], str]
) -> None:
    vector = make_vec("vec:Faulty", seed=5)
    vector.reset()
    faulty.make_faults.append("no memory")

    failed = vector.step(["raise"])

    assert failed.infos[0]["error"] == placed("RuntimeError: no memory", "__init__")
    assert failed.infos[0]["final_info"]["error"] == placed("RuntimeError: out of order", "step")
    assert vector.step(["a"]).observations == [first_of(0, 2)]
    assert vector.step(["a"]).observations == ["1"]


def test_one_that_cannot_be_closed_is_replaced_all_the_same(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", seed=5)
    vector.reset()
    faulty.close_faults.append("stuck")

    step = vector.step(["raise"])

    assert step.observations == [first_of(0, 1)]


def test_an_interrupt_reaches_the_caller_and_the_vector_lives_on() -> None:
    class Interrupted(Count):
        def step(self, action: str) -> Step:
            if action == "stop":
                raise KeyboardInterrupt
            return super().step(action)

    vector = SyncVectorEnv([Interrupted, Interrupted], seed=5)
    vector.reset()

    with pytest.raises(KeyboardInterrupt):
        vector.step(["a", "stop"])

    step = vector.step(["a", "a"])
    assert step.observations == ["2", first_of(1, 1)]
    assert step.truncated.tolist() == [False, True]


def test_a_live_argument_survives_being_made_anew() -> None:
    words = iter("xyz")
    layer: Callable[[Any], Any] = lambda observation: next(words)  # noqa: E731
    vector = make_vec("vec:Count", wrappers=[{"id": "transform_observation", "function": layer}])
    vector.reset()

    assert vector.step(["raise"]).observations == ["y"]
    with pytest.raises(OpaqueError):
        gem.make(vector.specs[0] or EnvSpec(id="vec:Count", target="a:b"))
