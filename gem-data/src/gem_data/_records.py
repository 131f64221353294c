"""Rows under our field names, read one at a time: in memory, as JSON texts, or as they arrive.

Knows nothing about what a row means.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any, Protocol

from gem.errors import DataError
from gem_data._rows import Reader, Rows

__all__ = ["Record", "Records", "Renamed", "Streamed", "Texts"]

Record = Mapping[str, Any]


class Records(Protocol):
    """A table before its rows are read: `[index]` is a row's fields, under our names."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Record: ...

    def __iter__(self) -> Iterator[Record]: ...


class Renamed:
    """The first rows of any table with names of its own; none is copied."""

    def __init__(self, rows: Rows, reader: Reader[Any], limit: int | None) -> None:
        self._rows = rows
        self._reader = reader
        self._count = len(rows) if limit is None else min(limit, len(rows))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Record:
        return self._reader.pick(self._rows[index], index + 1)

    def __iter__(self) -> Iterator[Record]:
        return map(self._reader.pick, islice(self._rows, self._count), count(1))


class Texts:
    """Records written as JSON, one text each."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: int) -> Record:
        record: Record = json.loads(self._texts[index])
        return record

    def __iter__(self) -> Iterator[Record]:
        return (self[index] for index in range(len(self)))


class Streamed:
    """Records of rows that arrive in order: `[index]` waits for those before it, and keeps them.

    Raises DataError where the rows end before there are as many as `limit`, and at every row from
    the first that cannot be had.
    """

    def __init__(self, rows: Iterable[object], reader: Reader[Any], limit: int) -> None:
        self._arriving = map(reader.pick, rows, count(1))
        self._reader = reader
        self._limit = limit
        self._kept: list[Record] = []
        self._broken: DataError | None = None
        self._lock = threading.Lock()  # one thread reads on, the others wait for its rows

    @property
    def is_broken(self) -> bool:
        """Whether a row could not be had, after which none can."""
        return self._broken is not None

    def __len__(self) -> int:
        return self._limit

    def __getitem__(self, index: int) -> Record:
        with self._lock:
            while len(self._kept) <= index:
                self._kept.append(self._next())
        return self._kept[index]

    def __iter__(self) -> Iterator[Record]:
        return (self[index] for index in range(len(self)))

    def _next(self) -> Record:
        if self._broken is not None:  # an index never comes to mean another row
            raise self._broken
        try:
            record = next(self._arriving, None)
        except DataError as error:
            self._broken = error
            raise
        if record is None:
            self._broken = self._ended()
            raise self._broken
        return record

    def _ended(self) -> DataError:
        source = self._reader.source
        return DataError(
            f"{source} was asked for limit={self._limit} rows, and has {len(self._kept)}. Give a "
            "limit of at most that.",
            source=source,
        )
