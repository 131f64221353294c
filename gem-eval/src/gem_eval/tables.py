"""Print rows of text as tables, as wide as a terminal or a file may be; no cell is cut.

Knows nothing about what the rows say.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import IO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

__all__ = ["Row", "Table", "console_for", "print_table", "tables_within", "width_of"]

_GAP = "  "
_LOG_WIDTH = 120  # of a file or a pipe

Row = Mapping[str, str]
Table = Sequence[Row]


class _Console(Console):
    """Leaves a closed pipe to `gem-env`, as everything else does: rich would end with status 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console_for(file: IO[str]) -> Console:
    """Return a console that prints to a file. One that is no terminal is 120 columns wide.

    COLUMNS says otherwise, where it is set.
    """
    console = _Console(file=file, highlight=False)
    if not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        console.width = _LOG_WIDTH
    return console


def tables_within(width: int, rows: Table, names: Sequence[str]) -> list[Table]:
    """Share the columns out over tables that fit, each with the names and one column or more."""
    tables: list[Table] = []
    figures: list[str] = []  # of the table that is being filled
    for figure in rows[0]:
        if figure in names:
            continue
        wider = [*figures, figure]
        if figures and width_of(_chosen(rows, (*names, *wider))) > width:
            tables.append(_chosen(rows, (*names, *figures)))
            wider = [figure]
        figures = wider
    return [*tables, _chosen(rows, (*names, *figures))]


def _chosen(rows: Table, columns: Sequence[str]) -> Table:
    return [{name: row[name] for name in columns} for row in rows]


def _widths(rows: Table) -> dict[str, int]:
    return {name: max(cell_len(name), *(cell_len(row[name]) for row in rows)) for name in rows[0]}


def width_of(rows: Table) -> int:
    """Return how many columns of a terminal the rows take."""
    widths = _widths(rows)
    return sum(widths.values()) + len(_GAP) * (len(widths) - 1)


def print_table(console: Console, rows: Table, left: Collection[str]) -> None:
    """Print rows below their names. The columns in `left` are words; others stand to the right."""
    widths = _widths(rows)
    header = {name: name for name in rows[0]}
    for row in (header, *rows):
        cells = (_padded(cell, widths[name], is_left=name in left) for name, cell in row.items())
        style = "bold" if row is header else ""
        console.print(Text(_GAP.join(cells).rstrip(), style=style), soft_wrap=True)


def _padded(cell: str, width: int, *, is_left: bool) -> str:
    blanks = " " * (width - cell_len(cell))
    return f"{cell}{blanks}" if is_left else f"{blanks}{cell}"
