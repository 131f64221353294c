"""Where policies stand by games: records, seats, forfeits, ranks, and games of many seats."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import pytest

from gem_eval.leagues.games import Game
from gem_eval.leagues.pairings import line_ups_of
from gem_eval.leagues.results import Standings
from gem_eval.leagues.standings import stand

WON = (1.0, -1.0)
LOST = (-1.0, 1.0)
DRAWN = (0.0, 0.0)


def stood(games: list[Game], **changes: Any) -> Standings:
    """Return where a, b and c stand."""
    usual: dict[str, Any] = {"env_id": "tiny:Duel", "seats": ("first", "second")}
    return stand(games, ["a", "b", "c"], **{**usual, **changes})


def test_wins_draws_and_losses_are_counted_by_opponent_and_seat() -> None:
    found = stood([Game(0, (0, 1), WON), Game(0, (1, 0), DRAWN), Game(1, (0, 2), LOST)])

    a = next(each for each in found.standings if each.policy == "a")
    by_opponent = {each.opponent: (each.wins, each.draws, each.losses) for each in a.meetings}
    assert by_opponent == {"b": (1, 1, 0), "c": (0, 0, 1)}
    assert [(each.seat, each.points, each.mean_return) for each in a.by_seat] == [
        ("first", 1.0, 0.0),
        ("second", 0.5, 0.0),
    ]


def test_a_forfeit_counts_nowhere_unless_it_is_to_lose() -> None:
    games = [Game(seed, pair, DRAWN) for seed in range(4) for pair in permutations(range(3), 2)]
    games.append(Game(4, (0, 1), DRAWN, forfeit=0))

    apart = stood(games)
    lost = stood(games, forfeits="lose")

    assert [each.rating.value for each in apart.standings if each.rating] == [1500.0] * 3
    assert {each.policy: each.forfeits for each in apart.standings} == {"a": 1, "b": 0, "c": 0}
    assert (apart.games, apart.forfeits) == (25, 1)
    assert [each.policy for each in lost.standings] == ["b", "c", "a"]
    assert lost.standings[-1].record.losses == 1


def test_it_is_told_where_nothing_bounds_what_the_first_seat_is_worth() -> None:
    games = [Game(seed, pair, WON) for seed in range(4) for pair in permutations(range(3), 2)]
    note = "What the first seat is worth is open where no game says how much more or less it is."

    always = stood(games)
    once_not = stood([*games, Game(4, (0, 1), LOST), Game(4, (1, 0), LOST)])

    assert always.first_seat is not None
    assert (always.first_seat.low is None, always.first_seat.high) == (False, None)
    assert note in always.notes
    assert note not in once_not.notes


def test_equals_share_a_rank() -> None:
    games = [Game(seed, pair, WON) for seed in range(4) for pair in ((0, 2), (1, 2))]
    games += [Game(seed, (0, 1), DRAWN) for seed in range(4)]
    games += [
        Game(seed, tuple(reversed(game.players)), (-game.earned[0], -game.earned[1]))
        for game in games
        for seed in [game.seed]
    ]

    found = stood(games)

    assert [(each.rank, each.policy) for each in found.standings] == [(1, "a"), (1, "b"), (3, "c")]


def test_a_circle_warns_with_names_and_shares() -> None:
    circle = ((0, 1), (1, 2), (2, 0))
    games = [Game(seed, pair, WON) for seed in range(20) for pair in circle]

    found = stood(games)

    assert found.is_cyclic
    assert found.cyclic_share == pytest.approx(1.0)
    assert "a takes 100% from b, b takes 100% from c, c takes 100% from a" in found.warning


def test_a_ranking_warns_of_nothing_and_says_what_is_open() -> None:
    games = [Game(seed, pair, WON) for seed in range(20) for pair in ((0, 1), (1, 2), (0, 2))]

    found = stood(games)

    assert found.warning == ""
    assert any("An interval is open" in note for note in found.notes)


def test_without_a_game_there_is_no_rating_and_one_says_why() -> None:
    found = stood([])

    assert [each.rating for each in found.standings] == [None] * 3
    assert found.notes == ("No game was played to its end yet.",)


def test_those_who_never_met_over_others_are_ranked_by_points() -> None:
    found = stood([Game(0, (0, 1), LOST)])

    assert found.standings[0].policy == "b"
    assert found.standings[0].rating is None
    assert "does not connect all policies" in found.notes[0]


def test_a_game_of_three_seats_is_rated_by_openskill_and_counts_each_pair() -> None:
    pytest.importorskip("openskill", reason="gem-eval's extra `league` is not installed")
    strength = (3.0, 2.0, 1.0)
    games = [
        Game(seed, players, tuple(strength[player] for player in players))
        for seed in range(5)
        for players in permutations(range(3))
    ]

    found = stood(games, seats=("x", "y", "z"))

    assert found.model == "Plackett-Luce"
    assert [each.policy for each in found.standings] == ["a", "b", "c"]
    assert [each.record.share for each in found.standings] == [1.0, 0.5, 0.0]
    best = found.standings[0].rating
    assert best is not None
    assert best.low is not None
    assert best.low < best.value


@pytest.mark.parametrize(
    ("players", "seats", "most"), [(10, 3, 5), (10, 3, 20), (9, 3, 42), (9, 4, 63), (6, 3, 19)]
)
def test_a_sample_in_which_line_ups_were_drawn_twice_is_as_even(
    players: int, seats: int, most: int
) -> None:
    chosen = line_ups_of(range(players), seats, most=most)

    times = Counter(player for line_up in chosen for player in line_up)
    assert len({frozenset(line_up) for line_up in chosen}) == len(chosen) == most
    assert all(len(set(line_up)) == seats for line_up in chosen)
    assert max(times.values()) - min(times[player] for player in range(players)) <= 1


def test_a_sample_of_line_ups_has_everybody_equally_often() -> None:
    chosen = line_ups_of(range(8), 3, most=16)

    counts = [sum(player in line_up for line_up in chosen) for player in range(8)]
    assert len(set(chosen)) == 16
    assert set(counts) == {6}


def test_where_there_is_room_every_line_up_is_played_once() -> None:
    assert len(line_ups_of(range(5), 2, most=10)) == 10
