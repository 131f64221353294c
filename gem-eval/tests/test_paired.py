"""The statistics of pairs, by other libraries' and by enumeration and simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gem_eval.comparing.paired import (
    Pair,
    alike,
    chance_of_signs,
    detectable_difference,
    difference_of_means,
    difference_of_rates,
    holm,
    shared_variance,
)

RATES = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)
RETURNS = st.lists(
    st.tuples(st.floats(-9, 9, width=16), st.floats(-9, 9, width=16)), min_size=2, max_size=12
)
THIRDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=15)
CHANCES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def alone(pairs: Sequence[tuple[float, float]]) -> list[list[Pair]]:
    return [[Pair(float(first), float(second))] for first, second in pairs]


def of_differences(differences: Sequence[float]) -> list[list[Pair]]:
    return alone([(0.0, difference) for difference in differences])


def of_table(both: int, won: int, lost: int, neither: int) -> list[list[Pair]]:
    return alone([(1, 1)] * both + [(0, 1)] * won + [(1, 0)] * lost + [(0, 0)] * neither)


@given(RATES)
def test_the_chance_of_rates_is_mcnemars(pairs: list[tuple[bool, bool]]) -> None:
    compare = pytest.importorskip("errorbars.compare", reason="an oracle for tests alone")
    first, second = ([float(pair[side]) for pair in pairs] for side in (0, 1))

    expected = compare.mcnemar_exact(first, second).p_value

    assert chance_of_signs(alone(pairs)).value == pytest.approx(expected)


@given(RETURNS)
def test_the_chance_of_returns_counts_all_flips_of_signs(pairs: list[tuple[float, float]]) -> None:
    differences = [second - first for first, second in pairs if second != first]
    flipped = [
        math.fsum(sign * difference for sign, difference in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    seen = abs(math.fsum(differences)) - 1e-9
    as_far = sum(abs(total) >= seen for total in flipped) / len(flipped)

    assert chance_of_signs(alone(pairs)).value == pytest.approx(as_far, abs=1e-9)


@given(THIRDS)
def test_the_chance_of_means_of_repeats_is_that_of_their_sums(
    sums: list[tuple[int, int]],
) -> None:
    """Thirds are rounded, and whole numbers are not: the same flips are as far out."""
    means = [(first / 3, second / 3) for first, second in sums]

    assert chance_of_signs(alone(means)).value == chance_of_signs(alone(sums)).value


def test_flips_that_tie_with_what_was_seen_are_as_far_out() -> None:
    means = [(1 / 3, 1.0), (1.0, 0.0), (0.0, 2 / 3), (0.0, 1 / 3), (2 / 3, 1 / 3)]

    assert chance_of_signs(alone(means)).value == 1.0  # they sum to 0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_the_unit_of_returns_changes_no_chance(scale: float) -> None:
    returns = [(0.1, 0.4), (0.7, 0.1), (0.2, 0.5), (0.3, 0.9), (0.0, 0.3)]
    scaled = [(first * scale, second * scale) for first, second in returns]

    # Of 32 flips as many are as far out as 0.9 in differences of 0.3 and 0.6.
    assert chance_of_signs(alone(scaled)).value == 18 / 32


@pytest.mark.parametrize("same", [1.0, 1e12, -1e12, 1e15])
def test_a_task_on_which_nobody_parts_hides_no_other(same: float) -> None:
    pairs = [(0.0, 1.0)] * 8 + [(same, same)]

    assert chance_of_signs(alone(pairs)).value == 2 / 2**8


def test_small_differences_of_many_large_returns_are_differences() -> None:
    assert chance_of_signs(alone([(1e9, 1e9 + 1)] * 2_000)).value == 2 / 2**2_000


def test_of_large_returns_flips_that_do_not_tie_are_told_apart() -> None:
    returns = [(1e12, 1e12 + 1), (1e12, 1e12 + 2), (1e12, 1e12 + 4)]

    assert chance_of_signs(alone(returns)).value == 2 / 2**3


def test_of_many_returns_the_chance_is_near_that_of_students_test() -> None:
    differences = np.random.default_rng(5).normal(0.12, 1.0, 400)

    found = chance_of_signs(of_differences(list(differences))).value

    expected = stats.ttest_1samp(differences, 0.0).pvalue
    assert 0.001 < expected < 0.2
    assert found == pytest.approx(expected, rel=0.25)
    assert chance_of_signs(of_differences(list(differences))).value == found


@pytest.mark.parametrize(
    ("differences", "is_sampled", "is_bound"),
    [
        ([1.0] * 60, False, False),  # McNemar's
        ([1.0] * 12 + [2.0], False, False),  # all 2 ** 13 flips
        ([1.0] * 59 + [2.0], True, True),
        ([1.0] * 30 + [-2.0] * 20, True, False),
    ],
)
def test_a_chance_says_whether_it_is_sampled_and_whether_it_is_a_bound(
    differences: list[float], is_sampled: bool, is_bound: bool
) -> None:
    chance = chance_of_signs(of_differences(differences))

    assert (chance.is_sampled, chance.is_bound) == (is_sampled, is_bound)
    assert (chance.value == 0.0002) == is_bound


def test_policies_that_never_part_are_as_equal_as_can_be() -> None:
    assert chance_of_signs(of_table(10, 0, 0, 10)).value == 1.0
    assert chance_of_signs([]).value == 1.0


def test_rounding_of_repeats_parts_nobody() -> None:
    sums = [0.1 + 0.2 - 0.3, 0.0]

    assert chance_of_signs(of_differences(sums)).value == 1.0


def test_of_returns_too_large_for_a_sum_nothing_is_told() -> None:
    assert chance_of_signs(alone([(1e308, 0.0)] * 20)).value == 1.0


def test_pairs_of_one_group_count_as_one_difference() -> None:
    groups = [[Pair(0, 1)] * 5] * 3

    assert chance_of_signs(groups).value == 2 / 2**3


@pytest.mark.parametrize("n", [10, 20, 50])
def test_the_interval_of_rates_holds(n: int) -> None:
    """By enumeration of all that can happen, over true differences and shares of tasks that part.

    Where few tasks part, little can happen, and any interval that always holds is too wide.
    """
    outcomes = [(won, lost) for won in range(n + 1) for lost in range(n + 1 - won)]
    bounds = np.array(
        [difference_of_rates(of_table(0, won, lost, n - won - lost)).ci95 for won, lost in outcomes]
    )
    counts = np.array([(won, lost, n - won - lost) for won, lost in outcomes])
    for parting, most in [(0.1, 1.0), (0.3, 0.995), (0.6, 0.985)]:
        held = []
        for gained in np.linspace(0.0, parting, 11):
            truth = 2 * gained - parting
            chances = stats.multinomial.pmf(counts, n, [gained, parting - gained, 1 - parting])
            is_held = (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
            held.append(chances[is_held].sum())
        assert 0.945 <= np.mean(held) <= most
        assert min(held) >= 0.93


def test_the_interval_of_rates_of_many_is_that_of_the_mean_of_differences() -> None:
    groups = of_table(400, 150, 100, 350)
    differences = [group[0].difference for group in groups]

    value, ci95 = difference_of_rates(groups)

    expected = stats.ttest_1samp(differences, 0.0).confidence_interval(0.95)
    assert value == pytest.approx(0.05)
    assert ci95 == pytest.approx((expected.low, expected.high), abs=1e-3)


def test_the_interval_of_groups_is_that_of_a_cluster_robust_error() -> None:
    compare = pytest.importorskip("errorbars.stats", reason="an oracle for tests alone")
    rng = np.random.default_rng(2)
    groups = [
        [Pair(0.0, float(value)) for value in np.clip(centre + rng.normal(0, 0.1, 4), -1, 1)]
        for centre in rng.normal(0, 0.3, 300)
    ]
    differences = [pair.difference for group in groups for pair in group]
    clusters = [number for number, group in enumerate(groups) for _ in group]

    low, high = difference_of_rates(groups).ci95 or (0.0, 0.0)

    error = compare.cluster_robust_se(differences, clusters)
    assert (high - low) / (2 * 1.968) == pytest.approx(error, rel=0.02)


def test_policies_that_never_part_have_an_interval_with_a_width() -> None:
    low, high = difference_of_rates(of_table(10, 0, 0, 10)).ci95 or (0.0, 0.0)

    assert low == -high < 0


def test_the_interval_stays_within_what_a_difference_can_be() -> None:
    _, high = difference_of_rates(of_table(0, 2, 0, 0)).ci95 or (0.0, 0.0)

    assert high == 1.0


@pytest.mark.parametrize("skewed", [False, True])
def test_the_interval_of_returns_holds(skewed: bool) -> None:
    rng = np.random.default_rng(0)
    tries = 300
    held = 0
    for _ in range(tries):
        noise = rng.exponential(1.0, 40) - 1.0 if skewed else rng.normal(0.0, 1.0, 40)
        low, high = difference_of_means(of_differences(list(0.5 + noise))).ci95 or (0.0, 0.0)
        held += low <= 0.5 <= high
    assert 0.91 <= held / tries <= 0.99


def test_the_detectable_difference_is_found_4_times_of_5() -> None:
    rng = np.random.default_rng(1)
    drawn = stats.zscore(rng.normal(0.0, 1.0, 200), ddof=1)  # whose deviation is 1 exactly
    difference = detectable_difference(of_differences(list(drawn)))
    assert difference is not None

    drawn_anew = rng.normal(difference, 1.0, (2_000, 200))
    found = stats.ttest_1samp(drawn_anew, 0.0, axis=1).pvalue <= 0.05

    assert 0.76 <= np.mean(found) <= 0.86


def test_nothing_is_detectable_by_what_shows_no_spread() -> None:
    assert detectable_difference(of_table(5, 0, 0, 5)) is None
    assert detectable_difference(of_table(0, 1, 0, 0)) is None


def test_common_tasks_save_the_variance_that_they_share() -> None:
    shared = shared_variance(alone([(0, 1), (1, 2), (2, 3), (3, 5)]))

    assert shared is not None
    assert shared.correlation == pytest.approx(np.corrcoef([0, 1, 2, 3], [1, 2, 3, 5])[0, 1])
    assert shared.saved == pytest.approx(1 - np.var([1, 1, 1, 2]) / (1.25 + np.var([1, 2, 3, 5])))


@pytest.mark.parametrize("pairs", [[(0, 1)], [(0, 1), (0, 0)], [(1, 0), (0, 0)]])
def test_what_does_not_vary_shares_nothing(pairs: list[tuple[float, float]]) -> None:
    assert shared_variance(alone(pairs)) is None


@given(CHANCES)
def test_holm_corrects_as_others_do(chances: list[float]) -> None:
    leaderboard = pytest.importorskip("errorbars.leaderboard", reason="an oracle for tests alone")

    assert holm(chances) == pytest.approx(leaderboard.holm_correction(chances))


@given(st.integers(2, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, 2 ** (n * n)))))
def test_groups_are_the_maximal_cliques(drawn: tuple[int, int]) -> None:
    number, bits = drawn
    names = [f"policy {place}" for place in range(number)]
    both = list(combinations(names, 2))
    chances = {two: 0.5 if bits >> place & 1 else 0.01 for place, two in enumerate(both)}

    def are_alike(group: Sequence[str]) -> bool:
        return all(chances[two] > 0.05 for two in combinations(group, 2))

    subsets = [
        list(group)
        for size in range(1, number + 1)
        for group in combinations(names, size)
        if are_alike(group)
    ]
    largest = [group for group in subsets if not any(set(group) < set(other) for other in subsets)]
    assert sorted(alike(chances)) == sorted(largest)
