"""Say how the rows of a table are graded, and which cannot be. Knows nothing about grading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from gem.errors import BadArguments
from gem_data._rows import Graded
from gem_data._table import Table

__all__ = ["Golds", "Ungradable", "check_golds"]


class Ungradable(NamedTuple):
    """A row to which no answer can be graded: its task, from 0, its gold, and why."""

    task: int
    gold: str
    trouble: str


class Golds(NamedTuple):
    """How the rows of a table are graded: how many by what, and those that cannot be, in order."""

    rows: int
    by: Mapping[str, int]
    ungradable: tuple[Ungradable, ...]


def check_golds(table: Table[Any]) -> Golds:
    """Ask of every row how answers to it are graded.

    Reads each row once. Raises BadArguments for a kind of rows that does not say.
    """
    graded_by = table.kind.graded
    if graded_by is None:
        raise BadArguments(
            f"It was asked how the rows of {table.origin.name} are graded, and a "
            f"{table.kind.name} does not say. Ask it of a table whose kind does.",
            subject=table.kind.name,
        )
    counts: Counter[str] = Counter()
    ungradable = []
    for task, row in enumerate(table):
        graded: Graded = graded_by(row)
        counts[graded.by] += 1
        if graded.trouble:  # tasks count from 0, as resets do
            ungradable.append(Ungradable(task, graded.gold, graded.trouble))
    return Golds(len(table), dict(counts.most_common()), tuple(ungradable))
