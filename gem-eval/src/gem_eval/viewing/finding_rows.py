"""The table of findings: how it is made, and what is asked of it. Knows nothing about finders."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gem_eval.finding.finder import Finding

__all__ = [
    "SCHEMA",
    "Known",
    "clear",
    "finders_of",
    "findings_of",
    "insert",
    "known_in",
    "last_line",
    "tries_after",
    "write_known",
]

SCHEMA = """
CREATE TABLE IF NOT EXISTS findings (
    line INTEGER, finder TEXT, found TEXT, PRIMARY KEY (line, finder)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS findings_by_finder ON findings (finder, line);
"""
_KEY = "findings"  # of what is known of them, in the table `meta`


class Known(NamedTuple):
    """What the index says of the finders. `generation` is that of the index itself.

    `version` is theirs, `line` the last that they looked at, `left_out` how many tries they could
    not read. `failures` are those of finders, field by field.
    """

    generation: str = ""
    version: str = ""
    line: int = 0
    left_out: int = 0
    failures: Sequence[Sequence[Any]] = ()


def known_in(db: sqlite3.Connection) -> Known:
    """Return what the index says of the finders; the default before they began."""
    found = dict(
        db.execute("SELECT name, value FROM meta WHERE name IN (?, 'generation')", (_KEY,))
    )
    generation = str(found.get("generation", ""))
    if _KEY not in found:
        return Known(generation)
    return Known(generation, *json.loads(found[_KEY]))


def write_known(db: sqlite3.Connection, known: Known) -> None:
    """Write what `known_in` returns from then on."""
    _, *fields = known
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, json.dumps(fields)))


def last_line(db: sqlite3.Connection) -> int:
    """Return the last line of the log that is a try, 0 where there is none."""
    return int(db.execute("SELECT coalesce(max(line), 0) FROM tries").fetchone()[0])


def tries_after(db: sqlite3.Connection, line: int, most: int) -> list[tuple[int, int, int]]:
    """Return where the next tries after a line stand: line, first byte, bytes."""
    found = db.execute(
        "SELECT line, start, length FROM tries WHERE line > ? ORDER BY line LIMIT ?", (line, most)
    )
    return found.fetchall()


def clear(db: sqlite3.Connection) -> None:
    """Forget all findings."""
    db.execute("DELETE FROM findings")


def insert(db: sqlite3.Connection, line: int, findings: Iterable[Finding]) -> None:
    """Add the findings of a try."""
    by_finder: dict[str, list[tuple[int | None, str]]] = {}
    for finding in findings:
        by_finder.setdefault(finding.finder, []).append((finding.turn, finding.evidence))
    for finder, found in by_finder.items():
        values = (line, finder, json.dumps(found))
        db.execute("INSERT OR REPLACE INTO findings VALUES (?, ?, ?)", values)


def findings_of(db: sqlite3.Connection, line: int) -> list[Finding]:
    """Return the findings of a try, by their turns; those of the whole episode come first."""
    findings = []
    for finder, found in db.execute("SELECT finder, found FROM findings WHERE line = ?", (line,)):
        findings += [Finding(finder, turn, evidence) for turn, evidence in json.loads(found)]
    return sorted(findings, key=lambda each: (-1 if each.turn is None else each.turn, each.finder))


def finders_of(db: sqlite3.Connection, lines: Sequence[int]) -> dict[int, list[str]]:
    """Return by line which finders found something in some tries."""
    marks = ", ".join("?" * len(lines))
    finders: dict[int, list[str]] = {}
    selected = db.execute(
        f"SELECT line, finder FROM findings WHERE line IN ({marks}) ORDER BY line, finder",
        list(lines),
    )
    for line, finder in selected:
        finders.setdefault(line, []).append(finder)
    return finders
