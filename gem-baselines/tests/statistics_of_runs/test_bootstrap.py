"""Intervals by the stratified bootstrap."""

from __future__ import annotations

import numpy as np
import pytest

from gem.errors import BadArguments
from gem_baselines.statistics import (
    bootstrap_interval,
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
)


def test_runs_that_agree_leave_no_doubt() -> None:
    interval = bootstrap_interval(interquartile_mean, [[0.5] * 5, [0.5] * 3])

    assert tuple(map(float, interval)) == (0.5, 0.5)


def test_runs_of_one_task_never_stand_in_for_those_of_another() -> None:
    # Drawn from all runs together, resamples would have means between 0 and 1.
    interval = bootstrap_interval(interquartile_mean, [[0.0] * 4, [1.0] * 4])

    assert tuple(map(float, interval)) == (0.5, 0.5)


def test_one_seed_gives_one_interval() -> None:
    scores = [np.random.default_rng(0).normal(size=10)]

    first = bootstrap_interval(interquartile_mean, scores, seed=3)
    again = bootstrap_interval(interquartile_mean, scores, seed=3)
    other = bootstrap_interval(interquartile_mean, scores, seed=4)

    assert first == again
    assert first != other


def test_the_interval_of_a_mean_of_many_runs_has_the_width_of_theory() -> None:
    # Without trimming: one estimate of the mean, whose standard error is known.
    runs = np.random.default_rng(1).normal(size=400)

    low, high = bootstrap_interval(lambda scores: scores[0].mean(axis=-1), [runs], resamples=4000)

    expected = 2 * 1.96 * runs.std() / np.sqrt(400)
    assert high - low == pytest.approx(expected, rel=0.05)


def test_an_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(300):
        low, high = bootstrap_interval(
            interquartile_mean, [rng.normal(size=10), rng.normal(size=10)], resamples=300
        )
        held += bool(low <= 0 <= high)

    assert 0.85 <= held / 300 <= 0.98


def test_more_confidence_is_a_wider_interval() -> None:
    scores = [np.arange(10.0)]

    wide = bootstrap_interval(interquartile_mean, scores, confidence=0.99)
    narrow = bootstrap_interval(interquartile_mean, scores, confidence=0.5)

    assert wide.low < narrow.low < narrow.high < wide.high


def test_two_arms_are_resampled_apart() -> None:
    low, high = bootstrap_interval(probability_of_improvement, [[1, 2, 3]], [[0, 2, 4]])

    assert 0 <= low < high <= 1


def test_a_profile_has_an_interval_at_each_threshold() -> None:
    low, high = bootstrap_interval(
        lambda scores: performance_profile(scores, [0.0, 0.5, 2.0]), [[0.2, 0.4, 0.6, 0.8]]
    )

    assert low.shape == high.shape == (3,)
    assert (low[0], high[0], high[2]) == (1, 1, 0)


@pytest.mark.parametrize("settings", [{"resamples": 0}, {"confidence": 1.0}])
def test_a_bootstrap_of_nothing_is_refused(settings: dict[str, float]) -> None:
    with pytest.raises(BadArguments, match="bootstrap"):
        bootstrap_interval(interquartile_mean, [[1.0]], **settings)  # type: ignore[arg-type]
