"""Evidence that may be looked at at any time: how often it is wrong, and how soon it decides."""

from __future__ import annotations

import math
from itertools import accumulate
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gem_eval.comparing.sequential import Evidence

DIFFERENCES = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), max_size=60)
MOST = 330  # of the tasks that one policy alone solves
TASKS = 1_500


@pytest.fixture(scope="module")
def is_above() -> NDArray[np.bool_]:
    """Return whether so many won and so many lost prove a difference above 0: ties say nothing."""
    table = np.zeros((MOST + 1, MOST + 1), dtype=bool)
    for won in range(MOST + 1):
        evidence = Evidence(differences=[1.0] * won)
        for lost in range(won):
            table[won, lost] = evidence.is_above(0.0)
            evidence.add(-1.0)
    return table


def first_proof(
    is_above: NDArray[np.bool_], *, gained: float, lost: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return after how many tasks each of 2,000 runs first proves above, and below.

    Each looks after every task, and plays `TASKS` at most: one more stands for never.
    """
    drawn = np.random.default_rng(7).random((2_000, TASKS))
    won = np.cumsum(drawn < gained, axis=1)
    lost_so_far = np.cumsum(drawn > 1 - lost, axis=1)
    assert max(won.max(), lost_so_far.max()) <= 2 * MOST
    # Where the table ends all is decided long ago.
    won, lost_so_far = (np.minimum(counts, MOST) for counts in (won, lost_so_far))
    found = []
    for proof in (is_above[won, lost_so_far], is_above[lost_so_far, won]):
        never = ~proof.any(axis=1)
        found.append(np.where(never, TASKS, proof.argmax(axis=1)) + 1)
    return found[0], found[1]


@pytest.mark.parametrize("parting", [0.05, 0.2, 0.4])
def test_equal_policies_are_told_apart_in_at_most_5_percent(
    is_above: NDArray[np.bool_], parting: float
) -> None:
    above, below = first_proof(is_above, gained=parting / 2, lost=parting / 2)

    assert np.mean(np.minimum(above, below) <= TASKS) <= 0.05


@pytest.mark.parametrize(("gained", "lost"), [(0.2, 0.1), (0.15, 0.05), (0.3, 0.1)])
def test_a_difference_is_decided_in_half_the_tasks_of_a_test_that_misses_as_few(
    is_above: NDArray[np.bool_], gained: float, lost: float
) -> None:
    above, below = first_proof(is_above, gained=gained, lost=lost)

    found = float(np.mean(above <= TASKS))
    assert np.mean(below <= TASKS) <= 0.01
    assert found >= 0.999
    assert np.median(above) <= 0.5 * fixed_number(gained, lost, power=0.999)


def fixed_number(gained: float, lost: float, power: float) -> float:
    """Return how many tasks McNemar's test needs to find a difference (Connor 1987)."""
    normal = NormalDist()
    parting = gained + lost
    difference = gained - lost
    of_level = normal.inv_cdf(0.975) * math.sqrt(parting)
    of_power = normal.inv_cdf(power) * math.sqrt(parting - difference**2)
    return ((of_level + of_power) / difference) ** 2


@given(DIFFERENCES)
def test_the_order_of_differences_says_nothing(differences: list[float]) -> None:
    forwards = Evidence(differences=differences)
    backwards = Evidence(differences=differences[::-1])

    assert forwards.interval() == pytest.approx(backwards.interval())
    assert forwards.count == len(differences)


@given(DIFFERENCES)
def test_the_interval_is_where_proof_ends(differences: list[float]) -> None:
    evidence = Evidence(differences=differences)

    low, high = evidence.interval()

    assert -1.0 <= low <= high <= 1.0
    assert all(evidence.is_above(claim) for claim in np.linspace(-0.999, low, 9) if claim < low)
    assert not any(evidence.is_above(claim) for claim in np.linspace(low + 2e-4, 1.0, 9))
    assert all(evidence.is_below(claim) for claim in np.linspace(high, 0.999, 9) if claim > high)
    if evidence.mean is not None:
        assert low <= evidence.mean <= high


@given(DIFFERENCES)
def test_what_is_turned_round_is_proven_the_other_way(differences: list[float]) -> None:
    there = Evidence(differences=differences)
    back = Evidence(differences=[-difference for difference in differences])

    assert there.is_above(0.0) == back.is_below(0.0)
    assert there.is_within(0.3) == back.is_within(0.3)


def test_nothing_is_known_of_nothing() -> None:
    evidence = Evidence()

    assert (evidence.mean, evidence.interval()) == (None, (-1.0, 1.0))
    assert not evidence.is_above(0.0)
    assert not evidence.is_below(0.0)


def test_what_never_parts_is_the_same_before_long() -> None:
    evidence = Evidence()
    is_same = []
    for _ in range(500):
        evidence.add(0.0)
        is_same.append(evidence.is_within(0.02))

    assert list(accumulate(is_same, max)) == is_same  # once proven it stays so
    assert 150 <= is_same.index(True) <= 350


def test_a_stricter_level_asks_for_more() -> None:
    needed = []
    for level in (0.05, 0.01):
        evidence = Evidence(level=level)
        while not evidence.is_above(0.0):
            evidence.add(1.0)
        needed.append(evidence.count)

    assert needed[0] < needed[1]
    # All on one coin that never fails: each win less than doubles the money, which must reach 40.
    assert needed[0] >= math.ceil(math.log2(40))
