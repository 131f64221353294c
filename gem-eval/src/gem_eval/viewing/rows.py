"""The table of tries: how it is made, and what is asked of it.

Knows nothing about logs; a row is what `scan` makes of a line.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from gem.conversation import Usage
from gem_eval.summary import Outcome
from gem_eval.viewing.query import Query
from gem_eval.viewing.scanning import LongTurns, Scanned

__all__ = [
    "SCHEMA",
    "Neighbours",
    "Row",
    "Selection",
    "examples_of",
    "insert",
    "long_turns_of",
    "outcomes",
    "peers_of",
    "row_at",
    "stops_of",
]

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value);
CREATE TABLE IF NOT EXISTS tries (
    line INTEGER PRIMARY KEY, counts INTEGER, start INTEGER, length INTEGER,
    outcome TEXT, env INTEGER, policy TEXT, number INTEGER, repeat INTEGER, seed TEXT,
    task INTEGER, return REAL, turns INTEGER, stop TEXT, duration REAL, last TEXT, error TEXT,
    prompt_tokens INTEGER, completion_tokens INTEGER, policy_s REAL, environment_s REAL,
    answers INTEGER, cut_answers INTEGER
);
CREATE INDEX IF NOT EXISTS places ON tries (policy, env, number, repeat);
CREATE INDEX IF NOT EXISTS facets ON tries (counts, outcome, env, policy, stop, return, turns);
CREATE TABLE IF NOT EXISTS long_tries (
    line INTEGER PRIMARY KEY, record TEXT, blocks TEXT, curve TEXT
);
"""
_COLUMNS = (
    "line, counts, start, length, outcome, env, policy, number, repeat, seed, task, return, turns, "
    "stop, duration, last, error"
)
_FACETS = ("outcome", "env", "policy", "stop")


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


class Neighbours(NamedTuple):
    """Where a row stands in a list, from 1, or 0 where it is not in it; lines beside it."""

    place: int
    total: int
    before: int | None
    after: int | None


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


def stops_of(db: sqlite3.Connection) -> list[str]:
    """Return the reasons for which episodes ended."""
    found = db.execute("SELECT DISTINCT stop FROM tries WHERE counts ORDER BY stop")
    return [stop for (stop,) in found]


def row_at(db: sqlite3.Connection, line: int) -> Row | None:
    """Return the try of a line of the log, where that is one."""
    found = db.execute(f"SELECT {_COLUMNS} FROM tries WHERE line = ?", (line,)).fetchone()
    return None if found is None else Row._make(found)


def peers_of(db: sqlite3.Connection, row: Row, most: int = 20) -> list[Row]:
    """Return what the other policies came to on the same episode of the plan."""
    found = db.execute(
        f"SELECT {_COLUMNS} FROM tries "
        "WHERE counts AND env = ? AND number = ? AND repeat = ? AND policy != ? "
        "ORDER BY line LIMIT ?",
        (row.env, row.number, row.repeat, row.policy, most),
    )
    return list(map(Row._make, found))


def examples_of(db: sqlite3.Connection, error: str, stop: str, most: int) -> list[Row]:
    """Return the first episodes that ended by an error with these words."""
    found = db.execute(
        f"SELECT {_COLUMNS} FROM tries "
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
        "completion_tokens, policy_s, environment_s, task, answers, cut_answers "
        "FROM tries WHERE counts ORDER BY line"
    )
    for row in selected:
        env, policy, number, repeat, outcome, total = row[:6]
        turns, stop, error, prompt, completion = row[6:11]
        policy_s, environment_s, task, answers, cut_answers = row[11:]
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
        )


