"""What a league came to: who stands where, who met whom, and whether one number ranks them.

Pure functions from games to figures. Knows nothing about episodes or run folders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from gem_eval.leagues.bradley_terry import Rating, is_connected, rate
from gem_eval.leagues.cycles import Cycles, cycles_of, seeds_needed
from gem_eval.leagues.games import Game, Points, points_of
from gem_eval.leagues.record import Forfeits
from gem_eval.leagues.results import (
    Circle,
    Figure,
    Meeting,
    Record,
    SeatRecord,
    Standing,
    Standings,
)
from gem_eval.leagues.skill import skills

__all__ = ["stand", "with_exploitability"]

_APART: Forfeits = "apart"


class _Rated(NamedTuple):
    ratings: Sequence[Rating | None]
    first: Rating | None
    has_intervals: bool


def stand(
    games: Sequence[Game],
    policies: Sequence[str],
    *,
    env_id: str,
    seats: Sequence[str],
    forfeits: Forfeits = "apart",
    void: int = 0,
    is_sample: bool = False,
) -> Standings:
    """Return where policies stand by the games of a league. Deterministic.

    Games are of policies by their number. Raises MissingRequirement for more than two seats
    without openskill.
    """
    players = len(policies)
    points = points_of(games, players, forfeits)
    rated = _rated(games, points, len(seats), forfeits)
    cycles = cycles_of(points) if len(points.games) else Cycles(None, None, None)
    meetings = _meetings(games, policies, forfeits)
    standings = [
        Standing(
            rank=0,
            policy=policies[player],
            rating=_figure(rated.ratings[player], rated.has_intervals),
            record=_sum(meetings[player]),
            forfeits=sum(_failed(game) == player for game in games),
            by_seat=tuple(_by_seat(games, player, seats, forfeits)),
            meetings=tuple(meetings[player]),
        )
        for player in range(players)
    ]
    circle = None
    if cycles.surest is not None:
        names = [policies[player] for player in cycles.surest.players]
        circle = Circle(policies=(names[0], names[1], names[2]), shares=cycles.surest.shares)
    return Standings(
        env_id=env_id,
        seats=tuple(seats),
        model="Bradley-Terry" if len(seats) == 2 else "Plackett-Luce",
        standings=tuple(_ranked(standings)),
        seeds=len({game.seed for game in games}),
        games=len(games),
        forfeits=sum(game.forfeit is not None for game in games),
        forfeits_are=forfeits,
        void=void,
        first_seat=_figure(rated.first, rated.has_intervals),
        cyclic_share=cycles.share,
        p_value=cycles.p_value,
        circle=circle,
        is_cyclic=cycles.is_alarm,
        notes=tuple(_notes(points, rated, cycles, is_sample=is_sample)),
    )


def _rated(games: Sequence[Game], points: Points, seats: int, forfeits: Forfeits) -> _Rated:
    players = points.games.shape[1]
    if not len(points.games) or not is_connected(points):
        return _Rated([None] * players, None, False)
    if seats > 2:
        return _Rated(skills(games, players, forfeits), None, True)
    ratings = rate(points)
    return _Rated(ratings.players, ratings.first_seat, ratings.has_intervals)


def _figure(rating: Rating | None, has_interval: bool) -> Figure | None:
    if rating is None:
        return None
    return Figure(value=rating.value, low=rating.low, high=rating.high, has_interval=has_interval)


def _ranked(standings: Sequence[Standing]) -> Iterator[Standing]:
    """Yield standings with their ranks, the best first; who has equals shares their rank."""

    def strength(standing: Standing) -> float:
        if standing.rating is not None:
            return round(standing.rating.value, 6)
        return standing.record.share or 0.0

    ordered = sorted(standings, key=lambda standing: -strength(standing))
    for standing in ordered:
        better = sum(strength(other) > strength(standing) for other in ordered)
        yield standing.model_copy(update={"rank": better + 1})


def _failed(game: Game) -> int | None:
    return None if game.forfeit is None else game.players[game.forfeit]


def _meetings(
    games: Sequence[Game], policies: Sequence[str], forfeits: Forfeits
) -> list[list[Meeting]]:
    """Return what came of each policy's games against each other one, in their order."""
    counts: dict[tuple[int, int], list[int]] = {}
    for game in games:
        for seat, player in enumerate(game.players):
            for other_seat, other in enumerate(game.players):
                result = _result(game, seat, other_seat, forfeits)
                if player != other and result is not None:
                    counts.setdefault((player, other), [0, 0, 0])[result] += 1
    nothing = [0, 0, 0]
    meetings: list[list[Meeting]] = []
    for player in range(len(policies)):
        row = []
        for other, name in enumerate(policies):
            if other != player:
                record = _record(counts.get((player, other), nothing))
                row.append(Meeting(opponent=name, **record))
        meetings.append(row)
    return meetings


