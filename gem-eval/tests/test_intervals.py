from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gem_eval.intervals import (
    mean,
    pass_at_k,
    pass_at_k_bootstrap,
    pass_at_k_of,
    pass_hat_k,
    pass_hat_k_bootstrap,
    pass_hat_k_of,
    rate,
    student,
    wilson,
)

Z = NormalDist().inv_cdf(0.975)
GROUPS = st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=30)


def alone(values: Sequence[float]) -> list[list[float]]:
    return [[value] for value in values]


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [  # Newcombe 1998, Statistics in Medicine 17, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0000),
    ],
)
def test_wilson_gives_the_published_intervals(
    successes: int, n: int, low: float, high: float
) -> None:
    assert wilson(successes / n, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_is_exact_at_nothing_and_at_all() -> None:
    assert {wilson(0.0, n)[0] for n in range(1, 100)} == {0.0}
    assert {wilson(1.0, n)[1] for n in range(1, 100)} == {1.0}


def test_wilson_at_nothing_has_its_closed_form() -> None:
    assert wilson(0.0, 50) == pytest.approx((0.0, Z**2 / (50 + Z**2)))


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_solves_the_score_equation(pair: tuple[int, int]) -> None:
    successes, n = pair
    share = successes / n

    for bound in wilson(share, n):
        assert (share - bound) ** 2 == pytest.approx(Z**2 * bound * (1 - bound) / n, abs=1e-9)


def test_a_rate_without_repeats_has_wilsons_interval() -> None:
    assert rate([[True]] * 8 + [[False]] * 2).ci95 == wilson(0.8, 10)


def test_identical_repeats_count_as_one_observation_each() -> None:
    groups = [[True] * 4] * 8 + [[False] * 4] * 2

    assert rate(groups).ci95 == pytest.approx(wilson(0.8, 10))


def test_repeats_that_always_succeed_count_as_one_observation_each() -> None:
    assert rate([[True] * 4] * 10).ci95 == wilson(1.0, 10)


def test_repeats_of_many_that_vary_like_independent_ones_count_nearly_fully() -> None:
    low, high = rate([[True, False]] * 200).ci95 or (0.0, 0.0)

    assert (low, high) == pytest.approx(wilson(0.5, 400), abs=1e-3)


def test_repeats_count_by_the_design_effect_of_their_groups() -> None:
    succeeded = [4, 0, 3, 1, 2, 2]  # of 4 repeats of each task
    groups = [[True] * n + [False] * (4 - n) for n in succeeded]
    variance_between = sum((n / 4 - 0.5) ** 2 for n in succeeded) / (6 - 1)
    design_effect = 4 * variance_between / (0.5 * 0.5)
    widened = (student(23) / student(5)) ** 2  # for what six groups tell of the design effect

    assert design_effect == pytest.approx(2.0)
    assert rate(groups).ci95 == pytest.approx(wilson(0.5, 24 / 2 * widened))


def test_groups_of_several_sizes_count_by_what_they_hold() -> None:
    groups = [[True, True], [False], [True, False, False, True, False]]
    between = (2 - 1.0) ** 2 + (0 - 0.5) ** 2 + (2 - 2.5) ** 2  # successes, less what half gives
    design_effect = between * 3 / 2 / (0.5 * 0.5 * 8)
    widened = (student(7) / student(2)) ** 2

    assert rate(groups).ci95 == pytest.approx(wilson(0.5, 8 / design_effect * widened))
    assert rate([[True] * 3, [False]]).ci95 == pytest.approx(wilson(0.75, 4 * 4 / (9 + 1)))
    assert rate([[True] * 3 + [False] * 5]).ci95 == pytest.approx(wilson(0.375, 1))


def test_two_tasks_tell_no_more_than_two_observations_however_often_they_are_played() -> None:
    assert rate([[True] * 50, [False] * 50]).ci95 == pytest.approx(wilson(0.5, 2))


def test_two_tasks_that_look_alike_may_differ_from_the_next() -> None:
    low, high = rate([[True, False] * 25] * 2).ci95 or (0.5, 0.5)

    assert low < 0.2
    assert high > 0.8


def test_a_rate_over_a_few_tasks_covers_that_of_all_tasks_about_95_times_in_100() -> None:
    rng = np.random.default_rng(5)
    played = [rng.random(20) < rng.beta(1, 1, size=(6, 1)) for _ in range(400)]  # the mean is 0.5

    intervals = [rate(tasks.tolist()).ci95 for tasks in played]

    covered = sum(low <= 0.5 <= high for low, high in filter(None, intervals))
    assert 370 <= covered <= 396


def test_a_mean_over_two_tasks_lies_between_them() -> None:
    assert mean([[1.0] * 50, [0.0] * 50]) == (0.5, (0.0, 1.0))


def test_a_mean_over_a_few_tasks_covers_that_of_all_tasks_about_95_times_in_100() -> None:
    rng = np.random.default_rng(6)
    intervals = [mean(alone(rng.normal(size=6).tolist())).ci95 for _ in range(400)]

    covered = sum(low <= 0.0 <= high for low, high in filter(None, intervals))

    assert 360 <= covered <= 396


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.7062), (2, 4.3027), (30, 2.0423), (31, 2.0395), (120, 1.9799)]
)
def test_students_quantiles_are_the_published_ones(freedom: int, quantile: float) -> None:
    assert student(freedom) == pytest.approx(quantile, abs=5e-5)


