"""What the page of a league shows above its results: the ranking, and who beats whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gem_eval.leagues.printing import points_text, rating_text
from gem_eval.leagues.results import Meeting, Standing, Standings
from gem_eval.line_ups import PolicyRef
from gem_eval.short_names import short_names
from gem_eval.viewing.plots import Band, Scale, band_of
from gem_eval.viewing.query import Query
from gem_eval.viewing.runs import Run

__all__ = ["Cell", "LeagueView", "Line", "league_view"]

_LEVELS = 4  # of colour, on either side of a half
_MARGIN = 0.05
# What the page says in bold itself.
_WARNING = "One number cannot rank these policies: "


class Cell(NamedTuple):
    """What a policy took from another one. `kind` names its colour, "" for a half or nothing."""

    text: str
    kind: str
    title: str
    link: str


class Line(NamedTuple):
    """One policy of a league. `band` is None where it has no rating."""

    standing: Standing
    name: str
    rating: str
    band: Band | None
    words: str
    points: str
    by_seat: tuple[str, ...]
    cells: tuple[Cell | None, ...]
    """What it took from each other one, in the order of the lines; None from itself."""


class LeagueView(NamedTuple):
    """A league as its page shows it, the best policy first."""

    standings: Standings
    lines: tuple[Line, ...]
    scale: str
    warning: str
    has_exploitability: bool
    first_seat: str


def league_view(run: Run, standings: Standings | None, query: Query) -> LeagueView | None:
    """Return what a page shows of a league; None for any other run."""
    if standings is None:
        return None
    names = short_names([standing.policy for standing in standings.standings])
    digits = 0 if standings.model == "Bradley-Terry" else 2
    scale = _scale(standings)
    lines = tuple(
        _line(run, standing, standings, names, scale, query, digits)
        for standing in standings.standings
    )
    return LeagueView(
        standings,
        lines,
        f"{scale.low:.{digits}f} to {scale.high:.{digits}f}",
        standings.warning_by(names).removeprefix(_WARNING),
        any(standing.exploitability is not None for standing in standings.standings),
        rating_text(standings.first_seat, 0),
    )


def _scale(standings: Standings) -> Scale:
    """Return a range that holds every rating, and every bound that there is."""
    found = [
        bound
        for standing in standings.standings
        if standing.rating is not None
        for bound in (standing.rating.low, standing.rating.value, standing.rating.high)
        if bound is not None
    ]
    if not found:
        return Scale(0.0, 1.0)
    margin = _MARGIN * (max(found) - min(found)) or 1.0
    return Scale(min(found) - margin, max(found) + margin)


def _line(
    run: Run,
    standing: Standing,
    standings: Standings,
    names: Mapping[str, str],
    scale: Scale,
    query: Query,
    digits: int,
) -> Line:
    rating = standing.rating
    band = None
    if rating is not None:
        # An open interval goes on to the edge of the scale.
        low = scale.low if rating.low is None else rating.low
        high = scale.high if rating.high is None else rating.high
        band = band_of(rating.value, (low, high) if rating.has_interval else None, scale)
    record = standing.record
    against = {meeting.opponent: meeting for meeting in standing.meetings}
    return Line(
        standing=standing,
        name=names[standing.policy],
        rating=rating_text(rating, digits),
        band=band,
        words=f"{record.wins}/{record.draws}/{record.losses}",
        points=points_text(record),
        by_seat=tuple(points_text(seat) for seat in standing.by_seat),
        cells=tuple(
            _cell(run, standing.policy, against.get(other.policy), query)
            for other in standings.standings
        ),
    )


def _cell(run: Run, policy: str, meeting: Meeting | None, query: Query) -> Cell | None:
    if meeting is None:
        return None
    title = f"{meeting.wins} won, {meeting.draws} drawn, {meeting.losses} lost"
    line_ups = [
        ref.name for ref in run.folder.record.settings.policies if _meet(ref, policy, meeting)
    ]
    address = query.cleared().address(policy=tuple(line_ups))
    return Cell(points_text(meeting), _kind(meeting.share), title, f"{address}#episodes")


def _meet(ref: PolicyRef, policy: str, meeting: Meeting) -> bool:
    names = {member.name for member in ref.members}
    return policy in names and meeting.opponent in names


def _kind(share: float | None) -> str:
    """Return the class of a cell: which side of a half, and how far from it, from 1 to 4.

    >>> _kind(1.0), _kind(0.45), _kind(0.5)
    ('ahead-4', 'behind-1', '')
    """
    if share is None or share == 0.5:
        return ""
    level = min(_LEVELS, 1 + int(abs(share - 0.5) * 2 * _LEVELS))
    return f"{'ahead' if share > 0.5 else 'behind'}-{level}"
