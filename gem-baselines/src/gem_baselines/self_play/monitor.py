"""See a collapse in numbers: play against frozen copies that falls, under a flat own reward.

Knows nothing about policies, games or how the numbers came about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["Check", "Monitor"]

_ERRORS = 2.0
"""Standard errors by which a mean has to differ before it counts as another one."""


class Check(NamedTuple):
    """What one look at a training saw.

    `score` is what the policy earned by game against the frozen copies, `reference` what the best
    copy earned against the same ones, and `fall` how much less that is, with its standard `error`.
    """

    score: float
    reference: float
    fall: float
    error: float
    is_flat: bool
    is_collapsed: bool

    @property
    def is_better(self) -> bool:
        """Whether the policy earned no less than the best copy."""
        return self.fall <= 0


class Monitor:
    """Compares a policy with the best of its frozen copies, and calls a collapse.

    In self-play a policy that unlearns is not to be seen by its own reward: in a zero-sum game the
    mean over the seats is the same whatever is played. So it is a collapse where the policy earns
    less against the frozen copies than the best copy does against the same ones, by more than
    `margin` and by two standard errors, while its reward in self-play has not risen since that copy
    was made. Where it has risen, seats have learnt to earn more together, which may cost
    them something against those who have not.

    - `margin`: in units of what a game pays.
    """

    def __init__(self, margin: float) -> None:
        self._margin = margin

    def check(
        self,
        games: Sequence[float],
        reference_games: Sequence[float],
        reward_then: Sequence[float],
        reward_now: Sequence[float],
    ) -> Check:
        """Look at one training.

        `games` and `reference_games` are what the policy and the best copy earned in each game
        against the frozen copies. The rewards are the means of updates in self-play around the
        time at which the best copy was made, and the last ones.
        """
        score = _mean(games)
        reference = _mean(reference_games)
        error = math.hypot(_error(games), _error(reference_games))
        fall = reference - score
        is_flat = not _has_risen(reward_then, reward_now)
        has_fallen = fall > self._margin and fall > _ERRORS * error
        return Check(score, reference, fall, error, is_flat, has_fallen and is_flat)


def _has_risen(then: Sequence[float], now: Sequence[float]) -> bool:
    if not then or not now:
        return False
    # Means of zero-sum games are 0 but for rounding.
    least = max(_ERRORS * math.hypot(_error(then), _error(now)), 1e-9)
    return _mean(now) - _mean(then) > least


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _error(values: Sequence[float]) -> float:
    """Return the standard error of a mean; 0 of a single value, of which nothing is known."""
    if len(values) < 2:
        return 0.0
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))