@pytest.mark.parametrize("freedom", [*range(1, 41), 60, 1000])
def test_students_quantiles_leave_2_and_a_half_percent_above_them(freedom: int) -> None:
    steps = np.linspace(0.0, student(freedom), 20_001)
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    density = math.exp(scale) / math.sqrt(freedom * math.pi)
    heights = density * (1 + steps**2 / freedom) ** (-(freedom + 1) / 2)
    below = float(((heights[1:] + heights[:-1]) / 2).sum() * (steps[1] - steps[0]))

    assert below == pytest.approx(0.475, abs=2e-7)


def test_students_quantiles_are_the_same_in_every_version() -> None:
    assert student(30) == pytest.approx(2.0422724563012378, abs=1e-13)
    assert student(31) == pytest.approx(2.039513446396408, abs=1e-13)
    assert student(1000) == pytest.approx(1.9623390808264083, abs=1e-13)


@given(GROUPS)
def test_a_rate_lies_in_its_interval(groups: list[list[bool]]) -> None:
    value, interval = rate(groups)

    assert value is not None
    assert interval is not None
    assert 0 <= interval[0] <= value <= interval[1] <= 1


def test_nothing_seen_tells_nothing() -> None:
    assert rate([]) == rate([[]]) == mean([]) == pass_at_k([], 1) == (None, None)


def test_one_group_has_a_mean_and_no_interval() -> None:
    assert mean([[1.0, 3.0]]) == (2.0, None)


def test_a_mean_that_is_not_finite_is_not_told() -> None:
    assert mean(alone([1.0, math.inf])) == (None, None)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_interval_that_is_not_finite_at_one_end_is_not_told(sign: float) -> None:
    huge = sign * 1.7e308  # twice of it is infinite, and a resample may hold it twice

    value, interval = mean(alone([huge, 0.0, 0.0, 0.0, 0.0]))

    assert value == pytest.approx(huge / 5)
    assert interval is None


def test_the_bootstrap_is_the_same_in_every_version() -> None:
    assert mean(alone([1.0, 2.0, 3.0, 4.0, 10.0])).ci95 == pytest.approx((1.6, 8.8))
    several = mean(alone([0.1, 0.7, 1.9, 4.2, 5.3, 8.8, 9.1]))
    assert several.ci95 == pytest.approx((1.2, 7.836132967475279), rel=1e-9)
    uneven = mean([[1.0, 2.0], [3.0], [10.0, 0.0, 4.0]])
    assert uneven.value == pytest.approx(10 / 3)
    assert uneven.ci95 == pytest.approx((1.5, 14 / 3))


@given(st.lists(st.lists(st.floats(-9, 9), min_size=1, max_size=3), min_size=2, max_size=25))
def test_a_mean_lies_in_its_interval(groups: list[list[float]]) -> None:
    value, interval = mean(groups)

    assert value is not None
    assert interval is not None
    assert interval[0] - 1e-9 <= value <= interval[1] + 1e-9


def test_the_interval_of_skewed_values_reaches_farther_to_their_long_side() -> None:
    low, high = mean(alone([0.0] * 15 + [1.0] * 3 + [9.0])).ci95 or (0.0, 0.0)

    assert high - 12 / 19 > 1.5 * (12 / 19 - low)


def test_equal_values_have_no_spread() -> None:
    assert mean(alone([4.0] * 50)) == (4.0, (4.0, 4.0))


def test_the_bootstrap_agrees_with_the_normal_interval_of_many_values() -> None:
    values = np.random.default_rng(1).normal(10, 3, size=2000)
    half = Z * values.std() / math.sqrt(len(values))

    interval = mean(alone(values.tolist())).ci95

    assert interval == pytest.approx((values.mean() - half, values.mean() + half), abs=0.1 * half)


def test_the_bootstrap_covers_the_true_mean_about_95_times_in_100() -> None:
    rng = np.random.default_rng(2)
    intervals = [mean(alone(rng.exponential(1.0, size=60).tolist())).ci95 for _ in range(200)]

    covered = sum(low <= 1.0 <= high for low, high in filter(None, intervals))

    assert 175 <= covered <= 199