def _result(game: Game, seat: int, other: int, forfeits: Forfeits) -> int | None:
    """Return 0 where a seat won against another, 1 for a draw, 2 where it lost; else None."""
    if game.forfeit is not None:
        if forfeits == _APART or game.forfeit not in (seat, other):
            return None
        return 2 if game.forfeit == seat else 0
    difference = game.earned[seat] - game.earned[other]
    return 1 if difference == 0 else 0 if difference > 0 else 2


def _record(counts: Sequence[int]) -> dict[str, int]:
    wins, draws, losses = counts
    return {"games": wins + draws + losses, "wins": wins, "draws": draws, "losses": losses}


def _sum(records: Sequence[Record]) -> Record:
    return Record(
        games=sum(record.games for record in records),
        wins=sum(record.wins for record in records),
        draws=sum(record.draws for record in records),
        losses=sum(record.losses for record in records),
    )


def _by_seat(
    games: Sequence[Game], player: int, seats: Sequence[str], forfeits: Forfeits
) -> Iterator[SeatRecord]:
    for seat, name in enumerate(seats):
        own = [game for game in games if game.players[seat] == player]
        counts = [0, 0, 0]
        for game in own:
            for other, opponent in enumerate(game.players):
                result = _result(game, seat, other, forfeits)
                if opponent != player and result is not None:
                    counts[result] += 1
        earned = [game.earned[seat] for game in own if game.forfeit is None]
        yield SeatRecord(
            seat=name, mean_return=fmean(earned) if earned else None, **_record(counts)
        )


def _notes(points: Points, rated: _Rated, cycles: Cycles, *, is_sample: bool) -> Iterator[str]:
    seeds, players, _ = points.games.shape
    if not seeds:
        yield "No game was played to its end yet."
        return
    if rated.ratings[0] is None:
        yield (
            "There are no ratings, for who met whom does not connect all policies yet: ranks are "
            "by the share of points."
        )
    elif not rated.has_intervals:
        yield "All games are of one seed, which shows no spread: give more seeds for intervals."
    if any(rating and rated.has_intervals and None in rating for rating in rated.ratings):
        yield (
            "An interval is open where a policy lost nothing, or won nothing, against the rest: "
            "no game says how much better or worse it is."
        )
    if rated.first is not None and rated.has_intervals and None in rated.first:
        yield "What the first seat is worth is open where no game says how much more or less it is."
    if cycles.share is not None and seeds < seeds_needed(players):
        yield (
            f"{seeds} seeds are too few to show that policies beat each other in a circle: it "
            f"takes {seeds_needed(players)}."
        )
    if is_sample:
        yield "There are too many line-ups to play all: a balanced sample of them was played."


def with_exploitability(
    standings: Standings, found: Mapping[str, tuple[float | None, str]]
) -> Standings:
    """Return standings with the exploitability of each policy, or why there is none."""
    updated = []
    for standing in standings.standings:
        value, reason = found.get(standing.policy, (None, ""))
        updated.append(
            standing.model_copy(update={"exploitability": value, "no_exploitability": reason})
        )
    return standings.model_copy(update={"standings": tuple(updated)})
