"""Draw where a league stands: ratings with their intervals, and who beats whom as a heat map."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gem.cli import one_line
from gem_eval.leagues.results import Standings
from gem_eval.short_names import short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_league"]

_COLOUR = "#0072B2"
# Purple is ahead and orange behind: told apart with every common colour blindness.
_HEAT = "PuOr"
_LONGEST = 32  # characters of a label
_LIGHT = (0.3, 0.7)  # between these shares black is read best
_INCHES = 0.45
_FRAME_INCHES = 2.2
_MOST_FIGURES = 20  # of a row of the heat map, whose cells can be read


def draw_league(figure: Figure, standings: Standings) -> None:
    """Draw a league on a figure, the best policy at the top, and make it as large as it needs."""
    count = len(standings.standings)
    figure.set_size_inches(6.0 + _INCHES * count + 1.5, _FRAME_INCHES + _INCHES * count)
    names = short_names([standing.policy for standing in standings.standings])
    labels = [_cut(one_line(names[standing.policy])) for standing in standings.standings]
    ratings, matrix = figure.subplots(1, 2)
    _draw_ratings(ratings, standings, labels)
    _draw_matrix(matrix, standings, labels)
    foot = "95% intervals; an open one goes to the edge"
    if standings.warning:
        foot = f"One number cannot rank these policies. {foot}"
    figure.supxlabel(foot, fontsize=8)


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST else f"...{label[3 - _LONGEST :]}"


def _draw_ratings(ax: Axes, standings: Standings, labels: list[str]) -> None:
    ax.set_title("Elo" if standings.model == "Bradley-Terry" else "openskill", fontsize=9)
    ax.tick_params(labelsize=8)
    ax.grid(axis="x", linewidth=0.4, alpha=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    bounds = []
    for place, standing in enumerate(standings.standings):
        if standing.rating is not None:
            ax.plot(standing.rating.value, place, marker="o", markersize=4, color=_COLOUR)
            found = (standing.rating.low, standing.rating.value, standing.rating.high)
            bounds += [bound for bound in found if bound is not None]
    if bounds:
        margin = 0.05 * (max(bounds) - min(bounds)) or 1.0
        edges = (min(bounds) - margin, max(bounds) + margin)
        ax.set_xlim(*edges)
        for place, standing in enumerate(standings.standings):
            rating = standing.rating
            if rating is not None and rating.has_interval:
                low = edges[0] if rating.low is None else rating.low
                high = edges[1] if rating.high is None else rating.high
                ax.plot((low, high), (place, place), color=_COLOUR, linewidth=2.5, alpha=0.6)
    _label(ax, labels)


def _draw_matrix(ax: Axes, standings: Standings, labels: list[str]) -> None:
    ax.set_title("points of the row against the column", fontsize=9)
    order = [standing.policy for standing in standings.standings]
    shares = []
    for standing in standings.standings:
        against = {meeting.opponent: meeting.share for meeting in standing.meetings}
        row = [against.get(other) for other in order]
        shares.append([float("nan") if share is None else share for share in row])
    ax.imshow(shares, cmap=_HEAT, vmin=0.0, vmax=1.0, aspect="auto")
    ax.tick_params(labelsize=8)
    ax.set_xticks(range(len(labels)))
    ax.set_xticklabels(labels, parse_math=False, fontsize=8, rotation=45, ha="right")
    _label(ax, labels)
    if len(labels) > _MOST_FIGURES:
        return
    for place, row_of in enumerate(shares):
        for column, share in enumerate(row_of):
            if not math.isnan(share):  # not against itself, nor against whom it never met
                colour = "black" if _LIGHT[0] < share < _LIGHT[1] else "white"
                ax.text(
                    column, place, f"{share:.2f}", ha="center", va="center", size=7, color=colour
                )


def _label(ax: Axes, labels: list[str]) -> None:
    ax.set_yticks(range(len(labels)))
    # What stands between two dollars would else be read as mathematics.
    ax.set_yticklabels(labels, parse_math=False, fontsize=8)
    ax.set_ylim(len(labels) - 0.5, -0.5)
