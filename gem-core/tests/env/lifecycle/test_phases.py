"""What may be called when: before the first reset, in an episode, after its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")

import numpy as np

from gem.content import Message
from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments, ResetNeeded

from .envs import AsyncDice, Dice, Started


def test_a_step_before_the_first_reset_is_refused(env: Env) -> None:
    with pytest.raises(ResetNeeded, match="before the first reset"):
        env.step("a")


@pytest.mark.parametrize("last", ["end", "limit"])
def test_a_step_after_the_end_is_refused(env: Env, last: str) -> None:
    env.reset(seed=1)
    env.step(last)
    with pytest.raises(ResetNeeded, match="after the episode ended"):
        env.step("a")


def test_a_reset_starts_another_episode_at_turn_zero(env: Env) -> None:
    env.reset(seed=1)
    env.step("a")
    env.step("end")
    env.reset()
    assert env.step("a").info["turn"] == 0


def test_the_turn_counts_steps_taken(env: Env) -> None:
    env.reset(seed=1)
    assert [env.step("a").info["turn"] for _ in range(3)] == [0, 1, 2]
    assert env.turn == 3


def test_a_raise_ends_the_episode(env: Env) -> None:
    env.reset(seed=1)
    with pytest.raises(RuntimeError, match="broken"):
        env.step("raise")
    with pytest.raises(ResetNeeded, match="after the episode ended"):
        env.step("a")
    env.reset()
    assert env.step("a").observation == "a"


def test_a_raise_ends_the_episode_of_a_caller_that_awaits(env: Env) -> None:
    async def play() -> None:
        await env.areset(seed=1)
        with pytest.raises(RuntimeError, match="broken"):
            await env.astep("raise")
        with pytest.raises(ResetNeeded, match="after the episode ended"):
            await env.astep("a")
        await env.areset()
        assert (await env.astep("a")).observation == "a"

    asyncio.run(play())


def test_a_step_whose_flags_have_no_truth_ends_the_episode() -> None:
    class Odd(Dice):
        def step(self, action: str) -> Step:
            return Step("", 0.0, np.zeros(2), False, {})  # type: ignore[arg-type]

    env = Odd()
    env.reset()
    with pytest.raises(ValueError, match="truth value"):
        env.step("a")
    env.reset()


def test_a_raise_in_reset_needs_another_reset() -> None:
    class Fragile(Dice):
        fails = True

        def reset(self, seed: int | None = None) -> Started:
            if self.fails:
                raise OSError("no")
            return "", {}

    for env in (Fragile(), Wrapper(Fragile())):
        with pytest.raises(OSError, match="no"):
            env.reset()
        with pytest.raises(ResetNeeded):
            env.step("a")
        env.unwrapped.fails = False  # type: ignore[attr-defined]
        env.reset()
        env.step("a")


def test_a_raise_in_areset_needs_another_reset() -> None:
    class Fragile(AsyncDice):
        async def areset(self, seed: int | None = None) -> Started:
            raise OSError("no")

    async def play(env: Env) -> None:
        with pytest.raises(OSError, match="no"):
            await env.areset()
        with pytest.raises(ResetNeeded):
            await env.astep("a")

    asyncio.run(play(Fragile()))
    asyncio.run(play(Wrapper(Fragile())))


@pytest.mark.parametrize(
    ("result", "complaint"),
    [
        ("text", "reset returned str. It must return an observation and a dict."),
        (("text",), "reset returned a tuple of 1."),
        (["text", {}], "reset returned list."),
        (("text", None), "reset returned the info None, and it must be a dict"),
        (("text", ["oops"]), r"reset returned the info \['oops'\], and it must be a dict"),
    ],
)
def test_a_reset_of_another_shape_is_refused(result: Any, complaint: str) -> None:
    class Odd(Dice):
        def reset(self, seed: int | None = None) -> Started:
            return result  # type: ignore[no-any-return]

    with pytest.raises(TypeError, match=complaint):
        Odd().reset()


@pytest.mark.parametrize("place", [2, 3])
@pytest.mark.parametrize("flag", [{"success": False}, "no", 2, [True]])
def test_what_ends_an_episode_must_be_a_flag(place: int, flag: Any) -> None:
    fields = ["seen", 1.0, False, False, {}]
    fields[place] = flag

    class Odd(Dice):
        def step(self, action: str) -> Step:
            return Step(*fields)  # type: ignore[arg-type]

    class AsyncOdd(AsyncDice):
        async def astep(self, action: str) -> Step:
            return Step(*fields)  # type: ignore[arg-type]

    class Ends(Wrapper):
        def on_step(self, action: str, step: Step) -> Step:
            return Step(*fields)  # type: ignore[arg-type]

    name = Step._fields[place]
    for env in (Odd(), AsyncOdd(), Ends(Dice())):
        env.reset()
        with pytest.raises(TypeError, match=rf"{type(env).__name__}.step returned {name}=.* true"):
            env.step("a")
        with pytest.raises(ResetNeeded):
            env.step("a")


@pytest.mark.parametrize("flag", [1, np.True_])
def test_a_flag_of_another_library_is_one(flag: Any) -> None:
    class Odd(Dice):
        def step(self, action: str) -> Step:
            return Step("seen", 1.0, flag)

    env = Odd()
    env.reset()

    assert env.step("a").terminated == 1


def test_a_plain_tuple_becomes_a_step() -> None:
    class Plain(Dice):
        def step(self, action: str) -> Step:
            return "seen", 1, True, False, {}  # type: ignore[return-value]

    class AsyncPlain(AsyncDice):
        async def astep(self, action: str) -> Step:
            return "seen", 1, True, False, {}  # type: ignore[return-value]

    for env in (Plain(), AsyncPlain(), Wrapper(Plain())):
        env.reset()
        assert env.step("a") == Step("seen", 1, True, False, {})
        env.reset()
        assert type(env.step("a")) is Step


def test_a_step_of_another_shape_is_refused_and_ends_the_episode() -> None:
    class Four(Dice):
        def step(self, action: str) -> Step:
            return "", 0.0, False, {}  # type: ignore[return-value]

    env = Four()
    env.reset()
    with pytest.raises(TypeError, match="must return a Step, or a tuple of observation, reward"):
        env.step("a")
    with pytest.raises(ResetNeeded):
        env.step("a")


@pytest.mark.parametrize("action", [None, 5, b"x", ["a"], Message("assistant", "x")])
@pytest.mark.parametrize("around", [lambda env: env, Wrapper])
def test_an_action_that_is_no_string_is_refused_and_the_episode_goes_on(
    action: Any, around: Callable[[Env], Env]
) -> None:
    env = around(Dice())
    env.reset(seed=1)

    with pytest.raises(BadArguments, match=rf"of type {type(action).__name__}\. An action is a"):
        env.step(action)
    with pytest.raises(BadArguments, match="An action is a string"):
        asyncio.run(env.astep(action))

    assert env.turn == 0
    env.step("1")


def test_a_step_and_a_reset_leave_the_instance_dictionary_alone() -> None:
    class Watched(Dice):
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise AssertionError("vars() on the hot path")

    env = Watched()
    for _ in range(2):
        env.reset(seed=1)
        env.step("end")
    with pytest.raises(AssertionError):
        env.snapshot()
