"""Estimates with 95% intervals, as plain functions on plain data.

Observations come in groups: the repeats of one episode (one seed) form a group, since they are
alike. Without repeats every group has one member. Knows nothing about episodes or files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "mean", "pass_at_k", "pass_at_k_of", "rate", "wilson"]

_Z95 = 1.959963984540054
_RESAMPLES = 2000
_DRAWS_AT_ONCE = 1_000_000


class Estimate(NamedTuple):
    """A value and its 95% interval. Each is None where there is too little to tell."""

    value: float | None
    ci95: tuple[float, float] | None


def rate(groups: Sequence[Sequence[bool]]) -> Estimate:
    """Estimate the share of True with Wilson's interval.

    Repeats of one seed are not independent: the interval is Wilson's at the effective number
    of observations, n divided by the design effect (Kish 1965; Dean and Pagano 2015), between
    the number of groups and n.

    >>> rate([[True]] * 8 + [[False]] * 2).value
    0.8
    """
    groups = [group for group in groups if group]
    n = sum(map(len, groups))
    if n == 0:
        return Estimate(None, None)
    share = sum(map(sum, groups)) / n
    return Estimate(share, wilson(share, n / _design_effect(groups, share, n)))


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95% score interval of a share seen in n observations (Wilson 1927).

    >>> low, high = wilson(0.8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    z2 = _Z95 * _Z95
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # At 0 and at 1 the bound is exact, and only rounding would move it.
    return (0.0 if share == 0 else centre - half, 1.0 if share == 1 else centre + half)


def mean(groups: Sequence[Sequence[float]]) -> Estimate:
    """Estimate a mean with a percentile bootstrap over whole groups, its seed fixed.

    One group alone shows no spread, so it has a value and no interval. A mean that is not
    finite has neither.
    """
    groups = [group for group in groups if group]
    if not groups:
        return Estimate(None, None)
    with np.errstate(over="ignore", invalid="ignore"):  # a huge return may sum to infinity
        sums = np.array([np.sum(group) for group in groups])
        sizes = np.array([len(group) for group in groups], dtype=np.float64)
        value = float(sums.sum() / sizes.sum())
        if not math.isfinite(value):
            return Estimate(None, None)
        if len(groups) == 1:
            return Estimate(value, None)
        low, high = np.quantile(_resampled_means(sums, sizes), [0.025, 0.975])
    is_told = math.isfinite(low) and math.isfinite(high)
    return Estimate(value, (float(low), float(high)) if is_told else None)


def pass_at_k(groups: Sequence[Sequence[bool]], k: int) -> Estimate:
    """Estimate the chance that one of k attempts succeeds (arXiv 2107.03374), a group a task.

    Groups with fewer than k attempts cannot tell and are left out. The interval is Wilson's
    over groups: figures between 0 and 1 spread no further than their all-or-nothing kin.
    """
    able = [group for group in groups if len(group) >= k]
    if not able:
        return Estimate(None, None)
    value = math.fsum(pass_at_k_of(len(group), sum(group), k) for group in able) / len(able)
    return Estimate(value, wilson(value, len(able)))


def pass_at_k_of(n: int, successes: int, k: int) -> float:
    """Return the unbiased estimate from n attempts at one task, of which some succeeded.

    >>> pass_at_k_of(4, 1, 2)
    0.5
    """
    return 1.0 - math.comb(n - successes, k) / math.comb(n, k)


def _design_effect(groups: Sequence[Sequence[bool]], share: float, n: int) -> float:
    """Return how many observations of these count as one: 1 to the mean size of a group."""
    count = len(groups)
    largest = n / count
    independent = share * (1 - share) * n
    if independent == 0 or count == 1:
        return largest
    clustered = sum((sum(group) - share * len(group)) ** 2 for group in groups)
    return min(max(clustered * count / (count - 1) / independent, 1.0), largest)


def _resampled_means(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    count = len(sums)
    at_once = max(1, _DRAWS_AT_ONCE // count)
    means = []
    for start in range(0, _RESAMPLES, at_once):
        rows = min(at_once, _RESAMPLES - start)
        drawn = rng.integers(0, count, size=(rows, count))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return np.concatenate(means)
