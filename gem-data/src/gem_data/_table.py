"""A checked table: rows that are read one at a time from where they are.

Knows nothing about how a table is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Generic, NamedTuple, TypeVar

from gem.specs import DataSource
from gem_data._records import Record, Records, Streamed
from gem_data._rows import Reader, no_rows

__all__ = ["Origin", "Table"]

Row_co = TypeVar("Row_co", covariant=True)


class Origin(NamedTuple):
    """Where a table is from. `name` is how errors call it.

    `source` is set for a data set of the hub alone; `revision` is then the commit that was got,
    where it is known, and `split` the split that was taken.
    """

    name: str
    source: DataSource | None = None
    revision: str | None = None
    split: str | None = None


class Table(Generic[Row_co]):
    """Checked rows, one table for every instance in the process. Treat it as read-only.

    `[index]` reads one row, where it is; indices count from 0, as tasks do. `fields` maps each
    field of ours to its name in the data.
    """

    def __init__(self, records: Records, reader: Reader[Row_co], origin: Origin) -> None:
        self.kind = reader.kind
        self.fields = reader.names
        self.origin = origin
        self._records = records
        self._reader = reader
        if not len(records):
            raise no_rows(origin.name)

    @property
    def is_broken(self) -> bool:
        """Whether its rows were streamed and broke off. Who asks anew gets another table."""
        return isinstance(self._records, Streamed) and self._records.is_broken

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: int) -> Row_co:
        """Read one row. Raises IndexError past the end, DataError if it does not fit."""
        at = range(len(self))[index]  # as a list has it: from the end too, and IndexError
        return self._reader.read(self._records[at], at + 1)

    def __iter__(self) -> Iterator[Row_co]:
        return map(self._reader.read, self._records, count(1))

    def record(self, index: int) -> Record:
        """Return a row as the kind's `read` gets it: our fields and their values."""
        return self._records[range(len(self))[index]]

    def records(self) -> Iterator[Record]:
        """Yield every row as the kind's `read` gets it, in order."""
        return iter(self._records)

    def check(self) -> None:
        """Read every row. Raises DataError, with row and field, at one that does not fit."""
        for _ in self:
            pass
