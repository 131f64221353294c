"""The state of a stack as one: a snapshot and a fork have every layer, or are refused."""

from __future__ import annotations

from typing import Any

import pytest

from gem.env import Env
from gem.env._snapshot import Snapshot
from gem.env._wrapper import Wrapper
from gem.errors import EnvBusy, SnapshotError

from .layers import Echo, History, Limit, Loud, made


def stack() -> History:
    return History(Loud(History(Echo())))


def test_a_snapshot_holds_every_layer() -> None:
    env = stack()
    env.reset(seed=2)
    env.step("a")
    saved = Snapshot.from_json(env.snapshot().to_json())
    other = stack()
    other.restore(saved)
    assert [other.step("b"), other.step("end")] == [env.step("b"), env.step("end")]
    assert other.history == ["a", "b", "end"]
    assert other.reset() == env.reset()


def test_a_fork_is_independent_in_every_layer() -> None:
    env = stack()
    env.reset(seed=2)
    env.step("a")
    twin = env.fork()
    layers = zip(layers_of(env), layers_of(twin), strict=True)
    assert all(left is not right for left, right in layers)
    twin.step("b")
    assert (env.history, twin.history) == (["a"], ["a", "b"])
    assert (env.turn, twin.turn) == (1, 2)


def layers_of(env: Env) -> list[Env]:
    return [env, *(layers_of(env.env) if isinstance(env, Wrapper) else [])]


def test_a_fork_works_from_inside_a_hook_of_an_outer_layer() -> None:
    class Peeks(Wrapper):
        def on_action(self, action: str) -> str:
            twin = self.env.fork()
            self.seen = twin.step(action).observation
            return action

    env = Peeks(Echo())
    env.reset()
    assert env.step("a").observation == env.seen
    assert env.turn == 1


@pytest.mark.parametrize("method", ["snapshot", "fork", "restore"])
def test_a_layer_s_own_state_is_closed_inside_its_own_hooks(method: str) -> None:
    class Peeks(Wrapper):
        def on_action(self, action: str) -> str:
            arguments = () if method != "restore" else (saved,)
            with pytest.raises(EnvBusy):
                getattr(self, method)(*arguments)
            return action

    env = Peeks(Echo())
    env.reset()
    saved = env.snapshot()
    assert env.step("a").observation == "heard a"


def test_an_overridden_fork_inside_is_respected() -> None:
    class Special(Echo):
        forks = 0

        def fork(self) -> Any:
            self.forks += 1
            return super().fork()

    inner = Special()
    Wrapper(Wrapper(inner)).fork()
    assert inner.forks == 1


def test_a_layer_that_cannot_be_saved_is_refused_by_name() -> None:
    env = History(Echo(), extra=object())
    env.reset()
    for save in (env.snapshot, env.fork):
        with pytest.raises(SnapshotError, match="'extra'"):
            save()


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_bad_snapshot_of_any_layer_changes_no_layer(depth: int) -> None:
    env = History(History(Echo()))
    env.reset(seed=1)
    env.step("a")
    before, spoilt = env.snapshot(), env.fork()
    spoilt.step("b")
    layer = spoilt.snapshot()
    levels = [layer, layer.inner, layer.inner and layer.inner.inner]
    for level, snapshot in enumerate(levels):
        assert snapshot is not None
        if level == depth:
            snapshot.state["turn"] = {"$": "rng", "v": "x"}  # type: ignore[index]
    with pytest.raises(SnapshotError):
        env.restore(layer)
    assert env.snapshot() == before


def test_a_snapshot_with_fewer_layers_is_refused() -> None:
    env = Wrapper(Echo())
    with pytest.raises(SnapshotError, match="fewer layers"):
        env.restore(Echo().snapshot())


def test_a_snapshot_of_a_stack_in_another_order_is_refused() -> None:
    with pytest.raises(SnapshotError, match="with other wrappers"):
        Loud(History(made())).restore(History(Loud(made())).snapshot())


def test_a_snapshot_of_a_layer_with_other_arguments_is_refused() -> None:
    with pytest.raises(SnapshotError, match="with other wrappers"):
        Limit(made(), 3).restore(Limit(made(), 4).snapshot())
