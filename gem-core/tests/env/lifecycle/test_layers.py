"""Wrappers keep the rules of what they wrap, also those that write their own forms."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import EnvClosed, ResetNeeded

from .envs import AsyncDice, Dice, OldStyle, Started


class SuperStyle(Wrapper):
    """Calls `super()`."""

    def reset(self, seed: int | None = None, **options: Any) -> Started:
        observation, _ = super().reset(seed=seed, **options)
        return f"<{observation}>", {}

    def step(self, action: str) -> Step:
        return super().step(action)._replace(reward=7.0)


class AsyncStyle(Wrapper):
    async def areset(self, seed: int | None = None, **options: Any) -> Started:
        observation, _ = await super().areset(seed=seed, **options)
        return f"<{observation}>", {}

    async def astep(self, action: str) -> Step:
        return (await super().astep(action))._replace(reward=7.0)

    async def aclose(self) -> None:
        await super().aclose()


class Heir(SuperStyle):
    """Inherits what another layer wrote."""


@pytest.mark.parametrize("style", [OldStyle, SuperStyle, AsyncStyle, Heir])
@pytest.mark.parametrize("inner", [Dice, AsyncDice])
def test_a_wrapper_may_write_its_own_forms(style: type[Wrapper], inner: type[Env]) -> None:
    env = style(inner())
    assert env.reset(seed=4)[0] == f"<{Dice().reset(seed=4)[0]}>"
    assert env.step("a") == Step("a", 7.0, False, False, {"turn": 0})
    assert env.step("end").terminated
    with pytest.raises(ResetNeeded):
        env.step("a")
    env.close()
    assert env.unwrapped.closed == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("style", [OldStyle, SuperStyle, AsyncStyle, Heir])
def test_a_wrapper_s_own_forms_can_be_awaited(style: type[Wrapper]) -> None:
    async def play() -> None:
        env = style(Dice())
        await env.areset(seed=4)
        assert (await env.astep("a")).reward == 7.0
        await env.aclose()

    asyncio.run(play())


def test_a_layer_may_end_the_episode() -> None:
    class Impatient(Wrapper):
        def on_step(self, action: str, step: Step) -> Step:
            return step._replace(truncated=True)

    env = Impatient(Dice())
    env.reset()
    assert env.step("a").truncated
    with pytest.raises(ResetNeeded):
        env.step("a")


def test_a_layer_may_reset_what_it_wraps_inside_a_hook() -> None:
    class TwoRounds(Wrapper):
        rounds = 0

        def on_step(self, action: str, step: Step) -> Step:
            self.rounds += step.terminated
            if step.terminated and self.rounds < 2:
                self.env.reset()
                return step._replace(terminated=False)
            return step

    env = TwoRounds(Dice())
    env.reset()
    assert not env.step("end").terminated
    assert env.turn == 0
    assert env.step("end").terminated
    with pytest.raises(ResetNeeded):
        env.step("a")


def test_a_raise_in_a_hook_ends_the_episode() -> None:
    class Broken(Wrapper):
        def on_step(self, action: str, step: Step) -> Step:
            raise RuntimeError("hook")

    env = Broken(Dice())
    env.reset()
    with pytest.raises(RuntimeError, match="hook"):
        env.step("a")
    with pytest.raises(ResetNeeded):
        env.step("a")
    env.reset()


def test_a_raise_in_a_hook_that_is_awaited_ends_the_episode() -> None:
    class Broken(Wrapper):
        async def on_step(self, action: str, step: Step) -> Step:
            raise RuntimeError("hook")

    async def play() -> None:
        env = Broken(Dice())
        await env.areset()
        with pytest.raises(RuntimeError, match="hook"):
            await env.astep("a")
        with pytest.raises(ResetNeeded):
            await env.astep("a")

    asyncio.run(play())


def test_a_hook_that_closes_leaves_the_environment_closed() -> None:
    class Closes(Wrapper):
        def on_step(self, action: str, step: Step) -> Step:
            self.env.close()
            return step

    env = Closes(Dice())
    env.reset()
    assert env.step("end").terminated
    with pytest.raises(EnvClosed):
        env.reset()


def test_a_raise_in_a_reset_hook_needs_another_reset() -> None:
    class Broken(Wrapper):
        def on_reset(self, observation: Any, info: dict[str, Any]) -> Any:
            raise RuntimeError("hook")

    env = Broken(Dice())
    with pytest.raises(RuntimeError, match="hook"):
        env.reset()
    with pytest.raises(ResetNeeded):
        env.step("a")

    async def play() -> None:
        with pytest.raises(RuntimeError, match="hook"):
            await env.areset()
        with pytest.raises(ResetNeeded):
            await env.astep("a")

    asyncio.run(play())