class Selection:
    """The episodes that a query leaves, in its order. `env_ids` are those of the run, in order.

    `found` are the lines in whose conversations its text stands, as JSON, where it asks for that.
    """

    def __init__(
        self, db: sqlite3.Connection, query: Query, env_ids: Sequence[str], found: str = "[]"
    ) -> None:
        self._db = db
        self._query = query
        self._env_ids = env_ids
        self._found = found
        self._kinds: list[tuple[list[Any], int]] | None = None

    def count(self, query: Query | None = None) -> int:
        """Return how many episodes there are; of another query, where one is given."""
        if query is not None:
            return Selection(self._db, query, self._env_ids, self._found).count()
        return sum(count for kind, count in self._counted() if self._has(kind, _FACETS))

    def facet(self, name: str) -> dict[Any, int]:
        """Count the values of a column under all the other filters."""
        counts: dict[Any, int] = {}
        others = [facet for facet in _FACETS if facet != name]
        for kind, count in self._counted():
            if self._has(kind, others):
                value = kind[_FACETS.index(name)]
                counts[value] = counts.get(value, 0) + count
        return counts

    def finders(self) -> dict[str, int]:
        """Count the episodes in which each finder found something, under all other filters."""
        where, values = self._where(self._query.without("finder"))
        found = self._db.execute(
            "SELECT finder, count(*) FROM findings CROSS JOIN tries USING (line) "
            f"WHERE {where} GROUP BY finder",
            values,
        )
        return dict(found.fetchall())

    def _where(self, query: Query) -> tuple[str, list[Any]]:
        return _where(query, self._env_ids, self._found)

    def _counted(self) -> list[tuple[list[Any], int]]:
        """Count the episodes of each kind under all filters but facets.

        There are few kinds, and from these all facets are counted: rows are looked at once.
        """
        if self._kinds is None:
            query = self._query
            for name in _FACETS:
                query = query.without(name)
            where, values = self._where(query)
            columns = ", ".join(_FACETS)
            found = self._db.execute(
                f"SELECT {columns}, count(*) FROM tries WHERE {where} GROUP BY {columns}", values
            )
            self._kinds = [(kind, count) for *kind, count in found]
        return self._kinds

    def _has(self, kind: Sequence[Any], facets: Iterable[str]) -> bool:
        """Say whether a kind is among what some of the facets choose."""
        for facet in facets:
            chosen = getattr(self._query, facet)
            if chosen and kind[_FACETS.index(facet)] not in chosen:
                return False
        return True

    def rows(self, size: int) -> list[Row]:
        """Return the rows of the page that was asked for."""
        where, values = self._where(self._query)
        start = (self._query.page - 1) * size
        # By an index it would gather thousands of rows from all over, to sort them.
        found = self._db.execute(
            f"SELECT {_COLUMNS} FROM tries NOT INDEXED WHERE {where} "
            f"ORDER BY {_order(self._query)} LIMIT ? OFFSET ?",
            [*values, size, start],
        )
        return list(map(Row._make, found))

    def next_flip(self, line: int) -> int | None:
        """Return the next row whose task other policies ended otherwise; behind the last the first.

        None where there is no other than this one.
        """
        where, values = self._where(self._query)
        tasks = self._db.execute(
            "SELECT env, number, repeat FROM tries WHERE counts AND outcome != 'error' "
            "GROUP BY env, number, repeat HAVING min(outcome) < max(outcome)"
        )
        # Asked of the database row by row, it would look through all of these for each.
        flipped = set(tasks.fetchall())
        found = self._db.execute(
            "SELECT line, outcome, env, number, repeat FROM tries "
            f"WHERE {where} ORDER BY {_order(self._query)}",
            values,
        ).fetchall()
        lines = [each[0] for each in found]
        place = lines.index(line) + 1 if line in lines else 0
        for other, outcome, *task in [*found[place:], *found[:place]]:
            if other != line and outcome != "error" and tuple(task) in flipped:
                return int(other)
        return None

    def neighbours(self, line: int) -> Neighbours:
        """Return where a row stands in the list, and what stands beside it."""
        where, values = self._where(self._query)
        found = self._db.execute(
            f"SELECT line FROM tries WHERE {where} ORDER BY {_order(self._query)}", values
        )
        lines = [each for (each,) in found]
        if line not in lines:
            return Neighbours(0, len(lines), None, None)
        place = lines.index(line)
        before = lines[place - 1] if place else None
        after = lines[place + 1] if place + 1 < len(lines) else None
        return Neighbours(place + 1, len(lines), before, after)


def _order(query: Query) -> str:
    if not query.sort:
        return "line"
    column = query.sort.removeprefix("-")
    # Seeds are text, since they may be longer than any number of a database.
    keys = "length(seed), seed" if column == "seed" else column
    if query.sort.startswith("-"):
        keys = ", ".join(f"{key} DESC" for key in keys.split(", "))
    return f"{keys}, line"


def _where(query: Query, env_ids: Sequence[str], found: str) -> tuple[str, list[Any]]:
    """Return a condition and the values of its question marks."""
    terms = ["counts"]
    values: list[Any] = []
    for column in _FACETS:
        chosen = getattr(query, column)
        if chosen:
            terms.append(_one_of(column, chosen))
            values += chosen
    if query.finder:
        chosen_by = _one_of("finder", query.finder)
        terms.append(f"line IN (SELECT line FROM findings WHERE {chosen_by})")
        values += query.finder
    bounds = (
        ("return >= ?", query.return_min),
        ("return <= ?", query.return_max),
        ("turns >= ?", query.turns_min),
        ("turns <= ?", query.turns_max),
        ("line <= ?", query.upto),
    )
    for term, bound in bounds:
        if bound is not None:
            terms.append(term)
            values.append(bound)
    if query.conversation_text:
        terms.append("line IN (SELECT value FROM json_each(?))")
        values.append(found)
    elif query.q:
        term, of_term = _holds(query.q, env_ids)
        terms.append(term)
        values += of_term
    return " AND ".join(terms), values


def _holds(text: str, env_ids: Sequence[str]) -> tuple[str, list[Any]]:
    """Return the condition that a text stands somewhere in a row."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    columns = ("last", "seed", "error", "policy")
    terms = [f"{column} LIKE ? ESCAPE '\\'" for column in columns]
    values: list[Any] = [f"%{escaped}%"] * len(columns)
    named = [
        number for number, env_id in enumerate(env_ids) if text.casefold() in env_id.casefold()
    ]
    if named:
        terms.append(_one_of("env", named))
        values += named
    return f"({' OR '.join(terms)})", values


def _one_of(column: str, values: Iterable[Any]) -> str:
    return f"{column} IN ({', '.join('?' for _ in values)})"
