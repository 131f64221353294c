"""Draw the results of runs with their intervals, as PNG, SVG or PDF. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.cli import one_line
from gem.registry import check_requirements
from gem_eval.errors import ExportError
from gem_eval.exporting.drafts import draft_of
from gem_eval.reading import read_summary
from gem_eval.run_folder import RunFolder
from gem_eval.short_names import short_names
from gem_eval.summary import Interval, Result, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "plot"]

FORMATS = ("png", "svg", "pdf")
# Told apart with every common colour blindness (Okabe and Ito 2008), and by their place as well.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MOST_ROWS = 400
_LONGEST = 48  # characters of a label
_ROW_INCHES = 0.28
_FRAME_INCHES = 1.1
_WIDTH_INCHES = 9.0
_DOTS = 150


class _Row(NamedTuple):
    """A line of the plot: one policy on one environment of one run."""

    label: str
    policy: str
    result: Result


class _Panel(NamedTuple):
    """One figure of each row, and its interval."""

    title: str
    value: str
    interval: str
    is_rate: bool


_PANELS = (
    _Panel("success", "success_rate", "success_rate_ci95", True),
    _Panel("return", "mean_return", "mean_return_ci95", False),
    _Panel("turns", "mean_turns", "mean_turns_ci95", False),
)


def plot(runs: str | Path | Sequence[str | Path], out: str | Path) -> Path:
    """Draw success, return and turns of run folders with their 95% intervals, and return the file.

    Of one league it draws the ratings with their intervals, and who beats whom. `out` ends in .png,
    .svg or .pdf, and is not there yet. The same runs give the same file.
    Raises RunFolderError, LogError, ExportError, and MissingRequirement without matplotlib.

        gem_eval.plot(["runs/before", "runs/after"], "both.svg")
    """
    check_requirements(("matplotlib>=3.8",), subject="plot()", of="gem-eval")
    several = [runs] if isinstance(runs, (str, Path)) else list(runs)
    path = Path(out)
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise ExportError(
            f"A plot was asked for at {path}, and its name says no format. Let it end in "
            f"{', '.join(f'.{each}' for each in FORMATS)}."
        )
    folders = [RunFolder.open(run) for run in several]
    if len(folders) == 1 and folders[0].record.league is not None:
        draw = _league_drawer(folders[0])
    else:
        rows = _rows([read_summary(folder) for folder in folders])
        _refuse_nothing_and_too_much(rows, several)
        draw = partial(_draw, rows=rows)
    with draft_of(path, is_folder=False) as draft:
        _save(draw, draft, kind)
    return path


def _league_drawer(folder: RunFolder) -> Callable[[Figure], None]:
    from gem_eval.leagues.drawing import draw_league
    from gem_eval.leagues.reading import read_standings

    standings = read_standings(folder)
    if not standings.games:
        raise ExportError(f"{folder.path} has no game yet, and there is nothing to draw.")
    return partial(draw_league, standings=standings)


def _rows(summaries: Sequence[Summary]) -> list[_Row]:
    """Return a row for each result, those of one environment together."""
    results = [(summary.run, result) for summary in summaries for result in summary.results]
    names = short_names({result.policy for _, result in results})
    environments = dict.fromkeys(result.env_id for _, result in results)
    rows = []
    for env_id in environments:
        for run, result in results:
            if result.env_id == env_id and result.episodes:
                parts = [names[result.policy], *([run] if len(summaries) > 1 else [])]
                label = one_line(", ".join([env_id, *parts]))
                rows.append(_Row(_cut(label), ", ".join(parts), result))
    return rows


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST else f"...{label[3 - _LONGEST :]}"


def _refuse_nothing_and_too_much(rows: Sequence[_Row], runs: Iterable[str | Path]) -> None:
    if not rows:
        raise ExportError(
            f"{', '.join(map(str, runs))} has no episode yet, and there is nothing to draw."
        )
    if len(rows) > _MOST_ROWS:
        raise ExportError(
            f"A plot has a line for each policy on each environment, and these would be "
            f"{len(rows)}, where {_MOST_ROWS} can be read. Give fewer runs."
        )


def _save(draw: Callable[[Figure], None], path: Path, kind: str) -> None:
    """Write what is drawn on a new figure, so that the same runs give the same file."""
    from matplotlib import rc_context  # heavy: 0.5 s
    from matplotlib.figure import Figure

    # Ids in an SVG are else drawn anew each time, and text becomes outlines that nobody finds.
    with rc_context({"svg.hashsalt": "gem", "svg.fonttype": "none"}):
        figure = Figure(layout="constrained")
        draw(figure)
        metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {}
        if kind == "pdf":
            metadata = {"CreationDate": None}
        figure.savefig(path, format=kind, dpi=_DOTS, metadata=metadata)


def _draw(figure: Figure, rows: Sequence[_Row]) -> None:
    policies = dict.fromkeys(row.policy for row in rows)
    colours = {policy: _COLOURS[number % len(_COLOURS)] for number, policy in enumerate(policies)}
    figure.set_size_inches(_WIDTH_INCHES, _FRAME_INCHES + _ROW_INCHES * len(rows))
    axes = figure.subplots(1, len(_PANELS), sharey=True)
    for panel, ax in zip(_PANELS, axes, strict=True):
        _draw_panel(ax, panel, rows, colours)
    axes[0].set_yticks(range(len(rows)))
    # What stands between two dollars would else be read as mathematics.
    axes[0].set_yticklabels([row.label for row in rows], parse_math=False, fontsize=8)
    axes[0].invert_yaxis()
    figure.supxlabel("mean and 95% interval; errors are not in it", fontsize=8)


def _draw_panel(ax: Axes, panel: _Panel, rows: Sequence[_Row], colours: dict[str, str]) -> None:
    ax.set_title(panel.title, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.grid(axis="x", linewidth=0.4, alpha=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    if panel.is_rate:
        ax.set_xlim(-0.02, 1.02)
    for place, row in enumerate(rows):
        value: float | None = getattr(row.result, panel.value)
        interval: Interval = getattr(row.result, panel.interval)
        colour = colours[row.policy]
        if interval is not None:
            ax.plot(interval, (place, place), color=colour, linewidth=2.5, alpha=0.6)
        if value is not None:
            ax.plot(value, place, marker="o", markersize=4, color=colour)
