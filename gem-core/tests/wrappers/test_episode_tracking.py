"""`episode_tracking`: return and length, in info."""

from __future__ import annotations

from collections.abc import Callable

from gem.env import Env
from gem.wrappers._episode_tracking import EpisodeTracking

MakeEnv = Callable[..., Env]


def test_info_has_the_return_and_the_length_so_far(say: MakeEnv) -> None:
    env = EpisodeTracking(say())
    env.reset()

    assert env.step("a").info["episode"] == {"return": 1.0, "length": 1}
    assert env.step("b").info["episode"] == {"return": 2.0, "length": 2}


def test_a_reset_counts_from_nothing(say: MakeEnv) -> None:
    env = EpisodeTracking(say())
    env.reset()
    env.step("a")

    assert env.reset()[1]["episode"] == {"return": 0.0, "length": 0}


def test_the_environments_own_info_stays_and_its_dictionary_is_not_changed(say: MakeEnv) -> None:
    inner = say()
    env = EpisodeTracking(inner)

    _, info = env.reset()

    assert info["suffix"] == "s0"
    assert "episode" not in inner.reset()[1]


def test_a_fork_counts_on_alone(say: MakeEnv) -> None:
    env = EpisodeTracking(say())
    env.reset()
    env.step("a")
    env.fork().step("b")

    assert env.step("b").info["episode"]["length"] == 2
