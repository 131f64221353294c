"""Load a table once per process, for every environment that asks for it.

A small text file is held in memory. A larger one, Parquet and a data set of the hub are
memory-mapped by `datasets`: the rows stay on disk, processes share them, and no environment
holds a copy. Knows nothing about environments.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

from gem.errors import BadArguments, DataError
from gem.registry import check_requirements
from gem.specs import DataSource
from gem_data._arrow import Plain
from gem_data._files import read_rows
from gem_data._hub import find_hub_rows
from gem_data._marks import Mark
from gem_data._records import Renamed, Streamed
from gem_data._rows import Reader, RowKind, Rows, names_of
from gem_data._stored import (
    PARQUET,
    SMALL_BYTES,
    Stamp,
    check_unchanged,
    mapped_parquet,
    mapped_texts,
    small_texts,
    stamp_of,
)
from gem_data._table import Origin, Table

if TYPE_CHECKING:
    import datasets

__all__ = ["REQUIRES", "load_table"]

REQUIRES = ("datasets>=3.0",)

Row = TypeVar("Row")
_WHOLE = "train"  # what `datasets` calls the rows of a file, which has no other split
_lock = threading.RLock()  # threads that ask for one table wait for one load
# Tables on disk are kept for the life of the process: they cost little, and loading takes seconds.
_lasting: dict[Hashable, Table[Any]] = {}
# Rows in memory are somebody's own: their table lives as long as an environment holds it.
_in_memory: WeakValueDictionary[Hashable, Table[Any]] = WeakValueDictionary()


def load_table(
    kind: RowKind[Row],
    *,
    source: DataSource | None = None,
    data: str | Path | Rows | None = None,
    fields: Mapping[str, str] | None = None,
    split: str | None = None,
    limit: int | None = None,
    streaming: bool = False,
) -> Table[Row]:
    """Return the table of a kind of rows: one for the process, checked, cheap to hold.

    `data` is the path of a .jsonl, .json, .csv or .parquet file, a `datasets.Dataset`, or a list
    of dictionaries. Without it the data set `source` of the Hugging Face Hub is loaded, from its
    cache where it is there. `fields` maps our fields to the data's names, over those that the
    source states; `split` chooses, over the source's, where there are several. Rows of a file or
    a list are one split, "train", as `datasets` has it; a Dataset may state another. `limit`
    keeps the first rows.

    Every row is read once, now, and DataError names the row and the field that does not fit.
    With `streaming` rows are fetched in order as they are needed, at most `limit`, which must be
    given and must not be more than there are; they are kept in memory, and checked as they come.

    Raises DataError where the data is absent or malformed, BadArguments for arguments that do
    not go together, MissingRequirement where `datasets` is needed and not installed.
    """
    names = names_of(kind, source.fields if source else {}, fields or {})
    _check_limit(limit, streaming)
    if isinstance(data, (str, Path)):
        path = str(data)
        _check_split(f"the file {path}", split, own=_WHOLE)
        stamp = stamp_of(path)  # in the key: a file that was changed is another table
        key = ("file", stamp, kind, *names.values(), limit, streaming)
        reader = Reader(kind, names, path)
        return _once(_lasting, key, lambda: _file_table(stamp, reader, limit, streaming))
    if data is not None:
        rows = _chosen(data, split)
        reader = Reader(kind, names, f"The {type(rows).__name__} given as data=")
        # The table holds the rows, so that while it is kept their id is nobody else's. A list that
        # has grown since is another table: the one that is kept knows nothing of its new rows.
        key = ("memory", id(rows), len(rows), kind, *names.values(), limit)
        return _once(_in_memory, key, lambda: _memory_table(rows, reader, limit))
    if source is not None and source.hub is None and source.homepage:
        raise _not_on_the_hub(source, needs=[names[field] for field in kind.needs])
    if source is None or source.hub is None:
        raise BadArguments(
            f"A table was asked for, each row a {kind.name}, and no data was given. Give data=, a "
            "path or a table, or source=, a data set of the hub.",
            subject="data",
        )
    wanted = source.model_copy(update={"split": split or source.split})
    reader = Reader(kind, names, f"The data set {wanted.hub!r}")
    key = ("hub", wanted.model_dump_json(), kind, *names.values(), limit, streaming)
    return _once(_lasting, key, lambda: _hub_table(wanted, reader, limit, streaming))


def _not_on_the_hub(source: DataSource, *, needs: Iterable[str]) -> DataError:
    """Return the error for a data set of which nothing but its homepage is known."""
    return DataError(
        "The data of this environment was asked for, and it is not on the Hugging Face Hub. Get "
        f"{source.homepage} (licence: {source.licence}), and give the file, with the fields "
        f'{", ".join(map(repr, needs))}: data="path/to/file.json", or on the command line '
        '--env-kwargs \'{"data": "path/to/file.json"}\'.',
        source=str(source.homepage),
    )


def _check_limit(limit: int | None, streaming: bool) -> None:
    if limit is None and streaming:
        raise BadArguments(
            "streaming=True was asked for without limit=. Give the number of rows, so that it "
            "is known how many tasks there are before they are fetched.",
            subject="limit",
        )
    if limit is not None and limit < 1:
        raise BadArguments(
            f"limit={limit} was asked for. Give 1 or more, or none for every row.",
            subject="limit",
        )


def _once(
    tables: MutableMapping[Hashable, Table[Any]], key: Hashable, load: Callable[[], Table[Any]]
) -> Table[Any]:
    table = _kept(tables, key)
    if table is None:  # one that is there waits for no other's load
        with _lock:  # looked up again: another thread may have loaded it meanwhile
            table = _kept(tables, key) or load()
            tables[key] = table
    return table


def _kept(tables: Mapping[Hashable, Table[Any]], key: Hashable) -> Table[Any] | None:
    """Return the table that was loaded, unless its stream broke off, which may go well anew."""
    table = tables.get(key)
    return None if table is None or table.is_broken else table


def _check_split(what: str, split: str | None, *, own: str) -> None:
    """Refuse rows of one split where another is asked for."""
    if split not in (None, own):
        raise BadArguments(
            f"split={split!r} was asked for of {what}, which is one split, {own!r}. Leave split= "
            "out, or give the rows of that split.",
            subject="split",
        )


def _file_table(
    stamp: Stamp, reader: Reader[Row], limit: int | None, streaming: bool
) -> Table[Row]:
    path = reader.source
    origin = Origin(path)
    if stamp.suffix == PARQUET:
        check_requirements(REQUIRES, subject=f"The Parquet file {path}", of="gem-data")
        table = _mapped_table(mapped_parquet(path, stamp), reader, limit, origin)
        check_unchanged(path, stamp)
        return table
    if streaming and limit is not None:
        return Table(Streamed(_of_version(path, stamp), reader, limit), reader, origin)
    if stamp.size <= SMALL_BYTES:
        texts = small_texts(path, reader, limit)
    else:
        what = f"The data file {path}, which is large,"
        check_requirements(REQUIRES, subject=what, of="gem-data")
        texts = mapped_texts(path, stamp, reader, limit)
    check_unchanged(path, stamp)  # after all rows were read: none is of a later version
    return Table(texts, reader, origin)


def _of_version(path: str, stamp: Stamp) -> Iterator[object]:
    """Yield the rows of a file as they are needed. Raises DataError once it is another version."""
    for _, row in read_rows(path):
        check_unchanged(path, stamp)  # after the row was read: it is of no later version
        yield row


def _chosen(rows: Rows, split: str | None) -> Rows:
    """Return the split of a DatasetDict, or the rows themselves. Raises BadArguments."""
    loaded = sys.modules.get("datasets")  # absent, and no row can be a Dataset
    if loaded is not None and isinstance(rows, loaded.DatasetDict):
        if split in rows:
            chosen: Rows = rows[split]
            return chosen
        raise BadArguments(
            f"data= was given a DatasetDict with the splits {', '.join(map(repr, rows))}. "
            "Choose one with split=.",
            subject="data",
        )
    if isinstance(rows, Sequence) or _is_dataset(rows):
        _check_split(f"the {type(rows).__name__} given as data=", split, own=_own_split(rows))
        return rows
    raise BadArguments(
        f"data= was given a {type(rows).__name__}. Give the path of a file, a datasets.Dataset "
        "or a list of dictionaries.",
        subject="data",
    )


def _own_split(rows: Rows) -> str:
    stated = getattr(rows, "split", None) if _is_dataset(rows) else None
    return str(stated or _WHOLE)


def _is_dataset(rows: Rows) -> bool:
    loaded = sys.modules.get("datasets")
    return loaded is not None and isinstance(rows, loaded.Dataset)


def _memory_table(rows: Rows, reader: Reader[Row], limit: int | None) -> Table[Row]:
    read = _columns(rows, reader) if _is_dataset(rows) else rows
    table = Table(Renamed(read, reader, limit), reader, Origin(reader.source))
    table.check()
    return table


def _hub_table(
    source: DataSource, reader: Reader[Row], limit: int | None, streaming: bool
) -> Table[Row]:
    check_requirements(REQUIRES, subject=f"The data set {source.hub!r}", of="gem-data")
    needs = ", ".join(repr(reader.names[field]) for field in reader.kind.needs)
    rows, commit = find_hub_rows(source, needs=needs, is_streamed=streaming)
    origin = Origin(reader.source, source, commit)
    if streaming and limit is not None:
        return Table(Streamed(rows, reader, limit), reader, origin)
    return _mapped_table(rows, reader, limit, origin)


def _mapped_table(
    rows: datasets.Dataset, reader: Reader[Row], limit: int | None, origin: Origin
) -> Table[Row]:
    """Return the table over rows on disk, checked once for every process that comes."""
    table = Table(Renamed(_columns(rows, reader), reader, limit), reader, origin)
    mark = Mark(rows, reader, len(table))
    if not mark.is_set():
        table.check()
        mark.set()
    return table


def _columns(rows: datasets.Dataset, reader: Reader[Any]) -> Rows:
    """Return the rows with nothing but the fields that are read. Raises DataError for none."""
    needed = {reader.names[field] for field in reader.kind.needs}
    if len(rows) and not needed <= set(rows.features):
        reader.pick(dict.fromkeys(rows.features), 1)  # raises, naming the field
    wanted = set(reader.names.values())
    return Plain(rows, [column for column in rows.features if column in wanted])
