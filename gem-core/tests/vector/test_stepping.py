"""Some or all are stepped, in the order of the environments."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gem.env import Env
from gem.env._step import Step
from gem.errors import (
    BadArguments,
    ResetNeeded,
)
from gem.vector import SyncVectorEnv, VectorStep, make_vec

from .envs import started


def test_a_step_has_lists_and_arrays_in_the_order_of_the_environments() -> None:
    step = started(3).step(["a", "b", "c"])

    assert isinstance(step, VectorStep)
    assert step.observations == ["1", "1", "1"]
    assert (str(step.rewards.dtype), step.rewards.tolist()) == ("float64", [1.0, 1.0, 1.0])
    assert (str(step.terminated.dtype), step.terminated.tolist()) == ("bool", [False] * 3)
    assert (str(step.truncated.dtype), step.truncated.tolist()) == ("bool", [False] * 3)
    assert step.infos == [{"number": 1}] * 3


def test_a_dictionary_steps_some_and_keeps_its_own_order() -> None:
    vector = started(3)
    vector.step({2: "a"})

    step = vector.step({2: "a", 0: "a"})

    assert step.observations == ["2", "1"]
    assert step.rewards.shape == (2,)


def test_no_action_at_all_steps_nothing() -> None:
    step = started(2).step({})

    assert (step.observations, step.rewards.tolist(), step.infos) == ([], [], [])


def test_a_later_step_leaves_an_earlier_one_as_it_was() -> None:
    vector = started(1)
    before = vector.step(["a"])

    vector.step(["raise"])

    assert (before.rewards.tolist(), before.truncated.tolist()) == ([1.0], [False])
    assert before.infos == [{"number": 1}]


@pytest.mark.parametrize(
    ("actions", "what"),
    [
        (["a"], "1 actions for 2 environments"),
        (["a"] * 3, "3 actions for 2 environments"),
        ("ab", "one text for 2 environments"),
        ({2: "a"}, "Environment 2 was named, and there are 2, from 0 on"),
        ({-1: "a"}, "Environment -1 was named"),
        ({"0": "a"}, "An environment was named '0'. Name it by its index"),
        ({True: "a"}, "An environment was named True"),
    ],
)
def test_actions_that_fit_no_environment_are_refused_before_any_is_stepped(
    actions: Any, what: str
) -> None:
    vector = started(2)

    with pytest.raises(BadArguments, match=what):
        vector.step(actions)

    assert vector.step(["a", "a"]).observations == ["1", "1"]


def test_a_step_before_the_first_reset_is_refused() -> None:
    with make_vec("vec:Count") as vector, pytest.raises(ResetNeeded, match="before the first"):
        vector.step(["a"])


def test_environments_of_the_asynchronous_form_are_stepped_too() -> None:
    class Waiting(Env):
        async def areset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            await asyncio.sleep(0)
            return "ready", {}

        async def astep(self, action: str) -> Step:
            await asyncio.sleep(0)
            return Step(action, 1.0, False, False, {})

    with SyncVectorEnv([Waiting, Waiting]) as vector:
        assert vector.reset()[0] == ["ready", "ready"]
        assert vector.step(["a", "b"]).observations == ["a", "b"]
