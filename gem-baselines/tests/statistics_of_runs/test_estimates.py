"""Estimates of runs on tasks, against what can be computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gem.errors import BadArguments
from gem_baselines.statistics import (
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
)


def test_the_interquartile_mean_is_of_the_middle_half() -> None:
    assert interquartile_mean([[7, -100, 3, 5, 4, 6, 100, 2]]) == 4.5


def test_of_five_scores_one_is_left_out_at_either_end() -> None:
    assert interquartile_mean([[1, 2, 3, 4, 1000]]) == 3


def test_the_runs_of_all_tasks_are_one_set() -> None:
    assert interquartile_mean([[0, 1], [10, 11]]) == interquartile_mean([[0, 1, 10, 11]])


def test_few_outliers_do_not_move_the_interquartile_mean() -> None:
    scores = np.arange(20.0)
    spoiled = scores.copy()
    spoiled[-5:] = 1e9

    assert interquartile_mean([scores]) == interquartile_mean([spoiled])


def test_whoever_beats_every_run_improves_certainly() -> None:
    assert probability_of_improvement([[2, 3], [9]], [[0, 1], [8]]) == 1


def test_equal_scores_count_a_half() -> None:
    assert probability_of_improvement([[1, 1]], [[1, 1, 1]]) == 0.5


def test_each_task_counts_alike_whatever_its_runs() -> None:
    assert probability_of_improvement([[1], [0, 0, 0]], [[0], [1, 1, 1]]) == 0.5


def test_two_arms_improve_on_each_other_with_probability_one_in_all() -> None:
    rng = np.random.default_rng(0)
    first = [rng.integers(5, size=7) for _ in range(3)]
    second = [rng.integers(5, size=4) for _ in range(3)]

    forth = probability_of_improvement(first, second)
    back = probability_of_improvement(second, first)

    assert forth + back == pytest.approx(1)


def test_a_profile_is_the_share_above_each_threshold() -> None:
    profile = performance_profile([[0.2, 0.4], [0.6, 0.8]], [0.1, 0.4, 0.7, 0.8])

    assert profile.tolist() == [1.0, 0.5, 0.25, 0.0]


def test_a_profile_at_one_threshold_has_one_share() -> None:
    assert performance_profile([[0.2, 0.4], [0.6, 0.8]], 0.4).tolist() == [0.5]


def test_a_profile_at_a_table_of_thresholds_is_refused() -> None:
    with pytest.raises(BadArguments, match="thresholds of 2 dimensions"):
        performance_profile([[0.2]], [[0.1], [0.3]])


@pytest.mark.parametrize("scores", [[], [[]], [[1.0], []]])
def test_missing_scores_are_refused(scores: list[list[float]]) -> None:
    with pytest.raises(BadArguments, match="no score"):
        interquartile_mean(scores)


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(BadArguments, match="not finite"):
        performance_profile([[float("nan")]], [0.5])


def test_arms_of_other_tasks_are_not_compared() -> None:
    with pytest.raises(BadArguments, match="of 1 tasks were to be compared with those of 2"):
        probability_of_improvement([[1.0]], [[1.0], [2.0]])
