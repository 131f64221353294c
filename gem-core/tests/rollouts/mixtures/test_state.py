"""The state of a mixture and of its components as one, until it is closed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import gem
from gem.env import Env
from gem.env._snapshot import Snapshot
from gem.errors import EnvBusy, EnvClosed, SnapshotError
from gem.rollouts._mixtures import Mixture
from gem.testing.envs import Guess

from .envs import ECHO, GUESS, mixture


@pytest.mark.parametrize("seed", range(4))
def test_a_snapshot_continues_in_another_instance(seed: int) -> None:
    with gem.make(mixture()) as env, gem.make(mixture()) as other:
        env.reset(seed=seed)
        other.restore(Snapshot.from_json(env.snapshot().to_json()))
        action = str(env.solve())
        assert other.step(action) == env.step(action)
        assert other.reset() == env.reset()


def test_a_snapshot_before_the_first_reset_restores_too() -> None:
    with gem.make(mixture()) as env, gem.make(mixture()) as other:
        other.reset(seed=1)
        other.restore(env.snapshot())
        assert other.reset(seed=2) == env.reset(seed=2)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"state": {"chosen": 2}},
        {"state": {"chosen": "0"}},
        {"state": {"chosen": True}},
        {"inner": None},
        {"inner": Snapshot(None, {})},
    ],
)
def test_a_snapshot_that_does_not_fit_changes_nothing(spoilt: dict[str, Any]) -> None:
    with gem.make(mixture()) as env:
        env.reset(seed=1)
        saved = env.snapshot()
        state = {**saved.state, **spoilt.get("state", {})}
        inner = spoilt.get("inner", saved.inner)
        with pytest.raises(SnapshotError):
            env.restore(Snapshot(saved.spec, state, inner))
        assert env.snapshot() == saved


def test_a_fork_goes_its_own_way() -> None:
    with gem.make(mixture()) as env:
        unstarted = env.fork()
        env.reset(seed=2)
        with env.fork() as twin:
            action = str(env.solve())
            assert twin.step(action) == env.step(action)
            for seed in range(10):
                assert twin.reset(seed=seed) == env.reset(seed=seed) == unstarted.reset(seed=seed)


@pytest.mark.parametrize("name", ["snapshot", "restore", "fork"])
def test_what_is_being_stepped_is_neither_saved_nor_restored_nor_forked(name: str) -> None:
    async def play() -> None:
        env = Mixture(envs=[{"env": "test:Slow"}])  # type: ignore[list-item]
        await env.areset(seed=0)
        arguments = [env.snapshot()] if name == "restore" else []
        step = asyncio.ensure_future(env.astep("a"))
        await asyncio.sleep(0)
        with pytest.raises(EnvBusy, match=f"^{name} was called"):
            getattr(env, name)(*arguments)
        await step

    asyncio.run(play())


def test_a_component_that_does_not_fit_leaves_the_one_that_was_played() -> None:
    with gem.make(mixture()) as env:
        env.reset(seed=13)
        other = env.snapshot()
        env.reset(seed=0)
        saved = env.snapshot()
        with pytest.raises(SnapshotError):
            env.restore(Snapshot(other.spec, other.state, Snapshot(None, {})))
        assert env.snapshot() == saved


class Stuck(Guess):
    def close(self) -> None:
        raise OSError("it is stuck")


def test_a_component_that_cannot_be_made_leaves_the_one_that_was_played() -> None:
    can_be_made = True

    def guess() -> Env:
        assert can_be_made, "no more of these"
        return Guess()

    listed: list[Any] = [{"env": guess, "name": "guess"}, {"env": ECHO}]
    env = Mixture(envs=listed)
    seeds = {}
    for seed in range(20):
        env.reset(seed=seed)
        seeds[env.chosen] = seed
    env.reset(seed=seeds[0])
    other = env.snapshot()
    env.reset(seed=seeds[1])
    twin = env.fork()  # which has the component alone that is played
    saved = twin.snapshot()

    can_be_made = False
    with pytest.raises(AssertionError, match="no more"):
        twin.restore(other)

    assert twin.snapshot() == saved


@pytest.mark.parametrize("method", ["close", "aclose"])
def test_closing_closes_the_components_behind_one_that_cannot_be(method: str) -> None:
    env = Mixture(envs=[{"env": Stuck}, {"env": GUESS}])  # type: ignore[list-item]
    second = env._component(1)

    with pytest.raises(OSError, match="stuck"):
        asyncio.run(env.aclose()) if method == "aclose" else env.close()

    with pytest.raises(EnvClosed):
        second.reset()


def test_closing_closes_every_component() -> None:
    env = Mixture(envs=[{"env": GUESS}, {"env": ECHO}])  # type: ignore[list-item]
    env.reset(seed=0)
    played = env.component
    env.close()

    with pytest.raises(EnvClosed):
        played.reset()
