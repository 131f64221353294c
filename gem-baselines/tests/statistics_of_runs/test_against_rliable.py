"""The same figures as rliable, which the authors of the paper wrote: `nox -s statistics`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gem_baselines.statistics import (
    bootstrap_interval,
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what it imports
    library: Any = pytest.importorskip("rliable.library")
    metrics: Any = pytest.importorskip("rliable.metrics")

Floats = NDArray[np.float64]
SHAPES = [(10, 4), (5, 1), (3, 7), (8, 26)]


def _scores(shape: tuple[int, int], seed: int) -> Floats:
    """Return scores as rliable has them: a row for each run, a column for each task."""
    rng = np.random.default_rng(seed)
    return np.round(rng.beta(0.7, 0.5, size=shape), 2)  # rounded, so that some are equal


@pytest.mark.parametrize("shape", SHAPES)
def test_the_interquartile_mean_is_the_same(shape: tuple[int, int]) -> None:
    scores = _scores(shape, 0)

    assert interquartile_mean(list(scores.T)) == pytest.approx(metrics.aggregate_iqm(scores))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_probability_of_improvement_is_the_same(shape: tuple[int, int]) -> None:
    first = _scores(shape, 1)
    second = _scores(shape, 2)

    ours = probability_of_improvement(list(first.T), list(second.T))

    assert ours == pytest.approx(metrics.probability_of_improvement(first, second))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_performance_profile_is_the_same(shape: tuple[int, int]) -> None:
    scores = _scores(shape, 3)
    thresholds = np.linspace(0, 1, 21)

    theirs = [library.run_score_deviation(scores, threshold) for threshold in thresholds]

    assert performance_profile(list(scores.T), thresholds) == pytest.approx(theirs)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of what rliable is built on
def test_the_interval_is_the_same_but_for_what_is_drawn() -> None:
    scores = _scores((10, 5), 4)

    low, high = bootstrap_interval(interquartile_mean, list(scores.T), resamples=20_000)

    _, theirs = library.get_interval_estimates(
        {"arm": scores},
        lambda drawn: np.array([metrics.aggregate_iqm(drawn)]),
        reps=5_000,
        random_state=np.random.RandomState(0),
    )
    their_low, their_high = theirs["arm"].ravel()
    # The ends of an interval of 5,000 resamples are off by a few hundredths of its width.
    width = their_high - their_low
    assert low == pytest.approx(their_low, abs=0.05 * width)
    assert high == pytest.approx(their_high, abs=0.05 * width)
