"""Print a summary for a person: the figures with their intervals, then what to run next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gem.cli.text import one_line
from gem_eval.summary import Result, Summary

__all__ = ["print_summary"]

_NAMES = ("environment", "policy")
_SHOWN = 300
_UNCUT = 10_000


def print_summary(summary: Summary, file: IO[str]) -> None:
    """Print a table, plain and uncut where the file is no terminal; or blocks, on a narrow one."""
    console = Console(file=file, highlight=False)
    rows = [_row(result) for result in summary.results]
    table = _table(rows, box.SIMPLE_HEAD if console.is_terminal else None)
    needed = console.measure(table, options=console.options.update(width=_UNCUT)).maximum
    if not console.is_terminal:
        console.width = max(console.width, needed)
    if needed <= console.width:
        console.print(table)
    else:
        _print_blocks(console, rows)
    for line in _notes(summary):
        console.print(Text(line), soft_wrap=True)


def _table(rows: Sequence[Mapping[str, str]], lines: box.Box | None) -> Table:
    table = Table(box=lines, pad_edge=False, header_style="bold")
    for name in rows[0]:
        table.add_column(name, justify="left" if name in _NAMES else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row.values()))
    return table


def _print_blocks(console: Console, rows: Sequence[Mapping[str, str]]) -> None:
    for row in rows:
        title = "  ".join(row[name] for name in _NAMES)
        console.print(Text(title, style="bold"), soft_wrap=True)
        for name, figure in row.items():
            if name not in _NAMES:
                console.print(Text(f"  {name:<10}{figure}"), soft_wrap=True)
        console.print()


def _row(result: Result) -> dict[str, str]:
    row = {
        "environment": one_line(result.env_id),
        "policy": one_line(result.policy),
        "episodes": str(result.episodes),
        "success": _figure(result.success_rate, result.success_rate_ci95, 3),
        "return": _figure(result.mean_return, result.mean_return_ci95, 3),
        "turns": _figure(result.mean_turns, result.mean_turns_ci95, 2),
    }
    if len(result.pass_at_k) > 1:
        k = max(result.pass_at_k, key=int)
        row[f"pass@{k}"] = _figure(result.pass_at_k[k], result.pass_at_k_ci95[k], 3)
    return {**row, "errors": str(result.errors)}


def _figure(value: float | None, interval: tuple[float, float] | None, digits: int) -> str:
    if value is None:
        return "-"
    if interval is None:
        return f"{value:.{digits}f}"
    low, high = interval
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _notes(summary: Summary) -> Iterator[str]:
    folder = shlex.quote(summary.run)
    yield "In brackets: 95% intervals. Episodes that ended by an error count under errors alone."
    for result in summary.results:
        if result.first_error is not None:
            what = one_line(result.first_error)[:_SHOWN]
            yield f"The first error of {result.policy} on {result.env_id}: {what}"
    yield ""
    yield f"Run folder: {summary.run}"
    yield f"Next: gem-env replay {folder} --verify"
