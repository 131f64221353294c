"""Print where a league stands for a person: the ranking, who beats whom, and what to make of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from rich.console import Console
from rich.text import Text

from gem.cli import one_line
from gem_eval.leagues.results import Figure, Record, Standing, Standings
from gem_eval.short_names import short_names
from gem_eval.tables import Row, console_for, print_table, tables_within
from gem_eval.wording import counted

__all__ = ["MARK", "points_text", "print_standings", "rating_text"]

MARK = "-"
_SHOWN = 300


def print_standings(standings: Standings, file: IO[str], *, run: str, offers_next: bool) -> None:
    """Print the tables of a league, then a warning where one number cannot rank, then notes."""
    console = console_for(file)
    names = short_names([standing.policy for standing in standings.standings])
    rows = [_row(standing, names, standings) for standing in standings.standings]
    _print(console, rows, ("rank", "policy"), left=("policy",))
    console.print()
    console.print(Text("Points of the row against the column, of 1 a game", style="bold"))
    _print(console, [*_matrix(standings, names)], ("policy",), left=("policy",))
    warning = one_line(standings.warning_by(names))
    if warning:
        console.print()
        console.print(Text(f"WARNING: {warning}", style="bold"), soft_wrap=True)
    console.print()
    for line in _notes(standings, names):
        console.print(Text(line), soft_wrap=True)
    if offers_next:
        folder = shlex.quote(run)
        for line in (
            "",
            f"Run folder: {run}",
            f"Next: gem-env view {folder}",
            f"      gem-env plot {folder} --out league.svg",
            f"      gem-env replay {folder} --verify",
        ):
            console.print(Text(line), soft_wrap=True)


def rating_text(figure: Figure | None, digits: int) -> str:
    """Write a rating with its interval; a bound that no game sets is left open.

    >>> rating_text(Figure(value=1620.4, low=1550.2, high=None), 0)
    '1620 [1550, open]'
    """
    if figure is None:
        return MARK
    value = f"{figure.value:.{digits}f}"
    if not figure.has_interval:
        return value
    low, high = (
        "open" if bound is None else f"{bound:.{digits}f}" for bound in (figure.low, figure.high)
    )
    return f"{value} [{low}, {high}]"


def points_text(record: Record) -> str:
    """Write what was won as a share of all points, a dash without a game."""
    return MARK if record.share is None else f"{record.share:.3f}"


def _print(
    console: Console, rows: Sequence[Row], names: Sequence[str], left: Sequence[str]
) -> None:
    is_first = True
    for table in tables_within(console.width, rows, names):
        if not is_first:
            console.print()
        is_first = False
        print_table(console, table, left)


def _row(standing: Standing, names: Mapping[str, str], standings: Standings) -> Row:
    record = standing.record
    row = {
        "rank": str(standing.rank),
        "policy": one_line(names[standing.policy]),
        "rating": rating_text(standing.rating, 0 if standings.model == "Bradley-Terry" else 2),
        "points": points_text(record),
        "won/drawn/lost": f"{record.wins}/{record.draws}/{record.losses}",
    }
    for seat in standing.by_seat:
        row[f"as {one_line(seat.seat)}"] = points_text(seat)
    row["forfeits"] = str(standing.forfeits)
    if any(other.exploitability is not None for other in standings.standings):
        value = standing.exploitability
        row["exploitability"] = MARK if value is None else f"{value:.4f}"
    return row


def _matrix(standings: Standings, names: Mapping[str, str]) -> Iterator[Row]:
    order = [standing.policy for standing in standings.standings]
    for standing in standings.standings:
        against = {meeting.opponent: meeting for meeting in standing.meetings}
        row = {"policy": one_line(names[standing.policy])}
        for other in order:
            meeting = against.get(other)
            row[one_line(names[other])] = "" if meeting is None else points_text(meeting)
        yield row


def _notes(standings: Standings, names: Mapping[str, str]) -> Iterator[str]:
    games = f"{counted(standings.games, 'game')} of {counted(standings.seeds, 'seed')}"
    kind = "Elo points by Bradley and Terry's model, of which the mean is 1500"
    if standings.model == "Plackett-Luce":
        kind = "openskill's by Plackett and Luce's model, which begin at 25"
    yield f"{games}. Ratings: {kind}; in brackets 95% intervals."
    if standings.first_seat is not None:
        worth = rating_text(standings.first_seat, 0)
        yield f"To sit at {one_line(standings.seats[0])} is worth {worth} points."
    if standings.cyclic_share is not None and standings.p_value is not None:
        p_value = standings.p_value
        chance = "< 0.0001" if p_value < 0.0001 else f"= {p_value:.4f}"
        yield (
            f"Cyclic share of who beats whom: {standings.cyclic_share:.1%}; that there is a circle "
            f"at all: p {chance}."
        )
    if standings.forfeits:
        count = counted(standings.forfeits, "game")
        how = "count as lost" if standings.forfeits_are == "lose" else "count nowhere else"
        yield f"Forfeits: {count} ended because a policy did not answer, and {how}."
    if standings.void:
        yield f"{counted(standings.void, 'game')} ended by an error of no policy, and are left out."
    yield from standings.notes
    for name, short in names.items():
        if name != short:
            yield f"{one_line(short)} is {one_line(name)}"
    told = any(standing.exploitability is not None for standing in standings.standings)
    for standing in standings.standings:
        if told and standing.no_exploitability:
            why = one_line(standing.no_exploitability)[:_SHOWN]
            yield f"No exploitability of {one_line(names[standing.policy])}: {why}"
