"""A database that episodes share until one writes. Knows nothing about tools and tasks."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["Changes", "Database", "Draft", "Record", "Tables", "canonical"]

Record = dict[str, Any]
"""One row: plain JSON data."""
Tables = Mapping[str, Mapping[str, Record]]
"""Rows by table and key. What is in them is never written."""
Changes = dict[str, dict[str, Record]]
"""The rows of an episode that differ from the shared ones, or are not among them."""

_DIGITS = 6  # after the point: sums of prices differ in the twelfth digit by their order


class Database(NamedTuple):
    """The tables that all episodes share, and what one episode changed. It is never written.

    Of two databases over the same tables `state` is equal exactly where every row is.
    """

    tables: Tables
    changes: Changes

    def get(self, table: str, key: str) -> Record | None:
        """Return a row, None where there is none. It is shared: read it, never write it."""
        changed = self.changes.get(table, {}).get(key)
        return self.tables.get(table, {}).get(key) if changed is None else changed

    def keys(self, table: str) -> Iterator[str]:
        """Yield the keys of a table: the shared ones first, then those that were added."""
        shared = self.tables.get(table, {})
        yield from shared
        for key in self.changes.get(table, {}):
            if key not in shared:
                yield key

    def draft(self) -> Draft:
        """Return a copy to write into. The rows are copied as they are written."""
        return Draft(self)

    def state(self) -> str:
        """Return the rows that differ from the shared ones, as canonical JSON.

        A row that was written and holds what it held before is not among them: it is the state
        that counts, and not how often somebody wrote.
        """
        differing: dict[str, dict[str, str]] = {}
        for table, rows in self.changes.items():
            for key, row in rows.items():
                text = _text(row)
                # As text: Python's True equals 1, and JSON's does not.
                if text != _text(self.tables.get(table, {}).get(key)):
                    differing.setdefault(table, {})[key] = text
        return json.dumps(differing, sort_keys=True)


class Draft:
    """A database while one tool writes into it. `done` returns the database that it becomes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._written: Changes = {}

    def get(self, table: str, key: str) -> Record | None:
        """Return a row as it is now. Read it, never write it."""
        written = self._written.get(table, {}).get(key)
        return self._database.get(table, key) if written is None else written

    def keys(self, table: str) -> Iterator[str]:
        """Yield the keys of a table, those added in this draft among them."""
        yield from self._database.keys(table)
        for key in self._written.get(table, {}):
            if self._database.get(table, key) is None:
                yield key

    def edit(self, table: str, key: str) -> Record:
        """Return a row to write into: a copy of its own. Raises KeyError where there is none."""
        rows = self._written.setdefault(table, {})
        if key not in rows:
            row = self._database.get(table, key)
            if row is None:
                raise KeyError(key)
            rows[key] = copy.deepcopy(row)
        return rows[key]

    def add(self, table: str, key: str, row: Record) -> None:
        """Put a row under a key."""
        self._written.setdefault(table, {})[key] = row

    def done(self) -> Database:
        """Return the database with what was written. The one before is as it was."""
        changes = {table: dict(rows) for table, rows in self._database.changes.items()}
        for table, rows in self._written.items():
            changes.setdefault(table, {}).update(rows)
        return Database(self._database.tables, changes)


def canonical(value: Any) -> Any:
    """Return JSON data in which equal things are written alike: 25 and 25.0 are one number.

    >>> canonical({"paid": 25.0, "due": 0.1 + 0.2, "is_new": True})
    {'paid': 25, 'due': 0.3, 'is_new': True}
    """
    if isinstance(value, Mapping):
        return {key: canonical(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [canonical(each) for each in value]
    if isinstance(value, float):
        rounded = round(value, _DIGITS)
        return int(rounded) if rounded.is_integer() else rounded
    return value


def _text(value: Any) -> str:
    return json.dumps(canonical(value), sort_keys=True)