def test_the_bootstrap_draws_whole_groups() -> None:
    values = np.random.default_rng(3).normal(size=40).tolist()

    repeated = mean([[value] * 9 for value in values])

    assert repeated.ci95 == pytest.approx(mean(alone(values)).ci95)


def test_the_same_values_give_the_same_interval() -> None:
    values = alone(np.random.default_rng(4).normal(size=3000).tolist())

    assert mean(values) == mean(values)


def test_the_global_generator_is_left_alone() -> None:
    before = str(np.random.get_state())  # noqa: NPY002 - the global one is the point

    mean(alone([1.0, 2.0, 3.0]))

    assert str(np.random.get_state()) == before  # noqa: NPY002


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_pass_at_k_is_the_share_of_draws_of_k_with_a_success(n: int) -> None:
    for successes in range(n + 1):
        attempts = [True] * successes + [False] * (n - successes)
        for k in range(1, n + 1):
            draws = [any(draw) for draw in combinations(attempts, k)]

            assert pass_at_k_of(n, successes, k) == pytest.approx(sum(draws) / len(draws))


def test_pass_at_k_is_the_mean_over_groups_with_wilsons_interval() -> None:
    groups = [[True, False, False, False], [False] * 4, [True] * 4]

    value, interval = pass_at_k(groups, 2)

    assert value == pytest.approx(0.5)
    assert interval == pytest.approx(wilson(0.5, 3))


def test_groups_with_fewer_attempts_than_k_are_left_out() -> None:
    assert pass_at_k([[False], [True, True]], 2).value == 1.0


def test_the_bootstrap_of_pass_at_k_is_that_of_the_chances_of_tasks() -> None:
    groups = [[n < successes for n in range(4)] for successes in (0, 1, 1, 2, 4)] + [[True]]

    interval = pass_at_k_bootstrap(groups, 2)

    assert interval == mean(alone([0.0, 0.5, 0.5, 5 / 6, 1.0])).ci95
    assert pass_at_k_bootstrap([[True, False]], 2) is None


@pytest.mark.parametrize("n", [20, 100, 500, 2_000])
def test_wilson_covers_the_rate_about_95_times_in_100_over_all_rates(n: int) -> None:
    rates = np.linspace(0.0025, 0.9975, 200)
    bounds = np.array([wilson(successes / n, n) for successes in range(n + 1)])
    chances = stats.binom.pmf(np.arange(n + 1)[:, None], n, rates[None, :])

    covered = (chances * ((bounds[:, :1] <= rates) & (rates <= bounds[:, 1:]))).sum(axis=0)

    assert 0.945 <= covered.mean() <= 0.96


@pytest.mark.slow
@pytest.mark.parametrize("draw", ["normal", "exponential"])
@pytest.mark.parametrize(("n", "least", "most"), [(20, 0.92, 0.97), (100, 0.935, 0.965)])
def test_a_mean_of_20_covers_the_true_one_too(draw: str, n: int, least: float, most: float) -> None:
    rng = np.random.default_rng(n)
    values = getattr(rng, draw)(size=(1_000, n))
    truth = 0.0 if draw == "normal" else 1.0

    intervals = [mean(alone(row)).ci95 for row in values.tolist()]

    covered = np.mean([low <= truth <= high for low, high in filter(None, intervals)])
    assert least <= covered <= most


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_scipy(pair: tuple[int, int]) -> None:
    expected = stats.binomtest(*pair).proportion_ci(method="wilson")

    assert wilson(pair[0] / pair[1], pair[1]) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_pass_hat_k_is_the_share_of_draws_of_k_without_a_failure(n: int) -> None:
    for successes in range(n + 1):
        attempts = [True] * successes + [False] * (n - successes)
        for k in range(1, n + 1):
            draws = [all(draw) for draw in combinations(attempts, k)]
            assert pass_hat_k_of(n, successes, k) == pytest.approx(sum(draws) / len(draws))


def test_pass_hat_k_is_the_mean_over_tasks_with_intervals_by_task() -> None:
    groups = [[True, True, False], [True, True, True], [False, False, False], [True]]
    chances = [1 / 3, 1.0, 0.0]  # of a task that was tried once nothing is known

    value, interval = pass_hat_k(groups, 2)

    assert value == pytest.approx(sum(chances) / 3)
    assert interval == pytest.approx(wilson(sum(chances) / 3, 3))
    assert pass_hat_k_bootstrap(groups, 2) == mean([[chance] for chance in chances]).ci95
    assert pass_hat_k([[True]], 2) == (None, None)
