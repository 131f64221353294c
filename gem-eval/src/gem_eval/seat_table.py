"""Lay figures by seat out as rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gem.cli import one_line
from gem_eval.seat_results import SeatResult
from gem_eval.tables import Row

__all__ = ["SEAT_NAMES", "SEAT_NOTE", "seat_rows"]

SEAT_NAMES = ("environment", "line-up", "seat", "policy")
"""The columns that say whose figures a row has."""

SEAT_NOTE = (
    "Of an environment of several seats the first table has the success of all and the sum of "
    "their returns, the table by seat what each has for itself. A forfeit is an episode that the "
    "seat's own policy ended by an error."
)

FigureText = Callable[[float | None, tuple[float, float] | None, int], str]


def seat_rows(
    results: Sequence[SeatResult],
    names: Mapping[str, str],
    figure: FigureText,
    short: Callable[[int], str],
) -> list[Row]:
    """Return a row for each result. What says nothing in any of them is left out.

    `names` has the shorter names of policies and line-ups, `figure` writes a number with its
    interval, and `short` a count of tokens.
    """
    silent = {
        "environment": len({result.env_id for result in results}) == 1,
        "line-up": all(result.line_up == result.policy for result in results),
        "other errors": all(result.errors == result.forfeits for result in results),
        "tokens in/out": all(result.tokens is None for result in results),
        "cost": all(result.cost is None for result in results),
    }
    rows: list[Row] = []
    for result in results:
        row = _row(result, names, figure, short)
        rows.append({name: cell for name, cell in row.items() if not silent.get(name, False)})
    return rows


def _row(
    result: SeatResult,
    names: Mapping[str, str],
    figure: FigureText,
    short: Callable[[int], str],
) -> Row:
    tokens = result.tokens
    used = "-" if tokens is None else f"{short(tokens.prompt)}/{short(tokens.completion)}"
    return {
        "environment": one_line(result.env_id),
        "line-up": one_line(names[result.line_up]),
        "seat": "any" if result.seat is None else one_line(result.seat),
        "policy": one_line(names[result.policy]),
        "episodes": str(result.episodes),
        "success": figure(result.success_rate, result.success_rate_ci95, 3),
        "return": figure(result.mean_return, result.mean_return_ci95, 3),
        "forfeits": str(result.forfeits),
        "other errors": str(result.errors - result.forfeits),
        "turns": figure(result.mean_turns, None, 2),
        "tokens in/out": used,
        "cost": "-" if result.cost is None else f"{result.cost:.4g}",
    }
