"""Ratings: closed forms, what is unbounded, and intervals that hold what is true."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta

from gem_eval.leagues.bradley_terry import ELO, fit, is_connected, rate
from gem_eval.leagues.games import Game, points_of

from .drawing import games_between, points_between, ranked


def games_won(won: int, lost: int) -> list[Game]:
    """Return games of two, a seed each, the seats in turn."""
    results = [1.0] * won + [-1.0] * lost
    return [
        Game(
            seed,
            (seed % 2, 1 - seed % 2),
            (result, -result) if seed % 2 == 0 else (-result, result),
        )
        for seed, result in enumerate(results)
    ]


def test_of_two_the_rating_is_the_log_odds_of_their_points() -> None:
    games = np.array([[0.0, 10.0], [10.0, 0.0]])
    taken = np.array([[0.0, 7.0], [3.0, 0.0]])

    found = fit(games, taken)

    assert found.ratings[0] - found.ratings[1] == pytest.approx(math.log(14 / 6))
    assert found.first == pytest.approx(0.0, abs=1e-9)


def test_the_first_seat_has_a_worth_of_its_own() -> None:
    games = np.array([[0.0, 10.0], [10.0, 0.0]])
    taken = np.array([[0.0, 8.0], [8.0, 0.0]])

    found = fit(games, taken)

    assert found.ratings == pytest.approx([0.0, 0.0])
    assert found.first == pytest.approx(math.log(4))


def test_of_one_pair_the_interval_is_that_of_jeffreys() -> None:
    won, lost = 60, 40
    low, high = beta.ppf([0.025, 0.975], won + 0.5, lost + 0.5)

    first = rate(points_of(games_won(won, lost), 2)).players[0]

    assert first.low is not None
    assert first.high is not None
    expected = [1500 + ELO / 2 * math.log(share / (1 - share)) for share in (low, high)]
    assert [first.low, first.high] == pytest.approx(expected, abs=8)


def test_who_wins_all_has_no_upper_bound_and_who_loses_all_no_lower_one() -> None:
    ladder = [Game(seed, pair, (1.0, -1.0)) for seed in range(9) for pair in ((0, 1), (1, 2))]

    top, middle, bottom = rate(points_of(ladder, 3)).players

    assert (top.low is not None, top.high) == (True, None)
    assert (middle.low, middle.high) == (None, None)
    assert (bottom.low, bottom.high is not None) == (None, True)
    assert math.inf > top.value > middle.value > bottom.value


def test_two_who_share_their_wins_against_a_third_are_open_together() -> None:
    games = games_won(5, 5) + [Game(seed, (0, 2), (1.0, -1.0)) for seed in range(10)]

    first, second, third = rate(points_of(games, 3)).players

    assert first.high is None
    assert second.high is None  # who beats the first would rise with it
    assert third.low is None


def games_by_order(first_wins: tuple[int, int], first_losses: tuple[int, int]) -> list[Game]:
    """Return games of two, a seed each, by who sat first: the one, and then the other."""
    results = [
        ((order, 1 - order), earned)
        for order in (0, 1)
        for count, earned in ((first_wins[order], 1.0), (first_losses[order], -1.0))
        for _ in range(count)
    ]
    return [
        Game(seed, players, (earned, -earned)) for seed, (players, earned) in enumerate(results)
    ]


@pytest.mark.parametrize(
    ("first_wins", "first_losses", "is_open"),
    [
        ((50, 50), (0, 0), (False, True)),
        ((0, 0), (50, 50), (True, False)),
        ((50, 50), (1, 1), (False, False)),
        # The one wins first and second alike: both its lead and the seat may be worth any more.
        ((50, 0), (0, 50), (True, True)),
        # It lost one as the second: the seat may be worth any more, if the lead grows with it.
        ((50, 1), (0, 49), (False, True)),
        ((49, 0), (1, 50), (True, False)),
        ((49, 1), (1, 49), (False, False)),
    ],
)
def test_the_first_seat_is_worth_any_more_or_less_where_no_game_says_how_much(
    first_wins: tuple[int, int], first_losses: tuple[int, int], is_open: tuple[bool, bool]
) -> None:
    worth = rate(points_of(games_by_order(first_wins, first_losses), 2)).first_seat

    assert (worth.low is None, worth.high is None) == is_open


def test_a_third_player_closes_what_two_leave_open() -> None:
    ladder = [Game(seed, pair, (1.0, -1.0)) for seed in range(9) for pair in ((0, 1), (1, 2))]
    upset = [Game(9, (0, 2), (-1.0, 1.0))]

    alone = rate(points_of(ladder, 3)).first_seat
    closed = rate(points_of([*ladder, *upset], 3)).first_seat

    assert (alone.low, alone.high) == (None, None)
    assert (closed.low is None, closed.high is None) == (False, True)


def test_games_of_one_seed_show_no_spread() -> None:
    ratings = rate(points_of([Game(0, (0, 1), (1.0, -1.0)), Game(0, (1, 0), (1.0, -1.0))], 2))

    assert not ratings.has_intervals


def test_nobody_compares_those_who_never_met_over_others() -> None:
    games = [Game(0, (0, 1), (1.0, -1.0)), Game(0, (2, 3), (1.0, -1.0))]

    assert not is_connected(points_of(games, 4))
    assert is_connected(points_of([*games, Game(0, (1, 2), (1.0, -1.0))], 4))


@pytest.mark.slow
def test_intervals_hold_the_true_rating_nineteen_times_of_twenty() -> None:
    rng = np.random.default_rng(1)
    hits = []
    for _ in range(50):
        odds = ranked(rng, players=4, spread=1.0)
        true = 1500 + ELO * odds.mean(axis=1)
        found = rate(points_between(rng, odds, seeds=15)).players
        hits += [
            (player.low or -math.inf) <= value <= (player.high or math.inf)
            for player, value in zip(found, true, strict=True)
        ]

    assert 0.91 <= np.mean(hits) <= 0.995


def test_games_of_one_seed_that_are_alike_count_as_one() -> None:
    rng = np.random.default_rng(2)
    games = games_between(rng, np.zeros((2, 2)), 30)
    fourfold = [game for game in games for _ in range(4)]

    once = rate(points_of(games, 2)).players[0]
    again = rate(points_of(fourfold, 2)).players[0]

    assert once.high is not None
    assert again.high is not None
    assert again.high - again.value == pytest.approx(once.high - once.value, rel=0.1)
