"""One number cannot rank who beats each other in a circle, and ranks all others."""

from __future__ import annotations

import numpy as np
import pytest

from gem_eval.leagues.cycles import Cycles, cycles_of, seeds_needed
from gem_eval.leagues.games import Game, Points, points_of

from .drawing import circle, points_between, ranked

SETS = 50


def planted(number: int) -> Cycles:
    """Return what is found in a set of the rock, paper, scissors family, noisy as leagues are."""
    rng = np.random.default_rng([1, number])
    players = (3, 5, 7)[number % 3]
    odds = circle(rng, players, strength=rng.uniform(1.2, 2.5))
    if number % 2:  # one who beats all of them, and one who loses to all: they are in no circle
        wider = np.zeros((players + 2, players + 2))
        wider[:players, :players] = odds
        wider[players, :-1] = 1.5
        wider[:-1, players] = -1.5
        wider[players + 1, :-1] = -1.5
        wider[:-1, players + 1] = 1.5
        wider[players, players + 1] = 3.0
        wider[players + 1, players] = -3.0
        odds = wider
    seeds = int(rng.integers(60, 120))
    return cycles_of(points_between(rng, odds, seeds, draws=rng.uniform(0, 0.2), luck=0.5))


def transitive(number: int) -> Cycles:
    """Return what is found in a set that ratings rank: near equals, giants, draws, few seeds."""
    rng = np.random.default_rng([2, number])
    odds = ranked(rng, players=int(rng.integers(3, 8)), spread=rng.uniform(0, 3))
    seeds = int(rng.integers(10, 120))
    return cycles_of(points_between(rng, odds, seeds, draws=rng.uniform(0, 0.5), luck=0.5))


@pytest.mark.slow
def test_planted_cycles_are_flagged_and_transitive_sets_are_not() -> None:
    flagged = sum(planted(number).is_alarm for number in range(SETS))
    false_alarms = sum(transitive(number).is_alarm for number in range(SETS))

    assert (flagged, false_alarms) == (SETS, 0)


def test_false_alarms_are_as_rare_as_they_are_said_to_be() -> None:
    # The hardest case: of three the last beats the first, and the second is level with both.
    rng = np.random.default_rng(3)
    odds = np.array([[0.0, 0.0, -3.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]])

    alarms = [cycles_of(points_between(rng, odds, 30)).is_alarm for _ in range(300)]

    assert sum(alarms) <= 3  # at most one in a hundred is said


def test_many_draws_among_unequal_players_are_no_circle() -> None:
    # Each takes 0.8 points from all below: under Elo the last would take far less from the first.
    rng = np.random.default_rng(4)
    odds = 20.0 * np.sign(np.arange(4)[None, :] - np.arange(4)[:, None])

    found = cycles_of(points_between(rng, odds, 200, draws=0.4))

    assert found.share is not None
    assert found.share > 0.1  # the share alone would mislead
    assert not found.is_alarm


def test_the_surest_circle_is_named_in_its_order() -> None:
    rng = np.random.default_rng(5)
    odds = circle(rng, 3, strength=2.0)

    surest = cycles_of(points_between(rng, odds, 60)).surest

    assert surest is not None
    assert surest.players == (0, 1, 2)
    assert min(surest.shares) > 0.6


def test_a_pure_circle_is_all_cyclic_and_a_ladder_is_not() -> None:
    rock_paper_scissors = [Game(0, pair, (1.0, -1.0)) for pair in ((0, 1), (1, 2), (2, 0))]
    alike = [Game(0, (0, 1), (0.0, 0.0)), Game(0, (1, 2), (0.0, 0.0)), Game(0, (0, 2), (0.0, 0.0))]

    assert cycles_of(points_of(rock_paper_scissors, 3)).share == pytest.approx(1.0)
    assert cycles_of(points_of(alike, 3)).share == 0.0


def test_two_players_and_a_ring_with_a_gap_have_no_cyclic_part() -> None:
    two = points_of([Game(0, (0, 1), (1.0, -1.0))], 2)
    chain = points_of([Game(0, (0, 1), (1.0, -1.0)), Game(0, (1, 2), (1.0, -1.0))], 3)

    assert cycles_of(two) == cycles_of(chain) == Cycles(None, None, None)


def test_few_seeds_show_no_circle_however_plain_it_is() -> None:
    def found(seeds: int) -> bool:
        one = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
        games = np.tile(1.0 - np.eye(3), (seeds, 1, 1))
        return cycles_of(Points(games, np.tile(one, (seeds, 1, 1)))).is_alarm

    assert not found(seeds_needed(3) - 1)
    assert found(seeds_needed(3))


def test_games_that_a_link_has_more_do_not_make_up_for_another() -> None:
    # The first link has ten times as many games: by games and not by pairs it would outweigh all.
    games = [Game(seed, (0, 1), (1.0, -1.0)) for seed in range(20) for _ in range(10)]
    games += [Game(seed, (1, 2), (1.0, -1.0)) for seed in range(20)]
    games += [Game(seed, (0, 2), (1.0, -1.0)) for seed in range(20)]

    assert cycles_of(points_of(games, 3)).p_value == 1.0
