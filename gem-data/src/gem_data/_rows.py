"""What a pack needs of a row, and what is wrong with one that does not fit.

Rows count from 1 in errors: the lines of a JSONL file, the records after a CSV file's header.
Knows nothing about where rows come from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from gem.errors import BadArguments, DataError

__all__ = [
    "Graded",
    "Misfit",
    "Names",
    "Reader",
    "RowKind",
    "Rows",
    "excerpt",
    "malformed",
    "names_of",
    "no_rows",
    "type_name",
]

Row_co = TypeVar("Row_co", covariant=True)
Names = Mapping[str, str]
"""The name that each field of ours has in a table."""


@runtime_checkable
class Rows(Protocol):
    """A table in memory: a `datasets.Dataset`, or a list of dictionaries."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


class Misfit(ValueError):
    """A row does not fit: `RowKind.read` raises it, and the loader says where the row is.

    `field` is our name of the field, `wanted` what it must be: "a number", "text".
    """

    def __init__(self, field: str, value: object, wanted: str) -> None:
        super().__init__(f"{field!r} is {excerpt(value)}, and must be {wanted}")
        self.field = field
        self.value = value
        self.wanted = wanted


class Graded(NamedTuple):
    """How answers to a row are graded, as far as its gold tells.

    `by` is what decides, in a word or two that rows share: "rules". `gold` is the right answer as
    it is compared. `trouble` says why no answer can be graded: "it is undefined"; empty where
    answers can.
    """

    by: str
    gold: str
    trouble: str = ""


@dataclass(frozen=True, eq=False)
class RowKind(Generic[Row_co]):
    """What a pack needs of a row. Make one for a pack, at the top of a module.

    `name` is the word for a row in errors: "math problem". `needs` are the fields that every
    row has, neither null nor an empty text; `optional` are fields with the value of a row that has
    none, null or NaN. `read` gets a mapping of exactly these fields to JSON values, their numbers
    finite, or bytes where a table holds them. It returns the row as the pack uses it or raises
    Misfit; it must be quick, for it is called at every access, and depend on nothing else. Without
    it a row is a dictionary of these fields. `graded` says of a row how answers to it are graded,
    for `gem-env data --golds`; it is quick too.

    >>> kind = RowKind("sum", read=lambda row: row["question"], needs=("question",))
    >>> kind.read({"question": "1 + 1?"})
    '1 + 1?'
    """

    name: str
    read: Callable[[Mapping[str, Any]], Row_co] = dict  # type: ignore[assignment]  # Row_co is Any
    needs: tuple[str, ...] = ()
    optional: Mapping[str, Any] = field(default_factory=dict)
    graded: Callable[[Row_co], Graded] | None = None


def names_of(kind: RowKind[Any], *mappings: Names) -> Names:
    """Return the name of each of the kind's fields; later mappings go first, else it is its own.

    Raises BadArguments for a field that the kind does not have.
    """
    names = {ours: ours for ours in (*kind.needs, *kind.optional)}
    for mapping in mappings:
        for ours, theirs in mapping.items():
            if ours not in names:
                raise BadArguments(
                    f"fields= names {ours!r}, and a {kind.name} has the fields "
                    f"{_listed(names)}. Write fields={{our field: field of the data}}.",
                    subject="fields",
                )
            names[ours] = theirs
    return names


