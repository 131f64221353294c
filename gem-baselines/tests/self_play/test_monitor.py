"""The monitor on series that are planted: it sees a collapse, and leaves healthy ones alone."""

from __future__ import annotations

from gem_baselines.self_play import Monitor

EVEN = [1.0, -1.0] * 16
WON = [1.0] * 32
LOST = [-1.0] * 32
FLAT = [0.0] * 10


def test_a_fall_under_a_flat_reward_is_a_collapse() -> None:
    check = Monitor(margin=0.3).check([EVEN, LOST], [EVEN, EVEN], FLAT, FLAT)

    assert check.is_collapsed
    assert check.is_flat
    assert (check.score, check.reference, check.fall) == (-1.0, 0.0, 1.0)


def test_a_collapse_is_seen_where_the_mean_over_the_copies_rises() -> None:
    # It beats the weak copies by more than before, and loses every game to one of them.
    check = Monitor(margin=0.3).check([WON] * 7 + [LOST], [EVEN] * 8, FLAT, FLAT)

    assert check.is_collapsed


def test_a_collapse_in_one_seat_is_seen() -> None:
    # By the mean over the two seats of that copy it would be as good.
    check = Monitor(margin=0.3).check([WON, LOST], [EVEN, EVEN], FLAT, FLAT)

    assert check.is_collapsed


def test_the_worst_pairing_may_become_another_one() -> None:
    check = Monitor(margin=0.3).check([EVEN, LOST], [LOST, EVEN], FLAT, FLAT)

    assert not check.is_collapsed
    assert check.is_as_good


def test_play_that_stays_as_good_is_healthy_and_not_better() -> None:
    check = Monitor(margin=0.3).check([EVEN], [EVEN], FLAT, FLAT)

    assert not check.is_collapsed
    assert check.is_as_good
    assert not check.is_better


def test_better_play_is_healthy() -> None:
    check = Monitor(margin=0.3).check([WON, EVEN], [EVEN, LOST], FLAT, FLAT)

    assert not check.is_collapsed
    assert check.is_better


def test_who_earns_more_by_no_more_than_chance_is_not_better() -> None:
    luckier = [*EVEN[:-2], 1.0, 1.0]  # one game of 32 more is won

    check = Monitor(margin=0.3).check([luckier], [EVEN], FLAT, FLAT)

    assert check.rise == 0.0625
    assert check.is_as_good
    assert not check.is_better


def test_who_earns_more_in_all_and_less_in_the_worst_pairing_is_not_better() -> None:
    below = [*EVEN[:-2], -1.0, -1.0]

    check = Monitor(margin=0.3).check([WON, below], [EVEN, EVEN], FLAT, FLAT)

    assert check.rise > check.chance
    assert not check.is_better


def test_a_fall_within_the_margin_is_healthy() -> None:
    check = Monitor(margin=0.3).check([[-0.25] * 32], [[0.0] * 32], FLAT, FLAT)

    assert not check.is_collapsed
    assert not check.is_better


def test_who_learns_to_earn_more_together_may_earn_less_against_copies() -> None:
    rising = [1.0, 1.1, 0.9]

    check = Monitor(margin=0.3).check([LOST], [EVEN], [0.0, 0.1, -0.1], rising)

    assert not check.is_flat
    assert not check.is_collapsed


def test_a_look_without_games_is_healthy() -> None:
    check = Monitor(margin=0.3).check([], [], FLAT, FLAT)

    assert not check.is_collapsed
