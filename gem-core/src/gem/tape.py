"""The turns of an episode, kept small while it is played. Knows nothing about who plays it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from gem.content import Observation
from gem.episode import Turn
from gem.freezing import quick

__all__ = ["Tape"]

_ENDS = {"terminated": False, "truncated": False}
_quick_turn = quick(Turn)


class Tape:
    """The turns so far. What all of them have is in columns, what few have is kept apart.

    Thousands of episodes may be in flight: a `Turn` of each of their turns would take four times
    the room, and the garbage collector would visit it again and again.
    """

    __slots__ = ("_actions", "_numbers", "_observations", "_others")

    def __init__(self) -> None:
        self._observations: list[Observation] = []
        self._actions: list[str] = []
        self._numbers = array("d")  # of each turn: reward, step_s, policy_s
        self._others: dict[int, Mapping[str, Any]] = {}

    def __len__(self) -> int:
        return len(self._actions)

    def add(
        self,
        observation: Observation,
        action: str,
        numbers: tuple[float, float, float],
        others: Mapping[str, Any],
    ) -> None:
        """Add a turn: its reward, `step_s` and `policy_s`, and every field that is not as usual."""
        if others:
            self._others[len(self._actions)] = {**_ENDS, **others}
        self._observations.append(observation)
        self._actions.append(action)
        self._numbers.extend(numbers)

    @property
    def total(self) -> float:
        """The sum of the rewards."""
        return math.fsum(self._numbers[::3])

    def turns(self) -> Iterator[Turn]:
        """Make the turns."""
        rewards, steps_s, policies_s = (self._numbers[first::3] for first in range(3))
        for turn, action in enumerate(self._actions):
            yield _quick_turn(
                self._observations[turn],
                action,
                rewards[turn],
                step_s=steps_s[turn],
                policy_s=policies_s[turn],
                **self._others.get(turn, _ENDS),
            )