@dataclass(frozen=True)
class Reader(Generic[Row_co]):
    """How the rows of one table are read: as a kind, under these names, from this source."""

    kind: RowKind[Row_co]
    names: Names
    source: str

    def pick(self, row: object, number: int) -> dict[str, Any]:
        """Return a row's fields under our names. Raises DataError, with the row and the field."""
        needs = self.kind.needs
        names = self.names
        if not isinstance(row, Mapping):
            advice = f"Give rows with the fields {_listed(names[ours] for ours in needs)}."
            raise malformed(self.source, number, f"is {type_name(row)}, not an object", advice)
        for ours in needs:
            if names[ours] not in row:
                raise _missing(self.source, number, ours, names[ours], row)
        record = {ours: row[names[ours]] for ours in needs}
        for ours, default in self.kind.optional.items():
            value = row.get(names[ours])
            record[ours] = default if value is None or _is_nan(value) else value
        for ours, value in record.items():
            # Most are texts, which hold no number: this is asked of every value of a table.
            if type(value) is not str and _holds_no_number(value):
                what = "holds NaN or an infinite number"
                if isinstance(value, float):
                    what = f"is {value}"
                raise _no_value(self.source, number, names[ours], what)
        return record

    def read(self, record: Mapping[str, Any], number: int) -> Row_co:
        """Return the row that a record is. Raises DataError, with the row and the field."""
        try:
            row = self.kind.read(record)
        except Misfit as misfit:
            theirs = self.names.get(misfit.field, misfit.field)
            raise DataError(
                f"{self.source}, row {number}: the field {theirs!r} is {excerpt(misfit.value)}, "
                f"and must be {misfit.wanted}. Correct the row or leave it out.",
                source=self.source,
                row=number,
                field=theirs,
            ) from misfit
        # After the kind's own word, which says what the field must be instead.
        for ours in self.kind.needs:
            value = record[ours]
            if value is None or (isinstance(value, str) and not value):
                what = "is null" if value is None else "is empty"
                raise _no_value(self.source, number, self.names[ours], what)
        return row


def _is_nan(value: object) -> bool:
    """Say whether a value is what tables of numbers have where there is none."""
    return isinstance(value, float) and math.isnan(value)


def _holds_no_number(value: object) -> bool:
    """Say whether NaN or an infinite number is in a value, however deep."""
    met: set[int] = set()  # by identity: a list in memory may hold itself
    waiting = [value]  # and no recursion, which a value that is nested deeply would exhaust
    while waiting:
        part = waiting.pop()
        if isinstance(part, float) and not math.isfinite(part):
            return True
        if isinstance(part, (Mapping, list, tuple)) and id(part) not in met:
            met.add(id(part))
            waiting.extend(part.values() if isinstance(part, Mapping) else part)
    return False


def _no_value(source: str, number: int, theirs: str, what: str) -> DataError:
    return DataError(
        f"{source}, row {number}: the field {theirs!r} {what}, and must be a value. Correct the "
        "row or leave it out.",
        source=source,
        row=number,
        field=theirs,
    )


def _missing(source: str, number: int, ours: str, theirs: str, row: Mapping[str, Any]) -> DataError:
    return DataError(
        f"{source}, row {number}: there is no field {theirs!r}; its fields are "
        f"{_listed(list(row)[:10]) or 'none'}. Rename it, or name yours with "
        f'fields={{"{ours}": "..."}}.',
        source=source,
        row=number,
        field=theirs,
    )


def malformed(source: str, number: int, what: str, advice: str) -> DataError:
    """Return the error of a row that cannot be read."""
    return DataError(f"{source}, row {number}: it {what}. {advice}", source=source, row=number)


def no_rows(source: str) -> DataError:
    """Return the error of a table without rows."""
    return DataError(f"{source} holds no rows. Give a table with one row or more.", source=source)


def type_name(value: object) -> str:
    """Return what a value is, as an error says it."""
    if value is None:
        return "null"
    name = type(value).__name__
    article = "an" if name[0].lower() in "aeiou" else "a"
    return f"{article} {name}"


def excerpt(value: object) -> str:
    """Return any value as a short piece of ASCII."""
    # Cut before it is written out: a value may be as large as a row.
    try:
        text = ascii(value[:60] if isinstance(value, (str, bytes, list, tuple)) else value)
    except RecursionError:  # lists in lists: the loader takes any depth
        return f"{type_name(value)} nested too deeply to be shown"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _listed(fields: Iterable[object]) -> str:
    return ", ".join(map(repr, fields))
