"""The monitor on series that are planted: it sees a collapse, and leaves healthy ones alone."""

from __future__ import annotations

from gem_baselines.self_play import Monitor

EVEN = [1.0, -1.0] * 32
FLAT = [0.0] * 10


def test_a_fall_under_a_flat_reward_is_a_collapse() -> None:
    check = Monitor(margin=0.1).check([-1.0] * 60 + [1.0] * 4, EVEN, FLAT, FLAT)

    assert check.is_collapsed
    assert check.is_flat
    assert check.fall > 0.8


def test_play_that_stays_as_good_is_healthy() -> None:
    check = Monitor(margin=0.1).check(EVEN, EVEN, FLAT, FLAT)

    assert not check.is_collapsed
    assert check.is_better


def test_better_play_is_healthy() -> None:
    check = Monitor(margin=0.1).check([1.0] * 64, EVEN, FLAT, FLAT)

    assert not check.is_collapsed


def test_a_fall_that_chance_explains_is_healthy() -> None:
    check = Monitor(margin=0.1).check([1.0, -1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0], FLAT, FLAT)

    assert check.fall == 0.5
    assert not check.is_collapsed


def test_a_fall_within_the_margin_is_healthy() -> None:
    check = Monitor(margin=0.1).check([-0.05] * 64, [0.0] * 64, FLAT, FLAT)

    assert not check.is_collapsed


def test_who_learns_to_earn_more_together_may_earn_less_against_copies() -> None:
    rising = [1.0, 1.1, 0.9]

    check = Monitor(margin=0.1).check([-1.0] * 64, EVEN, [0.0, 0.1, -0.1], rising)

    assert not check.is_flat
    assert not check.is_collapsed
