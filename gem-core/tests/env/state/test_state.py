"""Snapshot, restore and fork: the same episode goes on, here and in another process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.env import Env
from gem.env._snapshot import Snapshot, encode
from gem.env._step import Step
from gem.errors import ResetNeeded, SnapshotError
from gem.specs import EnvSpec

from .envs import Cards, Started, play


@given(seed=st.integers(), before=st.integers(0, 8))
def test_a_restored_environment_continues_in_the_same_way(seed: int, before: int) -> None:
    env = Cards()
    env.reset(seed=seed)
    play_on(env, before)
    saved = Snapshot.from_json(env.snapshot().to_json())
    other = Cards()
    other.deck = env.deck
    other.restore(saved)
    assert play_on(other, 10) == play_on(env, 10)
    assert other.snapshot() == env.snapshot()
    assert other.reset() == env.reset()


def play_on(env: Env, steps: int) -> list[Any]:
    """Play so many steps, episode after episode."""
    played: list[Any] = []
    for _ in range(steps):
        step = env.step("a")
        played.append((step, env.turn))
        if step.terminated or step.truncated:
            played.append(env.reset())
    return played


def test_an_environment_goes_back_to_its_own_snapshot() -> None:
    env = Cards()
    env.reset(seed=1)
    saved = env.snapshot()
    first = play(env)
    env.sample_action()
    env.extra = [1]
    env.restore(saved)
    assert not hasattr(env, "extra")
    assert env.turn == 0
    assert play(env) == first


def test_a_snapshot_before_the_first_reset_keeps_the_first_seed() -> None:
    env = Cards()
    env._first_seed = 6
    other = Cards()
    other.restore(env.snapshot())
    assert other.reset() == Cards().reset(seed=6)


def test_a_restored_environment_samples_from_its_seed_s_stream() -> None:
    env, other = Cards(), Cards()
    env.reset(seed=1)
    saved, sampled = env.snapshot(), env.sample_action()
    other.reset(seed=2)
    other.sample_action()
    other.restore(saved)
    assert other.sample_action() == sampled


def test_a_fork_is_independent_and_shares_what_is_shared() -> None:
    env = Cards()
    env.reset(seed=1)
    env.step("a")
    twin = env.fork()
    assert twin.deck is env.deck
    assert twin.hand is not env.hand
    assert play(twin) == play(env)
    twin.step("a")
    assert len(twin.hand) == len(env.hand) + 1
    assert twin.rng is not env.rng


def test_a_fork_needs_no_spec_and_keeps_it_where_there_is_one() -> None:
    env = Cards()
    env.reset(seed=1)
    assert env.fork().spec is None
    env.spec = EnvSpec(id="demo:Cards", target="a:b")
    assert env.fork().spec is env.spec


def test_spawn_is_fork_by_its_older_name() -> None:
    env = Cards()
    env.reset(seed=1)
    assert play(env.spawn()) == play(env)


def test_spawn_without_the_state_starts_unseeded() -> None:
    env = Cards()
    env.reset(seed=1)
    twin = env.spawn(same_state=False)
    assert twin.sample_action() != env.sample_action()
    with pytest.raises(ResetNeeded, match="before the first reset"):
        twin.step("a")
    assert twin.rng.getstate() != env.rng.getstate()
    twin.reset()


def test_an_overridden_snapshot_is_what_fork_uses() -> None:
    class Counter(Env):
        shared = ("handle",)

        def __init__(self) -> None:
            self.handle = object()
            self.count = 0

        def snapshot(self) -> Snapshot:
            saved = super().snapshot()
            return Snapshot(saved.spec, {**saved.state, "handle": "opened"})

        def restore(self, snapshot: Snapshot) -> None:
            state = dict(snapshot.state)
            opened = state.pop("handle")
            super().restore(Snapshot(snapshot.spec, state))
            self.handle = opened

    twin = Counter().fork()
    assert (twin.handle, twin.count) == ("opened", 0)


def test_slots_are_saved_as_well() -> None:
    class Slotted(Env):
        __slots__ = ("__secret", "board", "unset")

        def reset(self, seed: int | None = None) -> Started:
            self.board = [1]
            self.__secret = 7
            return "", {}

        def secret(self) -> int:
            return self.__secret

    class Heir(Slotted):
        __slots__ = ("more",)
        more: set[int]

    env = Heir()
    env.reset()
    env.more = {1, 2}
    twin = env.fork()
    assert (twin.board, twin.secret(), twin.more) == ([1], 7, {1, 2})
    assert twin.board is not env.board
    fresh = Heir()
    fresh.more = {3}
    fresh.restore(Snapshot.from_json(env.snapshot().to_json()))
    assert (fresh.board, fresh.more) == ([1], {1, 2})
    assert not hasattr(fresh, "unset")


def test_a_slot_that_cannot_be_saved_is_refused_unless_it_is_shared() -> None:
    class Slotted(Env):
        __slots__ = ("handle",)
        handle: object

    class Shares(Slotted):
        shared = ("handle",)

    env = Slotted()
    env.handle = object()
    with pytest.raises(SnapshotError, match="'handle'"):
        env.fork()
    shares = Shares()
    shares.handle = object()
    assert shares.fork().handle is shares.handle
    assert not hasattr(Shares().fork(), "handle")


def test_an_attribute_that_cannot_be_saved_is_refused_by_name() -> None:
    env = Cards()
    env.reset()
    env.extra = open
    for save in (env.snapshot, env.fork):
        with pytest.raises(SnapshotError, match="Cannot save attribute 'extra'") as caught:
            save()
        assert caught.value.attribute == "extra"


SPEC = EnvSpec(id="demo:Cards", target="a:b", kwargs={"n": (1, 2)})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"id": "demo:Other"}, "with other id than"),
        ({"kwargs": {"n": [1, 3]}}, "with other kwargs than"),
        ({"wrappers": [{"id": "w", "kwargs": {}}]}, "with other wrappers than"),
    ],
)
def test_a_snapshot_of_another_environment_is_refused(
    changes: dict[str, Any], complaint: str
) -> None:
    env, other = Cards(), Cards()
    env.spec = SPEC
    other.spec = EnvSpec.model_validate({**SPEC.model_dump(), **changes})
    other.reset(seed=1)
    with pytest.raises(SnapshotError, match=complaint):
        env.restore(other.snapshot())


def test_a_spec_is_compared_after_it_went_through_text() -> None:
    env = Cards()
    env.spec = SPEC
    env.reset(seed=1)
    env.restore(Snapshot.from_json(env.snapshot().to_json()))
    env.spec = SPEC.model_copy(update={"summary": "Another wording."})
    saved = env.snapshot()
    assert saved.spec is not None
    assert saved.spec["summary"] == "Another wording."
    env.restore(saved)


def test_made_by_hand_and_made_from_a_spec_do_not_mix() -> None:
    by_hand, made = Cards(), Cards()
    made.spec = SPEC
    with pytest.raises(SnapshotError, match="of one made by hand, and this environment is 'demo"):
        made.restore(by_hand.snapshot())
    with pytest.raises(SnapshotError, match="of 'demo:Cards', and this environment is one made"):
        by_hand.restore(made.snapshot())
    with pytest.raises(SnapshotError, match="with other id"):
        made.restore(Snapshot({}, {}))


class Strict(Cards):
    name = "cards"

    @property
    def read_only(self) -> int:
        return 1

    @classmethod
    def build(cls) -> None: ...


@pytest.mark.parametrize(
    "state",
    [
        {"hand": {"$": "unknown", "v": 1}},
        {"$": "tuple", "v": [{"$": "rng", "v": "x"}]},
        {"rng": 5},
        {"turn": "one"},
        {"turn": True},
        {"_phase": 2},
        {"_phase": 4},
        {"_phase": "over"},
        {"_first_seed": "x"},
        {"_episode_seed": 1.5},
        {"step": "not a method"},
        {"build": 1},
        {"read_only": 1},
        {"__class__": 1},
        {"__dict__": {}},
        {"_spec_json": None},
        {"spec": None},
        {"deck": [1]},
        {"hand": [1], "task": 2, "read_only": 5},
    ],
    ids=str,
)
def test_a_hostile_state_is_refused_and_nothing_changes(state: dict[str, Any]) -> None:
    env = Strict()
    env.reset(seed=1)
    env.step("a")
    before, twin = env.snapshot(), env.fork()
    hostile = {**before.state, "hand": [9], **state, "zzz": 1}
    with pytest.raises(SnapshotError):
        env.restore(Snapshot(None, hostile))
    assert env.snapshot() == before
    assert not hasattr(env, "zzz")
    assert play(env) == play(twin)


class MuteError(ValueError):
    """An error whose own text fails."""

    def __str__(self) -> str:
        raise RuntimeError


class Choosy(Cards):
    """Takes no attribute of this name, and cannot say why."""

    def _refuse(self, value: object) -> None:
        raise MuteError

    odd = property(None, _refuse)


def test_a_state_that_is_refused_without_a_text_is_refused_all_the_same() -> None:
    with pytest.raises(SnapshotError, match=r"MuteError: \(its text cannot be shown"):
        Choosy().restore(Snapshot(None, encode([("odd", 1)])))


def test_a_class_attribute_may_be_restored_over() -> None:
    env = Strict()
    env.name = "other"
    assert env.fork().name == "other"


def test_a_state_without_a_phase_needs_a_reset() -> None:
    env = Cards()
    env.reset(seed=1)
    env.restore(Snapshot(None, encode([("hand", [])])))
    assert env.hand == []
    assert not hasattr(env, "task")
    env.reset(seed=1)
    assert play(env) == play(fresh(1))


def fresh(seed: int) -> Cards:
    env = Cards()
    env.reset(seed=seed)
    return env


def test_another_process_continues_in_the_same_way() -> None:
    env = fresh(11)
    env.step("a")
    text = env.snapshot().to_json()
    program = """
import sys
from envs import Cards, play
from gem.env._snapshot import Snapshot
env = Cards()
env.deck = tuple(range(52))
env.restore(Snapshot.from_json(sys.stdin.read()))
print(play(env, 8))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=Path(__file__).parent,  # `-c` looks for modules where it runs
    )
    assert done.stdout.strip() == repr(play(env, 8))


def test_an_asynchronous_environment_is_saved_too() -> None:
    class Waits(Env):
        async def areset(self, seed: int | None = None) -> Started:
            await asyncio.sleep(0)
            return "", {}

        async def astep(self, action: str) -> Step:
            return Step(str(self.rng.random()), 0.0, False, False, {})

    env = Waits()
    env.reset(seed=1)
    saved, first = env.snapshot(), env.step("a")
    env.restore(saved)
    assert env.step("a") == first
