"""Estimates with 95% intervals, as plain functions on plain data.

Observations come in groups: whatever was played on one task (or, where there are no tasks, from
one seed) forms a group, since it is alike. Knows nothing about episodes or files.

Few groups tell little, however often each was played. Rates follow Korn and Graubard (1998, Survey
Methodology 24), as Dean and Pagano (2015) recommend with Wilson's interval: the effective number of
observations takes Student's quantile at the number of groups. Means have a bootstrap whose
percentiles are corrected for skew (Efron 1987, Journal of the American Statistical Association 82)
and widened likewise (Hesterberg 2015, The American Statistician 69).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Estimate",
    "mean",
    "pass_at_k",
    "pass_at_k_bootstrap",
    "pass_at_k_of",
    "pass_hat_k",
    "pass_hat_k_bootstrap",
    "pass_hat_k_of",
    "rate",
    "student",
    "wilson",
]

_Z95 = 1.959963984540054
_RESAMPLES = 2000
_DRAWS_AT_ONCE = 1_000_000


class Estimate(NamedTuple):
    """A value and its 95% interval. Each is None where there is too little to tell."""

    value: float | None
    ci95: tuple[float, float] | None


def rate(groups: Sequence[Sequence[bool]]) -> Estimate:
    """Estimate the share of True with Wilson's interval.

    Observations of one group are not independent: the interval is Wilson's at the effective number
    of observations. It is n divided by the design effect (Kish 1965), and less where few groups
    say what the design effect is; it lies between the effective number of groups and n.

    >>> rate([[True]] * 8 + [[False]] * 2).value
    0.8
    """
    groups = [group for group in groups if group]
    n = sum(map(len, groups))
    if n == 0:
        return Estimate(None, None)
    share = sum(map(sum, groups)) / n
    return Estimate(share, wilson(share, _effective_number(groups, share, n)))


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
    """Estimate a mean with a bootstrap over whole groups, its seed fixed.

    Its percentiles are those of `_percentiles`: with few groups the interval is as wide as the
    spread of the groups, for two it is from the one to the other. One group alone shows no spread,
    so it has a value and no interval. A mean that is not finite has neither.
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
        means = _resampled_means(sums, sizes)
        if not np.isfinite(means).all():
            return Estimate(value, None)
        rest = sums - value * sizes
        low, high = np.quantile(means, _percentiles(rest, means - value))
    return Estimate(value, (float(low), float(high)))


def pass_at_k(groups: Sequence[Sequence[bool]], k: int) -> Estimate:
    """Estimate the chance that one of k attempts succeeds (arXiv 2107.03374), a group a task.

    Groups with fewer than k attempts cannot tell and are left out. The interval is Wilson's
    over groups: figures between 0 and 1 spread no further than their all-or-nothing kin.
    """
    return _wilson_over_tasks(_chances(groups, k, pass_at_k_of))


def pass_at_k_bootstrap(groups: Sequence[Sequence[bool]], k: int) -> tuple[float, float] | None:
    """Return the interval of `mean` for pass@k, whose observations are the chances of tasks.

    It is narrower than Wilson's where most tasks are neither always nor never solved, and has no
    width where all are alike: believe Wilson's then.
    """
    return mean([[chance] for chance in _chances(groups, k, pass_at_k_of)]).ci95


def pass_hat_k(groups: Sequence[Sequence[bool]], k: int) -> Estimate:
    """Estimate pass^k, the chance that all of k attempts succeed (arXiv 2406.12045).

    A group is a task. Groups with fewer than k attempts cannot tell and are left out. The interval
    is Wilson's over groups, as of pass@k.
    """
    return _wilson_over_tasks(_chances(groups, k, pass_hat_k_of))


def pass_hat_k_bootstrap(groups: Sequence[Sequence[bool]], k: int) -> tuple[float, float] | None:
    """Return the interval of `mean` for pass^k, as `pass_at_k_bootstrap` does for pass@k."""
    return mean([[chance] for chance in _chances(groups, k, pass_hat_k_of)]).ci95


