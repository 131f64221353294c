"""The table of tries: how it is made, and what is asked of it.

Knows nothing about logs; a row is what `scan` makes of a line.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from gem.conversation import Usage
from gem_eval.summary import Outcome
from gem_eval.viewing.scanning import LongTurns, Scanned
from gem_eval.viewing.seats import SeatFigures, plays_of, seats_from_json

__all__ = [
    "COLUMNS",
    "SCHEMA",
    "Place",
    "Row",
    "batch_of",
    "examples_of",
    "insert",
    "long_turns_of",
    "outcomes",
    "peers_of",
    "row_at",
    "stops_of",
    "values_of",
]

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value);
CREATE TABLE IF NOT EXISTS tries (
    line INTEGER PRIMARY KEY, counts INTEGER, start INTEGER, length INTEGER,
    outcome TEXT, env INTEGER, policy TEXT, number INTEGER, repeat INTEGER, seed TEXT,
    task INTEGER, return REAL, turns INTEGER, stop TEXT, duration REAL, last TEXT, error TEXT,
    prompt_tokens INTEGER, completion_tokens INTEGER, policy_s REAL, environment_s REAL,
    answers INTEGER, cut_answers INTEGER, seats TEXT
);
CREATE INDEX IF NOT EXISTS places ON tries (policy, env, number, repeat);
CREATE INDEX IF NOT EXISTS facets ON tries (counts, outcome, env, policy, stop, return, turns);
CREATE TABLE IF NOT EXISTS long_tries (
    line INTEGER PRIMARY KEY, record TEXT, blocks TEXT, curve TEXT
);
"""
COLUMNS = (
    "line, counts, start, length, outcome, env, policy, number, repeat, seed, task, return, turns, "
    "stop, duration, last, error, seats"
)
"""Of the table of tries: what a `Row` is made of, in its order."""


class Row(NamedTuple):
    """A try in a list. `counts` says whether it is the one that its episode is judged by.

    `start` and `length` are the bytes of its line in the log; `total_return` is None where it is
    no number.
    """

    line: int
    counts: bool
    start: int
    length: int
    outcome: str
    env: int
    policy: str
    number: int
    repeat: int
    seed: str
    task: int | None
    total_return: float | None
    turns: int
    stop: str
    duration_s: float | None
    last_words: str
    error: str | None
    seats_json: str | None = None

    @property
    def seats(self) -> tuple[SeatFigures, ...]:
        """How it went for each seat; none where there is one."""
        return seats_from_json(self.seats_json)


class Place(NamedTuple):
    """Where a try stands in the log: its line, the first byte of that, and how many it has."""

    line: int
    start: int
    length: int


def insert(db: sqlite3.Connection, line: int, start: int, length: int, scanned: Scanned) -> None:
    """Add a try. It counts instead of the one before, unless that ended without an error."""
    place = (scanned.policy, scanned.env_index, scanned.episode_index, scanned.repeat)
    before = db.execute(
        "SELECT line, outcome FROM tries "
        "WHERE policy = ? AND env = ? AND number = ? AND repeat = ? AND counts",
        place,
    ).fetchone()
    counts = before is None or before[1] == "error"
    if before is not None and counts:
        db.execute("UPDATE tries SET counts = 0 WHERE line = ?", (before[0],))
    *figures, long_turns = scanned
    values = (line, counts, start, length, *figures)
    marks = ", ".join("?" * len(values))
    db.execute(f"INSERT OR REPLACE INTO tries VALUES ({marks})", values)
    if long_turns is not None:
        blocks = json.dumps(long_turns.blocks)
        curve = json.dumps(long_turns.curve)
        long_try = (line, long_turns.record, blocks, curve)
        db.execute("INSERT OR REPLACE INTO long_tries VALUES (?, ?, ?, ?)", long_try)


def long_turns_of(db: sqlite3.Connection, line: int) -> LongTurns | None:
    """Return where the turns of a try stand, where it has many."""
    found = db.execute(
        "SELECT record, blocks, curve FROM long_tries WHERE line = ?", (line,)
    ).fetchone()
    if found is None:
        return None
    record, blocks, curve = found
    return LongTurns(record, json.loads(blocks), json.loads(curve))


def count_tries(db: sqlite3.Connection) -> int:
    """Return how many tries there are, of whatever episodes."""
    return int(db.execute("SELECT count(*) FROM tries").fetchone()[0])


def count_episodes(db: sqlite3.Connection) -> tuple[int, int]:
    """Return how many episodes there are, and how many of them ended by an error."""
    counted, failed = db.execute(
        "SELECT count(*), sum(outcome = 'error') FROM tries WHERE counts"
    ).fetchone()
    return (counted, failed or 0)


