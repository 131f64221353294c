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
    what the reference earned in its own worst one, and `fall` how much less the policy's is. `rise`
    is how much more the policy earned by game in all pairings together, and `chance` what such a
    difference may be where both play equally well.
    """

    score: float
    reference: float
    fall: float
    rise: float
    chance: float
    is_flat: bool
    is_collapsed: bool

    @property
    def is_as_good(self) -> bool:
        """Whether the policy earned no less than the reference in the worst pairing."""
        return self.fall <= 0

    @property
    def is_better(self) -> bool:
        """Whether it did, and earned more in all pairings together, by more than chance."""
        return self.is_as_good and self.rise > self.chance


class Monitor:
    """Compares a policy with one of its frozen copies, the reference, and calls a collapse.

    In self-play a policy that unlearns is not to be seen by its own reward: in a zero-sum game the
    mean over the seats is the same whatever is played. Nor is it by the mean over frozen copies:
    a policy goes on beating the weak ones while it loses every game to one that found its mistake.
    So what counts is the worst pairing: one copy as the opponent, in one seat. It is a collapse
    where the policy earns less in its worst one than the reference does in its own, by more than
    `margin`, while its reward in self-play has not risen since the best copy was made. Where it has
    risen, seats have learnt to earn more together, which may cost them something against
    those who have not.

    - `margin`: in units of what a game pays. It has to cover what chance does to a mean of as
      many games as a pairing has.

    Whoever moves the reference has to ask for `is_better`. If a policy that only seems as good
    became the reference, its fall would be forgotten, and many small ones would add up unseen.
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

        `games` and `reference_games` are what the policy and the reference earned in each game of
        each pairing; where errors ended all of them it sees no fall. The rewards are the means of
        updates in self-play around the time at which the best copy was made, and the last ones.
        """
        score = min(map(_mean, games), default=0.0)
        reference = min(map(_mean, reference_games), default=0.0)
        fall = reference - score
        rise, chance = _difference(_together(reference_games), _together(games))
        reward_rise, reward_chance = _difference(reward_then, reward_now)
        is_flat = reward_rise <= reward_chance
        is_collapsed = fall > self._margin and is_flat
        return Check(score, reference, fall, rise, chance, is_flat, is_collapsed)


def _together(results: Results) -> list[float]:
    return [earned for pairing in results for earned in pairing]


def _difference(then: Sequence[float], now: Sequence[float]) -> tuple[float, float]:
    """Return how far a mean has risen, and how far it may by chance; no rise without values."""
    if not then or not now:
        return 0.0, 0.0
    # Means of zero-sum games are 0 but for rounding.
    chance = max(_ERRORS * math.hypot(_error(then), _error(now)), 1e-9)
    return _mean(now) - _mean(then), chance


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _error(values: Sequence[float]) -> float:
    """Return the standard error of a mean; 0 of a single value, of which nothing is known."""
    if len(values) < 2:
        return 0.0
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))
