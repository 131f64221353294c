"""An environment is closed once, and takes no calls from then on."""

from __future__ import annotations

import asyncio

import pytest

from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import EnvClosed

from .envs import AsyncDice, Dice, going


def test_only_the_first_close_counts(env: Env) -> None:
    env.close()
    env.close()
    assert env.unwrapped.closed == 1  # type: ignore[attr-defined]


def test_only_the_first_aclose_counts(env: Env) -> None:
    async def close_twice() -> None:
        await env.aclose()
        await env.aclose()

    asyncio.run(close_twice())
    env.close()
    assert env.unwrapped.closed == 1  # type: ignore[attr-defined]


def test_a_closed_environment_takes_no_calls(env: Env) -> None:
    env.reset()
    snapshot = env.snapshot()
    env.close()
    with pytest.raises(EnvClosed):
        env.step("a")
    with pytest.raises(EnvClosed):
        env.reset()
    with pytest.raises(EnvClosed):
        env.snapshot()
    with pytest.raises(EnvClosed):
        env.restore(snapshot)
    with pytest.raises(EnvClosed):
        env.fork()


def test_with_closes(env: Env) -> None:
    with env as entered:
        assert entered is env
    with pytest.raises(EnvClosed):
        env.reset()


def test_a_subclass_and_its_base_both_close() -> None:
    class Base(Dice):
        def close(self) -> None:
            self.order = ["base"]

    class Sub(Base):
        def close(self) -> None:
            super().close()
            self.order.append("sub")

    class AsyncSub(AsyncDice):
        async def aclose(self) -> None:
            await super().aclose()
            self.closed += 10

    env = Sub()
    env.close()
    assert env.order == ["base", "sub"]
    waits = AsyncSub()
    waits.close()
    assert waits.closed == 11


def test_a_layer_that_forgets_to_close_what_it_wraps_still_does() -> None:
    class Forgetful(Wrapper):
        def close(self) -> None:
            raise OSError("own file")

    class AsyncForgetful(Wrapper):
        async def aclose(self) -> None:
            """Do nothing."""

    inner = Dice()
    with pytest.raises(OSError, match="own file"):
        Forgetful(inner).close()
    assert inner.closed == 1
    inner = Dice()
    asyncio.run(AsyncForgetful(inner).aclose())
    assert inner.closed == 1


def test_a_close_from_inside_a_step_is_final() -> None:
    class Quitter(Dice):
        def step(self, action: str) -> Step:
            self.close()
            return going()

    class AsyncQuitter(AsyncDice):
        async def astep(self, action: str) -> Step:
            await self.aclose()
            if action == "raise":
                raise OSError
            return going()

    for action in ("a", "raise"):
        for env in (Quitter(), AsyncQuitter()):
            env.reset()
            try:
                env.step(action)
            except OSError:
                assert action == "raise"
            with pytest.raises(EnvClosed):
                env.step("a")
