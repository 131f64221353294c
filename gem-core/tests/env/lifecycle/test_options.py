"""Options of a reset, by name or as Gymnasium gives them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments

from .envs import Dice, Started, going


def test_options_reach_a_reset_that_takes_them() -> None:
    class Choosy(Dice):
        def reset(self, seed: int | None = None, task: int | None = None) -> Started:
            return str(task), {}

    assert Wrapper(Choosy()).reset(task=4) == ("4", {})
    with pytest.raises(BadArguments, match=r"reset with colour\. It takes seed and task"):
        Choosy().reset(colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize("options", [None, {}, {"task": 4}])
def test_gymnasiums_options_are_options_by_name(options: dict[str, int] | None) -> None:
    class Choosy(Dice):
        def reset(self, seed: int | None = None, task: int | None = None) -> Started:
            return str(task), {}

    reset: Any = Wrapper(Choosy()).reset

    assert reset(options=options) == (str((options or {}).get("task")), {})
    assert asyncio.run(Choosy().areset(options=options)) == reset(options=options)


def test_gymnasiums_call_with_a_seed_is_the_call_by_names() -> None:
    class Drawing(Dice):
        def reset(self, seed: int | None = None, task: int | None = None) -> Started:
            return f"{task} {self.rng.random()}", {}

    env: Env = Wrapper(Drawing())

    assert env.reset(seed=1, options={"task": 4}) == Drawing().reset(seed=1, task=4)


def test_an_environment_that_takes_options_as_a_dict_is_given_the_dict() -> None:
    class Gymnastic(Dice):
        def reset(self, seed: int | None = None, options: Any = None) -> Started:
            return str(options), {}

    assert Gymnastic().reset(options={"task": 4}) == ("{'task': 4}", {})
    assert Wrapper(Gymnastic()).reset(options={"task": 4}) == ("{'task': 4}", {})


@pytest.mark.parametrize("options", [{"task": 4}, {"options": {"task": 4}}])
@pytest.mark.parametrize("around", [lambda env: env, Wrapper])
def test_a_reset_that_takes_any_option_is_given_each_by_its_name(
    options: dict[str, Any], around: Callable[[Env], Env]
) -> None:
    class Anything(Dice):
        def reset(self, seed: int | None = None, **options: Any) -> Started:
            return str(options), {}

    assert around(Anything()).reset(**options) == ("{'task': 4}", {})
    assert around(Anything()).reset(options=None) == ("{}", {})


def test_a_layer_that_takes_options_as_a_dict_is_given_the_dict() -> None:
    class Gymnastic(Wrapper):
        def reset(self, seed: int | None = None, options: Any = None) -> Started:
            return str(options), {}

    assert Wrapper(Gymnastic(Dice())).reset(options={"task": 4}) == ("{'task': 4}", {})


@pytest.mark.parametrize("around", [lambda env: env, Wrapper])
def test_an_option_by_its_place_is_refused(around: Callable[[Env], Env]) -> None:
    env: Any = around(Dice())

    for reset in (env.reset, lambda *given: asyncio.run(env.areset(*given))):
        with pytest.raises(BadArguments, match=r"reset was given 2 after the seed.*name each"):
            reset(None, 2)
    assert env.reset(3) == Dice().reset(seed=3)


def test_an_environment_that_waits_is_guarded_alike() -> None:
    class Awaited(Env):
        async def areset(self, seed: int | None = None, task: int | None = None) -> Started:
            return str(task), {}

        async def astep(self, action: str) -> Step:
            return going(action)

    env: Any = Awaited()

    assert env.reset(options={"task": 4}) == ("4", {})
    with pytest.raises(BadArguments, match="An action is a string"):
        env.step(5)
    assert env.step("5").observation == "5"


def test_options_that_are_no_dict_are_refused() -> None:
    reset: Any = Dice().reset

    with pytest.raises(BadArguments, match=r"options=\[1\].*Options are a dict by name"):
        reset(options=[1])
