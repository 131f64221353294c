"""What pairs tell about two policies: plain functions on plain data.

A pair is one task that both have played, and its difference is that of their figures on it: the
second's less the first's, each the mean of its repeats. Pairs come in groups, as observations do
in `gem_eval.intervals`: those of one task with several seeds are alike, and any others are a group
each. Knows nothing about episodes or files.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem_eval.intervals import Estimate, mean, student

__all__ = [
    "Chance",
    "Pair",
    "alike",
    "chance_of_signs",
    "detectable_difference",
    "difference_of_means",
    "difference_of_rates",
    "holm",
    "shared_variance",
]

_RESAMPLES = 9_999
_LEAST = 2 / (_RESAMPLES + 1)  # of two sides, where no flip that was drawn is as far out
_CELLS_AT_ONCE = 4_000_000
_ROUNDING = 1e-12
_ROUNDING_OF_FIGURES = 2.0**-48  # 16 units in the last place of a float: each is rounded by less
_POWER = NormalDist().inv_cdf(0.8)


class Pair(NamedTuple):
    """The figures of two policies on one task: of rates between 0 and 1, of returns any number."""

    first: float
    second: float

    @property
    def difference(self) -> float:
        """How much larger the second's figure is."""
        return self.second - self.first


Groups = Sequence[Sequence[Pair]]


def difference_of_rates(groups: Groups) -> Estimate:
    """Estimate a difference of two rates, with a 95% interval that holds for few pairs too.

    As Bonett and Price (2012, Statistics in Medicine 31) do it, two pairs are added of which each
    policy wins one: without them the interval of pairs that all agree would have no width. Its
    variance is that of the groups, with Student's quantile.

    >>> difference_of_rates([[Pair(0, 1)]] * 6 + [[Pair(1, 1)]] * 14).value
    0.3
    """
    groups = [group for group in groups if group]
    if not groups:
        return Estimate(None, None)
    sums, sizes = _sums_of(groups)
    value = float(sums.sum() / sizes.sum())
    sums = np.append(sums, [1.0, -1.0])
    sizes = np.append(sizes, [1.0, 1.0])
    centre = sums.sum() / sizes.sum()
    half = student(len(sums) - 1) * math.sqrt(_variance_of_mean(sums, sizes))
    return Estimate(value, (float(max(-1.0, centre - half)), float(min(1.0, centre + half))))


def difference_of_means(groups: Groups) -> Estimate:
    """Estimate a difference of two means, with the interval of `intervals.mean`.

    >>> difference_of_means([[Pair(1.0, 3.0)], [Pair(1.0, 2.0)]]).value
    1.5
    """
    return mean([[pair.difference for pair in group] for group in groups])


class Chance(NamedTuple):
    """A p-value, and whether it is estimated by flips that were sampled or counted exactly."""

    value: float
    is_sampled: bool = False

    @property
    def is_bound(self) -> bool:
        """Whether no flip that was sampled is as far out: the true value is below this one."""
        return self.is_sampled and self.value <= _LEAST