def has_seats(db: sqlite3.Connection) -> bool:
    """Say whether there are episodes of several seats."""
    return db.execute("SELECT 1 FROM tries WHERE seats IS NOT NULL LIMIT 1").fetchone() is not None


def stops_of(db: sqlite3.Connection) -> list[str]:
    """Return the reasons for which episodes ended."""
    found = db.execute("SELECT DISTINCT stop FROM tries WHERE counts ORDER BY stop")
    return [stop for (stop,) in found]


def values_of(db: sqlite3.Connection, facet: str) -> set[Any]:
    """Return the values that episodes have of a filter: of a column, or the finders."""
    if facet == "finder":
        found = db.execute("SELECT DISTINCT finder FROM findings")
    else:
        found = db.execute(f"SELECT DISTINCT {facet} FROM tries WHERE counts")
    return {value for (value,) in found}


def row_at(db: sqlite3.Connection, line: int) -> Row | None:
    """Return the try of a line of the log, where that is one."""
    found = db.execute(f"SELECT {COLUMNS} FROM tries WHERE line = ?", (line,)).fetchone()
    return None if found is None else Row._make(found)


def peers_of(db: sqlite3.Connection, row: Row, most: int = 20) -> list[Row]:
    """Return what the other policies came to on the same episode of the plan."""
    found = db.execute(
        f"SELECT {COLUMNS} FROM tries "
        "WHERE counts AND env = ? AND number = ? AND repeat = ? AND policy != ? "
        "ORDER BY line LIMIT ?",
        (row.env, row.number, row.repeat, row.policy, most),
    )
    return list(map(Row._make, found))


def batch_of(
    db: sqlite3.Connection, row: Row, *, of_task: bool, most: int, seat: SeatFigures | None = None
) -> tuple[list[Place], int]:
    """Return the tries that a row is trained with, and how many there are in all.

    They are those of its policy that ended without an error; `of_task` leaves those of its task,
    and `seat` those in which the same policy sat at that seat.
    Of more than `most` they are the block of so many, in the order of the log, that has the row.
    """
    where = "counts AND outcome != 'error' AND policy = ?"
    values: list[Any] = [row.policy]
    if seat is not None:
        # As `seats_as_json` keeps them: a list for each seat, whose third entry is its policy.
        where += " AND json_extract(seats, ?) = ?"
        values += [f"$[{seat.number}][2]", seat.policy]
    if of_task:
        # As in a summary: of a finite set by the task, which may have several numbers.
        where += " AND env = ? AND " + ("number = ?" if row.task is None else "task = ?")
        values += [row.env, row.number if row.task is None else row.task]
    count = f"SELECT count(*) FROM tries WHERE {where}"
    [total] = db.execute(count, values).fetchone()
    [before] = db.execute(f"{count} AND line < ?", [*values, row.line]).fetchone()
    found = db.execute(
        f"SELECT line, start, length FROM tries WHERE {where} ORDER BY line LIMIT ? OFFSET ?",
        [*values, most, before // most * most],
    )
    return list(map(Place._make, found)), total


def examples_of(db: sqlite3.Connection, error: str, stop: str, most: int) -> list[Row]:
    """Return the first episodes that ended by an error with these words."""
    found = db.execute(
        f"SELECT {COLUMNS} FROM tries "
        "WHERE counts AND outcome = 'error' AND error = ? AND stop = ? ORDER BY line LIMIT ?",
        (error, stop, most),
    )
    return list(map(Row._make, found))


def outcomes(db: sqlite3.Connection) -> Iterator[Outcome]:
    """Yield the outcome of each episode, as a summary takes it."""
    # Without these tables each row would bring its own copy of the same few words.
    words: dict[str, str] = {}
    selected = db.execute(
        "SELECT env, policy, number, repeat, outcome, return, turns, stop, error, prompt_tokens, "
        "completion_tokens, policy_s, environment_s, task, answers, cut_answers, seed, seats "
        "FROM tries WHERE counts ORDER BY line"
    )
    for row in selected:
        env, policy, number, repeat, outcome, total = row[:6]
        turns, stop, error, prompt, completion = row[6:11]
        policy_s, environment_s, task, answers, cut_answers, seed, seats = row[11:]
        yield Outcome(
            env_index=env,
            policy=words.setdefault(policy, policy),
            episode_index=number,
            repeat=repeat,
            success=outcome == "succeeded",
            total_return=float("nan") if total is None else total,
            turns=turns,
            stop_reason=words.setdefault(stop, stop),
            error=error,
            usage=None if prompt is None else Usage(prompt, completion),
            policy_s=policy_s or 0.0,
            environment_s=environment_s or 0.0,
            task=task,
            answers=answers,
            cut_answers=cut_answers,
            seed=None if seats is None else int(seed),
            seats=plays_of(seats_from_json(seats), int(seed) if task is None else task, stop),
        )