def _chances(
    groups: Sequence[Sequence[bool]], k: int, of: Callable[[int, int, int], float]
) -> list[float]:
    """Return the chance of each task that has k attempts or more."""
    able = [group for group in groups if len(group) >= k]
    return [of(len(group), sum(group), k) for group in able]


def _wilson_over_tasks(chances: Sequence[float]) -> Estimate:
    if not chances:
        return Estimate(None, None)
    value = math.fsum(chances) / len(chances)
    return Estimate(value, wilson(value, len(chances)))


def pass_at_k_of(n: int, successes: int, k: int) -> float:
    """Return the unbiased estimate from n attempts at one task, of which some succeeded.

    >>> pass_at_k_of(4, 1, 2)
    0.5
    """
    return 1.0 - math.comb(n - successes, k) / math.comb(n, k)


def pass_hat_k_of(n: int, successes: int, k: int) -> float:
    """Return the unbiased estimate of pass^k from n attempts at one task.

    >>> pass_hat_k_of(4, 2, 2) == 1 / 6
    True
    """
    return math.comb(successes, k) / math.comb(n, k)


def student(freedom: int) -> float:
    """Return the 97.5% quantile of Student's distribution, from one degree of freedom on.

    >>> round(student(1), 3), round(student(60), 4)
    (12.706, 2.0003)
    """
    # Not scipy.stats, which takes three times as long to import.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))


def _effective_number(groups: Sequence[Sequence[bool]], share: float, n: int) -> float:
    """Return how many independent observations would tell as much as these."""
    count = len(groups)
    # Were all of a group equal, each group would count as one, the larger ones for more.
    least = n * n / sum(len(group) ** 2 for group in groups)
    spread = share * (1 - share) * n
    if count in (n, 1) or spread == 0:
        return least
    clustered = sum((sum(group) - share * len(group)) ** 2 for group in groups)
    design_effect = clustered * count / (count - 1) / spread
    few = (student(n - 1) / student(count - 1)) ** 2
    return min(max(n / max(design_effect, 1.0) * few, least), n)


def _percentiles(rest: NDArray[np.float64], errors: NDArray[np.float64]) -> tuple[float, float]:
    """Return the two percentiles of a bootstrap between which its interval lies.

    `rest` is what each group is beyond its share of the mean, `errors` what resampled means are
    beyond it. A bootstrap of few groups is too narrow, by the quantile it does not know and by the
    divisor of its variance (Hesterberg 2015, section 5.3). One of skewed groups lies on the wrong
    side, which its bias and its acceleration correct (Efron 1987, sections 2 and 4).
    """
    count = len(rest)
    # What is only rounding is no error, and only the size of errors to one another counts.
    scale = float(np.abs(rest).max()) / count
    if scale == 0.0:
        return (0.025, 0.975)
    errors = np.where(np.abs(errors) < 1e-9 * scale, 0.0, errors)
    below = float(np.mean(np.sign(errors) < 0) + np.mean(errors == 0.0) / 2)
    normal = NormalDist()
    bias = normal.inv_cdf(min(max(below, 1 / (2 * len(errors))), 1 - 1 / (2 * len(errors))))
    rest = rest / np.abs(rest).max()
    acceleration = float((rest**3).sum() / (6 * (rest**2).sum() ** 1.5))
    widened = math.sqrt(count / (count - 1)) * student(count - 1)

    def corrected(quantile: float) -> float:
        # Never divided by 0: the acceleration is below 1/6, and below 1/8 where there are so few
        # groups that `widened` is above 3; the bias of 2,000 resamples is below 3.5.
        moved = bias + quantile
        return normal.cdf(bias + moved / (1 - acceleration * moved))

    return (corrected(-widened), corrected(widened))


def _resampled_means(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    count = len(sums)
    at_once = max(1, _DRAWS_AT_ONCE // count)
    means = []
    for start in range(0, _RESAMPLES, at_once):
        rows = min(at_once, _RESAMPLES - start)
        places = rng.integers(0, count, size=(rows, count))
        means.append(sums[places].sum(axis=1) / sizes[places].sum(axis=1))
    return np.concatenate(means)
