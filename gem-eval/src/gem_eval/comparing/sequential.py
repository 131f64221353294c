"""Decide while episodes come in: intervals that hold at every look, however often one looks.

The evidence is the wealth of somebody who bets against a claim (Waudby-Smith and Ramdas 2024,
Journal of the Royal Statistical Society B 86). Were the claim true, no way to bet would make money
in the mean, so that wealth ever reaches 1 / level with a chance of at most the level (Ville 1939).
Many bets are made at once with equal parts of the money, from timid to bold: none needs to know how
large the difference is. Wealth depends on which differences were seen, not on their order.

Knows nothing about episodes or policies.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Evidence"]

# The share of the money that is at stake each time.
_BETS = np.geomspace(0.01, 0.95, 32)
_PRECISION = 1e-4


class Evidence:
    """What differences between -1 and 1 prove of their mean, at any time.

    Each is of another task, and the tasks are drawn alike. `level` is the chance, over all looks
    there will ever be, that `interval` once leaves the true mean out.

    >>> evidence = Evidence(level=0.05)
    >>> for difference in [1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]:
    ...     evidence.add(difference)
    >>> evidence.is_above(0.0), evidence.is_below(0.0)
    (True, False)
    """

    def __init__(self, *, level: float = 0.05, differences: Iterable[float] = ()) -> None:
        # Half of the level for each side.
        self._proof = math.log(2.0 / level)
        self._counts: Counter[float] = Counter()
        for difference in differences:
            self.add(difference)

    def add(self, difference: float) -> None:
        """Let another difference count, from -1 to 1."""
        # Means of repeats differ by rounding, and each value that is kept costs time.
        self._counts[round(difference, 9)] += 1

    @property
    def count(self) -> int:
        """How many differences there are."""
        return self._counts.total()

    @property
    def mean(self) -> float | None:
        """The mean difference so far."""
        if not self._counts:
            return None
        return math.fsum(value * times for value, times in self._counts.items()) / self.count

    def is_above(self, claim: float) -> bool:
        """Say whether the mean is proven to be more than a claim, -1 or more."""
        values, times = self._seen()
        return self._wealth((1.0 + values) / (1.0 + claim), times) >= self._proof

    def is_below(self, claim: float) -> bool:
        """Say whether the mean is proven to be less than a claim, 1 or less."""
        values, times = self._seen()
        return self._wealth((1.0 - values) / (1.0 - claim), times) >= self._proof

    def is_within(self, tolerance: float) -> bool:
        """Say whether the mean is proven to be less than a tolerance away from 0, below 1."""
        return self.is_above(-tolerance) and self.is_below(tolerance)

    def interval(self) -> tuple[float, float]:
        """Return all means that nothing speaks against, from the least to the largest."""
        mean = self.mean
        if mean is None:
            return (-1.0, 1.0)
        # No bet against the mean that was seen can have won.
        return (
            _farthest(self.is_above, proven=-1.0, open_to_doubt=mean),
            _farthest(self.is_below, proven=1.0, open_to_doubt=mean),
        )

    def _seen(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.array(list(self._counts)), np.array(list(self._counts.values()), dtype=np.float64)

    def _wealth(self, gains: NDArray[np.float64], times: NDArray[np.float64]) -> float:
        """Return the logarithm of the wealth after bets on figures whose mean is claimed to be 1.

        A figure is never below 0, so that no bet can lose more than its stake.
        """
        factors = 1.0 - _BETS[:, None] + _BETS[:, None] * gains[None, :]
        wealths = np.log(factors) @ times
        return float(np.logaddexp.reduce(wealths) - math.log(len(_BETS)))


def _farthest(is_proven: Callable[[float], bool], *, proven: float, open_to_doubt: float) -> float:
    """Return the claim, by `_PRECISION`, up to which a claim is proven wrong."""
    while abs(open_to_doubt - proven) > _PRECISION:
        claim = (proven + open_to_doubt) / 2
        if is_proven(claim):
            proven = claim
        else:
            open_to_doubt = claim
    return proven
