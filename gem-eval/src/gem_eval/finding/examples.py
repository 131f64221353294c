"""Episodes written by hand: what a finder must find, and what it must spare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gem.content import Observation
from gem.episode import Episode, Turn

__all__ = ["Example", "example_episode", "example_turn"]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled episode. `turns` are those that a rule must find in it, none if it must spare it.

    They count from 0, and None is the episode as a whole. `label` says what the example shows.
    """

    label: str
    episode: Episode
    turns: Sequence[int | None] = ()


def example_turn(action: str, observation: Observation = "Go on.", **facts: Any) -> Turn:
    """Return a turn with an answer to what was observed; `facts` are other fields of `Turn`."""
    plain = Turn(observation, action, reward=0.0, terminated=False, truncated=False)
    return replace(plain, **facts)


def example_episode(*turns: Turn, **facts: Any) -> Episode:
    """Return a failed episode of these turns; `facts` are other fields of `Episode`.

    >>> example_episode(example_turn("7"), success=True).turns[0].action
    '7'
    """
    plain = Episode(
        env_id="demo:Example",
        env_kwargs={},
        wrappers=(),
        env_index=0,
        episode_index=0,
        repeat=0,
        seed=0,
        task=None,
        policy="example",
        turns=turns,
        final_observation="It is over.",
        total_reward=math.fsum(turn.reward for turn in turns),
        terminated=True,
        truncated=False,
        stop_reason="terminated",
        error=None,
        success=False,
        versions={},
        duration_s=0.0,
    )
    return replace(plain, **facts)
