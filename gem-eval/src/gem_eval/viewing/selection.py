"""What a query leaves of the table of tries: rows in its order, counts, and what stands beside."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gem_eval.viewing.query import ERROR, Query
from gem_eval.viewing.rows import COLUMNS, Row

__all__ = ["Neighbours", "Selection"]

_FACETS = ("outcome", "env", "policy", "stop")


class Neighbours(NamedTuple):
    """Where a row stands in a list, from 1, or 0 where it is not in it; lines beside it."""

    place: int
    total: int
    before: int | None
    after: int | None


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
            f"SELECT {COLUMNS} FROM tries NOT INDEXED WHERE {where} "
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
    elif query.q and query.within == ERROR:
        terms.append("error = ?")
        values.append(query.q)
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
