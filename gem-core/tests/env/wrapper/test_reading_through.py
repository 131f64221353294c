"""What is read of a wrapper is that of the environment inside; what is written stays on it."""

from __future__ import annotations

from typing import Any

import pytest

from gem.env._wrapper import Wrapper

from .layers import Echo


@pytest.mark.parametrize(
    "name",
    [
        "max_turns",
        "reward_range",
        "num_tasks",
        "single_turn",
        "tools",
        "rewrites_history",
        "prompt_is_finished",
        "turn",
        "rng",
        "sample_rng",
        "public",
        "_private",
        "said",
    ],
)
def test_reading_goes_through_to_the_inner_environment(name: str) -> None:
    inner = Echo()
    inner.reset()
    env = Wrapper(Wrapper(inner))
    assert getattr(env, name) is getattr(inner, name)


def test_reading_is_live() -> None:
    inner = Echo()
    env = Wrapper(inner)
    inner.max_turns, inner.public = 20, "changed"
    assert (env.max_turns, env.public) == (20, "changed")


def test_methods_go_through() -> None:
    env = Wrapper(Echo())
    env.reset(seed=1)
    assert (env.sample_action(), env.sample_random_action(), env.solve()) == (
        "sampled",
        "sampled",
        "solved",
    )
    assert env.pick_task(2) == 2
    assert env.unwrapped is env.env


def test_writing_stays_on_the_wrapper() -> None:
    inner = Echo()
    env: Any = Wrapper(inner)
    env.max_turns = 3
    env.public = "mine"
    assert (env.max_turns, env.public) == (3, "mine")
    assert (inner.max_turns, inner.public) == (9, "read me")


def test_a_wrapper_class_may_state_its_own() -> None:
    class Short(Wrapper):
        max_turns = 2

    assert Short(Echo()).max_turns == 2
    assert Wrapper.max_turns is None


def test_what_nobody_has_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="missing"):
        Wrapper(Echo()).missing  # noqa: B018
    with pytest.raises(AttributeError, match="'Wrapper' object has no attribute '__len__'"):
        Wrapper(Echo()).__len__  # noqa: B018
    with pytest.raises(AttributeError, match="has no environment yet"):
        Wrapper.__new__(Wrapper).anything  # noqa: B018


def test_the_seed_of_the_episode_can_be_read_through_every_layer() -> None:
    env = Wrapper(Echo())
    assert env.episode_seed is None
    env.reset(seed=7)
    assert env.episode_seed == 7
