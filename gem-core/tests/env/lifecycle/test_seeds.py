"""A seed fixes an episode, through every layer and every way to write a reset."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gem.env import Env
from gem.env._lifecycle._seeds import reseed
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments

from .envs import AsyncDice, Dice, OldStyle, Started, over


class Forgets(Wrapper):
    """Its reset takes a seed and does not hand it on."""

    def reset(self, seed: int | None = None) -> Started:
        return self.env.reset()  # type: ignore[return-value]


class Seedless(Wrapper):
    """Its reset takes no seed at all."""

    def reset(self) -> Started:  # type: ignore[override]
        return self.env.reset()  # type: ignore[return-value]


class AsyncSeedless(Wrapper):
    async def areset(self) -> Started:  # type: ignore[override]
        return await self.env.areset()  # type: ignore[return-value]


@pytest.mark.parametrize("style", [Wrapper, OldStyle, Forgets, Seedless, AsyncSeedless])
def test_a_seed_reaches_the_base_through_every_layer(style: type[Wrapper]) -> None:
    env = style(Wrapper(Dice()))
    expected = Dice().reset(seed=9)[0]
    assert env.reset(seed=9)[0].strip("<>") == expected  # type: ignore[union-attr]
    assert env.reset()[0].strip("<>") != expected  # type: ignore[union-attr]
    assert asyncio.run(env.areset(seed=9))[0].strip("<>") == expected  # type: ignore[union-attr]


class Lazy(Wrapper):
    """Its reset leaves what it wraps alone."""

    def reset(self, seed: int | None = None) -> Started:
        return "", {}


class AsyncLazy(Wrapper):
    async def areset(self, seed: int | None = None) -> Started:
        return "", {}


@pytest.mark.parametrize("style", [Lazy, AsyncLazy])
def test_a_seed_that_no_layer_used_is_not_used_later(style: type[Wrapper]) -> None:
    inner = Dice()
    inner.reset(seed=1)
    expected = inner.fork().reset()
    style(inner).reset(seed=5)
    assert inner.reset() == expected


def test_the_first_seed_waits_for_the_first_reset_and_serves_once() -> None:
    inner = Dice()
    inner._first_seed = 5
    Lazy(inner).reset()
    assert inner.reset() == Dice().reset(seed=5)
    assert inner.reset() != Dice().reset(seed=5)


def test_a_reset_is_given_the_seed_that_it_takes() -> None:
    class Named(Dice):
        def reset(self, seed: int | None = None) -> Started:
            return str(seed), {}

    class Optional(Dice):
        def reset(self, **options: Any) -> Started:  # type: ignore[override]
            return str(options), {}

    assert Named().reset(seed=3)[0] == Named().reset(3)[0] == "3"
    assert Optional().reset(seed=3, task=4)[0] == "{'seed': 3, 'task': 4}"


def test_a_seed_that_a_subclass_hands_on_is_checked_too() -> None:
    class Careless(Env):
        def reset(self, seed: int | None = None) -> Started:
            return super().reset(seed="text")  # type: ignore[arg-type,return-value]

    with pytest.raises(BadArguments, match="A seed is an int"):
        Careless().reset(seed=3)


@pytest.mark.parametrize("wrap", [lambda env: env, Wrapper])
@given(seed=st.integers())
def test_any_int_is_a_seed(wrap: Any, seed: int) -> None:
    assert wrap(Dice()).reset(seed=seed) == wrap(Dice()).reset(seed=seed)


def test_seeds_of_every_size_and_sign_differ() -> None:
    seeds = [0, 1, -1, 2**64, -(2**64), 10**5000, 10**5000 + 1]
    assert len({Dice().reset(seed=seed)[0] for seed in seeds}) == len(seeds)


@pytest.mark.parametrize("seed", [np.int64(5), np.uint8(5), np.int32(5)])
def test_an_integer_of_numpy_is_the_same_seed(seed: Any) -> None:
    assert Dice().reset(seed=seed) == Dice().reset(seed=5)


@pytest.mark.parametrize("seed", [True, np.True_, "5", 5.0, b"5", [5], np.zeros(2, int)])
@pytest.mark.parametrize("wrap", [lambda env: env, Wrapper])
def test_anything_else_is_refused_and_the_episode_goes_on(wrap: Any, seed: Any) -> None:
    env: Env = wrap(Dice())
    env.reset(seed=1)
    with pytest.raises(BadArguments, match="A seed is an int"):
        env.reset(seed=seed)
    env.step("a")
    with pytest.raises(BadArguments):
        asyncio.run(env.areset(seed=seed))
    env.step("a")


def test_a_seed_may_be_given_by_position() -> None:
    assert Dice().reset(6) == Dice().reset(seed=6)
    assert Wrapper(Dice()).reset(6) == Dice().reset(seed=6)


def test_a_reset_without_a_seed_continues_the_stream() -> None:
    first, second = Dice(), Dice()
    assert [first.reset(seed=2), first.reset(), first.reset()] == [
        second.reset(seed=2),
        second.reset(),
        second.reset(),
    ]
    assert len({first.reset(seed=2)[0], first.reset()[0], first.reset()[0]}) == 3


def test_a_reset_that_takes_no_seed_is_seeded_all_the_same() -> None:
    class Seedless(Dice):
        def reset(self) -> Started:  # type: ignore[override]
            return str(self.rng.random()), {}

    class AsyncSeedless(AsyncDice):
        async def areset(self) -> Started:  # type: ignore[override]
            return str(self.rng.random()), {}

    expected = Dice().reset(seed=8)
    assert Seedless().reset(seed=8) == AsyncSeedless().reset(seed=8) == expected  # type: ignore[call-arg]


def test_super_reset_works_for_a_plain_subclass() -> None:
    class Polite(Env):
        def reset(self, seed: int | None = None) -> Started:
            super().reset(seed=seed)
            return str(self.rng.random()), {}

        def step(self, action: str) -> Step:
            return over()

    class AsyncPolite(Env):
        async def areset(self, seed: int | None = None) -> Started:
            await super().areset(seed=seed)
            return str(self.rng.random()), {}

    class Heir(Polite):
        def reset(self, seed: int | None = None) -> Started:
            observation, _ = super().reset(seed=seed)
            return observation, {"heir": True}

    class AsyncHeir(AsyncPolite):
        async def areset(self, seed: int | None = None) -> Started:
            observation, _ = await super().areset(seed=seed)
            return observation, {"heir": True}

    expected = Dice().reset(seed=3)[0]
    for cls in (Polite, AsyncPolite, Heir, AsyncHeir):
        env = cls()
        assert env.reset(seed=3)[0] == expected
        assert env.reset()[0] != expected


def test_no_global_chance_is_read_or_written() -> None:
    random.seed(1)
    before = random.getstate()
    env = Dice()
    first = env.reset(seed=1)
    assert random.getstate() == before
    random.seed(2)
    assert env.reset(seed=1) == first


def test_reseed_without_a_seed_leaves_the_stream_running() -> None:
    env = Dice()
    reseed(env, 3)
    first = env.rng.random()
    reseed(env, None)
    assert env.rng.random() != first
