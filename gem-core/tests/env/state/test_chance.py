"""Chance, tasks and samples: each depends on the seed alone."""

from __future__ import annotations

import random
from typing import Any

import pytest

from gem.env import Env
from gem.env._step import Step
from gem.errors import ResetNeeded

from .envs import Cards


def test_an_environment_needs_no_init_and_is_never_seeded_by_default() -> None:
    class Careless(Cards):
        def __init__(self) -> None:
            """Forget super().__init__()."""

    env = Careless()
    env.reset()
    assert isinstance(env.rng, random.Random)
    assert env.rng is env.rng
    assert Careless().rng.random() != Careless().rng.random()


def test_a_class_shows_its_attributes() -> None:
    assert "rng" in dir(Cards)
    assert not hasattr(Cards.rng, "getrandbits")
    assert Cards.shared == ("deck",)


@pytest.mark.parametrize("look", ["sample_action", "sample_random_action", "solve"])
def test_looking_at_an_action_does_not_change_the_episode(look: str) -> None:
    looked, untouched = Cards(), Cards()
    looked.reset(seed=3)
    untouched.reset(seed=3)
    for _ in range(5):
        getattr(looked, look)()
        assert looked.step("a") == untouched.step("a")
    assert looked.snapshot() == untouched.snapshot()
    assert looked.reset() == untouched.reset()


def test_sampled_actions_depend_on_the_seed_alone() -> None:
    first, second = Cards(), Cards()
    first.reset(seed=3)
    second.reset(seed=3)
    second.step("a")
    drawn = [first.sample_action() for _ in range(3)]
    assert drawn == [second.sample_action() for _ in range(3)]
    assert len(set(drawn)) == 3
    first.reset(seed=3)
    assert first.sample_action() == drawn[0]
    first.reset(seed=4)
    assert first.sample_action() != drawn[0]


def test_an_unseeded_environment_samples_too() -> None:
    assert Cards().sample_action() != Cards().sample_action()


def test_a_stream_of_one_s_own_can_be_given_for_sampling() -> None:
    first, second = Cards(), Cards()
    first.sample_rng, second.sample_rng = random.Random(3), random.Random(3)
    assert first.sample_action() == second.sample_action()
    first.reset(seed=1)
    second.reset(seed=2)
    assert first.sample_action() != second.sample_action()


def test_what_an_environment_does_not_define_says_so() -> None:
    class Bare(Env):
        pass

    with pytest.raises(NotImplementedError, match=r"Bare defines no sample_action, .* Write one"):
        Bare().sample_action()
    with pytest.raises(NotImplementedError, match="Bare defines no sample_action"):
        Bare().sample_random_action()
    assert Bare().solve() is None
    assert Bare().unwrapped.max_turns is None


def test_a_task_is_the_one_asked_for_or_the_seed_s() -> None:
    env = Cards()
    assert [env.reset(task=task)[1]["task"] for task in range(3)] == [0, 1, 2]
    assert {env.reset(seed=seed)[1]["task"] for seed in range(30)} == {0, 1, 2}
    assert env.reset(seed=5) == Cards().reset(seed=5)


@pytest.mark.parametrize("task", [-1, 3, 10**30])
def test_a_task_outside_the_set_is_refused(task: int) -> None:
    with pytest.raises(ValueError, match=f"Task {task} was asked for, and there are 3"):
        Cards().reset(task=task)


def test_a_task_where_there_is_no_set_is_refused() -> None:
    with pytest.raises(TypeError, match="Env has no finite set of tasks"):
        Env().pick_task(None)


def test_sampling_where_no_episode_runs_is_one_clear_error() -> None:
    class Pick(Env):
        def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            self.left = ["1"]
            return "Pick.", {}

        def step(self, action: str) -> Step:
            self.left.remove(action)
            return Step("Done.", 1.0, True, False, {})

        def sample_action(self) -> str:
            return self.sample_rng.choice(self.left)

    env = Pick()
    with pytest.raises(ResetNeeded, match="sample_action was called before the first reset"):
        env.sample_random_action()
    env.reset()
    env.step(env.sample_random_action())
    with pytest.raises(ResetNeeded, match="sample_action was called after the episode ended"):
        env.sample_random_action()


def test_an_error_of_sampling_in_an_episode_is_its_own() -> None:
    class Broken(Cards):
        def sample_action(self) -> str:
            raise IndexError("none left")

    env = Broken()
    env.reset()
    with pytest.raises(IndexError, match="none left"):
        env.sample_action()
