"""See a collapse in numbers: a frozen copy that the policy unlearns to play, under a flat reward.

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

Results = Sequence[Sequence[float]]
"""What was earned in each game of each pairing: of one copy as the opponent, in one seat."""


class Check(NamedTuple):
    """What one look at a training saw.

    `score` is what the policy earned by game in its worst pairing with a frozen copy, `reference`
    what the best copy earned in its own worst one, and `fall` how much less the policy's is.
    """

    score: float
    reference: float
    fall: float
    is_flat: bool
    is_collapsed: bool

    @property
    def is_better(self) -> bool:
        """Whether the policy earned no less than the best copy."""
        return self.fall <= 0


class Monitor:
    """Compares a policy with the best of its frozen copies, and calls a collapse.

    In self-play a policy that unlearns is not to be seen by its own reward: in a zero-sum game the
    mean over the seats is the same whatever is played. Nor is it by the mean over frozen copies:
    a policy goes on beating the weak ones while it loses every game to one that found its mistake.
    So what counts is the worst pairing: one copy as the opponent, in one seat. It is a collapse
    where the policy earns less in its worst one than the best copy does in its own, by more than
    `margin`, while its reward in self-play has not risen since that copy was made. Where it has
    risen, seats have learnt to earn more together, which may cost them something against
    those who have not.

    - `margin`: in units of what a game pays. It has to cover what chance does to a mean of as
      many games as a pairing has.
    """

    def __init__(self, margin: float) -> None:
        self._margin = margin

    def check(
        self,
        games: Results,
        reference_games: Results,
        reward_then: Sequence[float],
        reward_now: Sequence[float],
    ) -> Check:
        """Look at one training.

        `games` and `reference_games` are what the policy and the best copy earned in each game of
        each pairing; where errors ended all of them it sees no fall. The rewards are the means of
        updates in self-play around the time at which the best copy was made, and the last ones.
        """
        score = min(map(_mean, games), default=0.0)
        reference = min(map(_mean, reference_games), default=0.0)
        fall = reference - score
        is_flat = not _has_risen(reward_then, reward_now)
        return Check(score, reference, fall, is_flat, fall > self._margin and is_flat)


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