def chance_of_signs(groups: Groups) -> Chance:
    """Return how often chance alone parts two equal policies as far as this or farther.

    Were they equal, each group's difference could as well have the other sign. Groups of one size
    of difference make this the exact test of McNemar (1947), by the binomial distribution; others
    are flipped in all ways where those are at most 9,999, and else sampled so often with a fixed
    seed: the least p-value is then 0.0002.

    >>> chance_of_signs([[Pair(0, 1)]] * 8 + [[Pair(1, 0)]] + [[Pair(1, 1)]] * 50).value
    0.0390625
    """
    # Heavy, and only a comparison needs it.
    from scipy import stats

    # Each group by its own figures: large ones of another task say nothing about its rounding.
    groups = [group for group in groups if _parts(group)]
    slack = _rounding_of(groups)
    if not groups or math.isinf(slack):  # of returns too large for a sum nothing is known
        return Chance(1.0)
    sums, _ = _sums_of(groups)
    if np.ptp(np.abs(sums)) <= slack:
        return Chance(float(stats.binomtest(int(np.sum(sums > 0)), len(sums)).pvalue))
    observed = float(sums.sum())

    def total(flipped: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        # A flip that ties with what was seen is as far out, and rounding may part the two: two
        # thirds less a third less a third need not be 0. The sums alone cannot be rounded instead,
        # for what is rounded to so many digits no longer adds up either.
        totals = flipped.sum(axis=axis)
        tied: NDArray[np.float64] = np.where(np.abs(totals - observed) <= slack, observed, totals)
        return tied

    test = stats.permutation_test(
        (sums,),
        total,
        permutation_type="samples",
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=max(1, _CELLS_AT_ONCE // len(sums)),
        rng=np.random.default_rng(0),
    )
    return Chance(float(min(1.0, test.pvalue)), is_sampled=2 ** len(sums) > _RESAMPLES)


def detectable_difference(groups: Groups) -> float | None:
    """Return the least true difference that as many such pairs would find 4 times of 5.

    Found means that a test at 5% tells it from none. It is None where fewer than two groups tell
    nothing of their spread, or no group differs at all.
    """
    groups = [group for group in groups if group]
    if len(groups) < 2:
        return None
    sums, sizes = _sums_of(groups)
    variance = _variance_of_mean(sums, sizes)
    if variance == 0.0:
        return None
    return float((student(len(groups) - 1) + _POWER) * math.sqrt(variance))


class SharedVariance(NamedTuple):
    """What playing the same tasks was worth.

    `correlation` is that of the two figures over tasks. `saved` is the share of the difference's
    variance that is gone because both played the same tasks: at 0.75 unpaired runs would need four
    times the episodes.
    """

    correlation: float
    saved: float


def shared_variance(groups: Groups) -> SharedVariance | None:
    """Say what pairing saved, or None where the figures of one of them do not vary."""
    pairs = [pair for group in groups for pair in group]
    if len(pairs) < 2:
        return None
    first = np.array([pair.first for pair in pairs])
    second = np.array([pair.second for pair in pairs])
    if np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return None
    apart = first.var() + second.var()
    return SharedVariance(
        correlation=float(np.corrcoef(first, second)[0, 1]),
        saved=float(1.0 - (second - first).var() / apart),
    )


def holm(chances: Sequence[float]) -> list[float]:
    """Correct p-values for how many they are, in the order given (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [1.0] * len(chances)
    largest = 0.0
    ranked = sorted(range(len(chances)), key=lambda place: chances[place])
    for rank, place in enumerate(ranked):
        # A larger p-value is never corrected to a smaller one.
        largest = max(largest, min(1.0, chances[place] * (len(chances) - rank)))
        corrected[place] = largest
    return corrected


def alike(chances: Mapping[tuple[str, str], float], level: float = 0.05) -> list[list[str]]:
    """Return the largest groups of names of which no two can be told apart.

    `chances` has the corrected p-value of each two names, each two once. Names keep the order in
    which they come first there. A name that can be told from every other is a group of its own.
    """
    names = list(dict.fromkeys(name for both in chances for name in both))
    friends: dict[str, set[str]] = {name: set() for name in names}
    for (one, other), chance in chances.items():
        if chance > level:
            friends[one].add(other)
            friends[other].add(one)
    groups = [
        sorted(group, key=names.index) for group in _cliques(set(), set(names), set(), friends)
    ]
    return sorted(groups, key=lambda group: [names.index(name) for name in group])


def _cliques(
    chosen: set[str], open_: set[str], left: set[str], friends: Mapping[str, set[str]]
) -> Iterator[set[str]]:
    """Yield every maximal clique that has all chosen (Bron and Kerbosch 1973, with a pivot).

    `open_` may join it still; `left` could too, and the cliques with those are yielded already.
    """
    if not open_ and not left:
        yield chosen
        return
    pivot = max(open_ | left, key=lambda name: len(friends[name] & open_))
    for name in open_ - friends[pivot]:
        yield from _cliques(chosen | {name}, open_ & friends[name], left & friends[name], friends)
        open_ = open_ - {name}
        left = left | {name}


def _parts(group: Sequence[Pair]) -> bool:
    """Say whether the differences of a group come to more than rounding."""
    return abs(math.fsum(pair.difference for pair in group)) > _rounding_of([group])


def _rounding_of(groups: Groups) -> float:
    """Return what two sums of differences may be apart by, and yet be equal but for rounding.

    It grows with the figures, since their digits do, and is never below what returns near 1 need,
    whose rewards may cancel out to what is only rounding.
    """
    # Not by fsum, which raises where huge returns sum to infinity: nothing is known of those.
    size = sum(abs(figure) for group in groups for pair in group for figure in pair)
    return max(_ROUNDING, _ROUNDING_OF_FIGURES * size)


def _sums_of(groups: Groups) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each group's sum of differences, and its size."""
    sums = np.array([math.fsum(pair.difference for pair in group) for group in groups])
    return sums, np.array([len(group) for group in groups], dtype=np.float64)


def _variance_of_mean(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    """Return the variance of the mean over all pairs, where those of a group are alike."""
    count = len(sums)
    rest = sums - sizes * (sums.sum() / sizes.sum())
    return float((rest**2).sum() * count / (count - 1) / sizes.sum() ** 2)
