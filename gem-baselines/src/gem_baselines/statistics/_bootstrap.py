"""The stratified bootstrap: how far an estimate could be off, from resamples of the runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem.errors import BadArguments
from gem_baselines.statistics._estimates import Scores, checked

__all__ = ["Interval", "bootstrap_interval"]

Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """The ends of an interval: a number each, or an array where the estimate is one."""

    low: Floats
    high: Floats


def bootstrap_interval(
    estimate: Callable[..., Floats],
    *scores: Scores,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Return the percentile interval of an estimate, by a bootstrap that is stratified by tasks.

    In each resample the runs of each task are drawn anew, with replacement and as many as there
    are, and `estimate` is called with all resamples at once: it takes as many lists of scores as
    are given here, of shape (resamples, runs). What is drawn is fixed by `seed`. A single run of a
    task has no spread, and the interval is then too narrow. Raises BadArguments.

    >>> from gem_baselines.statistics import interquartile_mean
    >>> low, high = bootstrap_interval(interquartile_mean, [[0.0, 0.1, 0.9, 1.0]])
    >>> bool(0.0 <= low < high <= 1.0)
    True
    """
    if resamples < 1 or not 0 < confidence < 1:
        raise BadArguments(
            f"A bootstrap of {resamples} resamples at confidence {confidence} was asked for. Take "
            "at least one resample, and a confidence between 0 and 1.",
            subject="bootstrap",
        )
    rng = np.random.default_rng(seed)
    drawn = [[_resampled(own, resamples, rng) for own in checked(each)] for each in scores]
    estimates = estimate(*drawn)
    beyond = 50 * (1 - confidence)  # per cent, at either end
    low, high = np.percentile(estimates, [beyond, 100 - beyond], axis=0)
    return Interval(np.asarray(low, np.float64), np.asarray(high, np.float64))


def _resampled(runs: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Return resamples of the runs of one task, shape (resamples, runs)."""
    places = rng.integers(len(runs), size=(resamples, len(runs)))
    return np.asarray(runs[places], np.float64)
