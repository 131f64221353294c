"""What a league came to: who stands where, who met whom, and whether one number ranks them.

Pure functions from games to figures. Knows nothing about episodes or run folders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from gem_eval.leagues.bradley_terry import Rating, is_connected, rate
from gem_eval.leagues.cycles import Cycles, cycles_of, seeds_needed
from gem_eval.leagues.games import Forfeits, Game, Points, points_of
from gem_eval.leagues.skill import skills

__all__ = [
    "Circle",
    "Figure",
    "Meeting",
    "Record",
    "SeatRecord",
    "Standing",
    "Standings",
    "stand",
    "with_exploitability",
]

FORFEITS_APART: Forfeits = "apart"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Figure(_Frozen):
    """A figure with its 95% interval. A bound is None where the games set none.

    `has_interval` is False where they are of one seed alone, which shows no spread.
    """

    value: float
    low: float | None
    high: float | None
    has_interval: bool = True


class Record(_Frozen):
    """What came of games for one of those who played: `points` are wins, and half the draws."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def points(self) -> float:
        """What was won, of as many points as there were games."""
        return self.wins + self.draws / 2

    @property
    def share(self) -> float | None:
        """What was won of all there was to win; None without a game."""
        return self.points / self.games if self.games else None


class Meeting(Record):
    """What came of the games of one policy against another, who is `opponent`."""

    opponent: str


class SeatRecord(Record):
    """What came of the games of a policy at one seat. In a game of many it meets several at once.

    `mean_return` is of the games that were played to their end; None where there was none.
    """

    seat: str
    mean_return: float | None = None


class Standing(_Frozen):
    """One policy of a league. `rating` is None where who met whom connects not all of them.

    `forfeits` are the games that ended because it did not answer. `exploitability` is exact, or
    None for the reason that is given: what the best answer to it gains, by seat.
    """

    rank: int
    policy: str
    rating: Figure | None
    record: Record
    forfeits: int
    by_seat: tuple[SeatRecord, ...]
    meetings: tuple[Meeting, ...]
    exploitability: float | None = None
    no_exploitability: str = ""


class Circle(_Frozen):
    """Three policies, each ahead of the next, and the last of the first: with what share."""

    policies: tuple[str, str, str]
    shares: tuple[float, float, float]


class Standings(_Frozen):
    """What a league came to, the best first.

    `model` is what ratings are of: Elo points by Bradley and Terry's model, whose mean is 1500, or
    openskill's, which begin at 25. `first_seat` is what the lower seat is worth in Elo points.
    `cyclic_share`, `p_value`, `circle` and `is_cyclic` are as `gem_eval.leagues.cycles` explains.
    `void` games ended by an error that is nobody's, and count nowhere; `forfeits` count by
    `forfeits_are`. `notes` are for a person to read.
    """

    format: Literal[1] = 1
    env_id: str
    seats: tuple[str, ...]
    model: Literal["Bradley-Terry", "Plackett-Luce"]
    standings: tuple[Standing, ...]
    seeds: int
    games: int
    forfeits: int
    forfeits_are: Forfeits
    void: int
    first_seat: Figure | None = None
    cyclic_share: float | None = None
    p_value: float | None = None
    circle: Circle | None = None
    is_cyclic: bool = False
    notes: tuple[str, ...] = ()

    @property
    def warning(self) -> str:
        """Say why one number cannot rank these policies; "" where it can, for all that is known."""
        return self.warning_by({})

    def warning_by(self, called: Mapping[str, str]) -> str:
        """Return the same, with policies called otherwise where the mapping has their names."""
        if not self.is_cyclic or self.circle is None or self.p_value is None:
            return ""
        names = [called.get(policy, policy) for policy in self.circle.policies]
        following = (*names[1:], names[0])
        links = [
            f"{name} takes {share:.0%} from {other}"
            for name, other, share in zip(names, following, self.circle.shares, strict=True)
        ]
        chance = "< 0.0001" if self.p_value < 0.0001 else f"= {self.p_value:.4f}"
        return (
            f"One number cannot rank these policies: {', '.join(links)} (p {chance}). Read the "
            "table of who beats whom instead of the ratings."
        )


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
        if forfeits == FORFEITS_APART or game.forfeit not in (seat, other):
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
