"""Turn a local file into records: in memory if it is small, memory-mapped if it is not.

Knows nothing about what is in a row.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.errors import DataError
from gem_data._arrow import TextColumn
from gem_data._files import SUFFIXES, read_rows
from gem_data._marks import identity
from gem_data._quiet import Quiet, root_text
from gem_data._records import Texts
from gem_data._rows import Reader, no_rows

if TYPE_CHECKING:
    import datasets

__all__ = [
    "PARQUET",
    "SMALL_BYTES",
    "Stamp",
    "check_unchanged",
    "mapped_parquet",
    "mapped_texts",
    "small_texts",
    "stamp_of",
]

SMALL_BYTES = 8 << 20
"""A text file of at most this size is held in memory, and needs nothing installed."""

PARQUET = ".parquet"
"""The suffix of a file that is always memory-mapped."""

_COLUMN = "record"


class Stamp(NamedTuple):
    """What tells a file, and one version of it, from others, however its path is spelled.

    `changed_ns` is when the file system last noted a change. Nobody can set it, as `touch`, `tar`
    and `rsync` set `modified_ns`, so that another content of equal size and date shows.
    """

    suffix: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    def version(self) -> tuple[int, ...]:
        """Return what tells it from others on every machine that mounts it, and after a restart.

        The number of a device is one machine's own.
        """
        return self.inode, self.size, self.modified_ns, self.changed_ns


def stamp_of(path: str) -> Stamp:
    """Return a file's stamp. Raises DataError for one that cannot be opened or is of no kind.

    Every environment that is made asks for one, so it costs microseconds.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 - a tenth of what a Path costs
    except (OSError, ValueError) as error:
        raise _cannot_open(path, error) from error
    suffix = os.path.splitext(path)[1].lower()  # noqa: PTH122 - as above
    if suffix not in (*SUFFIXES, PARQUET):
        raise DataError(
            f"{path} is not a kind of file that is read here. Give one that ends in "
            f"{', '.join((*SUFFIXES, PARQUET))}.",
            source=path,
        )
    return Stamp(
        suffix,
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def check_unchanged(path: str, stamp: Stamp) -> None:
    """Refuse rows of which some are of one version of a file, some of another."""
    if stamp_of(path) != stamp:
        raise DataError(
            f"{path} was changed while it was read. Load it again once it is whole.", source=path
        )


def small_texts(path: str, reader: Reader[Any], limit: int | None) -> Texts:
    """Return the records of a file, held in memory as one JSON text a row."""
    return Texts(list(_texts(path, reader, limit)))


def _texts(path: str, reader: Reader[Any], limit: int | None) -> Iterator[str]:
    for number, row in islice(read_rows(path), limit):
        record = reader.pick(row, number)
        reader.read(record, number)  # the check: what is stored is the record, not what is read
        yield json.dumps(record)


def mapped_texts(path: str, stamp: Stamp, reader: Reader[Any], limit: int | None) -> Texts:
    """Return the records of a file, which `datasets` writes to its cache once as Arrow.

    `stamp` is of the version that is asked for.
    """
    import datasets  # heavy: 0.5 s

    # Every value as JSON: Arrow's own types would give each row the fields of all the others.
    features = datasets.Features({_COLUMN: datasets.Value("large_string")})
    reading = _FileReading(path, reader, limit, stamp)
    with Quiet():
        try:
            rows = datasets.Dataset.from_generator(
                _arrow_rows, features=features, gen_kwargs={"reading": reading}
            )
        except Exception as error:
            raise _file_error(error, path) from error
    return Texts(TextColumn(rows, _COLUMN))


class _FileReading(NamedTuple):
    """What reads a file. `datasets` names its cache by a hash of it, which is of its key alone."""

    path: str
    reader: Reader[Any]
    limit: int | None
    stamp: Stamp

    def __reduce__(self) -> tuple[Any, ...]:
        # Nothing of the machine, and nothing of this process: the cache is for all that mount it.
        key = [
            os.path.realpath(self.path),
            self.stamp.version(),
            self.limit,
            dict(self.reader.names),
            *identity(self.reader.kind),
        ]
        return str, (json.dumps(key),)


def _arrow_rows(reading: _FileReading) -> Iterator[dict[str, str]]:
    for text in _texts(reading.path, reading.reader, reading.limit):
        yield {_COLUMN: text}


def mapped_parquet(path: str, stamp: Stamp) -> datasets.Dataset:
    """Return a Parquet file's rows, which `datasets` writes to its cache once as Arrow.

    `stamp` is of the version that is asked for. Each has a folder of its own: the library itself
    tells versions by the date that a file states.
    """
    import datasets  # heavy: 0.5 s
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        count = pq.read_metadata(path).num_rows
    except (OSError, pa.ArrowException) as error:
        raise DataError(
            f"{path} is not a whole Parquet file ({root_text(error)}). Write it again.", source=path
        ) from error
    if not count:
        raise no_rows(path)
    key = json.dumps([os.path.realpath(path), stamp.version()])
    digest = blake2b(key.encode(), digest_size=16).hexdigest()
    folder = Path(datasets.config.HF_DATASETS_CACHE, "gem-parquet", digest)
    with Quiet():
        try:
            return datasets.Dataset.from_parquet(path, cache_dir=str(folder))
        except Exception as error:
            raise _file_error(error, path) from error


def _cannot_open(path: str, error: OSError | ValueError) -> DataError:
    return DataError(
        f"The data file {path} was asked for, and cannot be opened "
        f"({getattr(error, 'strerror', None) or error}). Check the path, which starts at the "
        "working directory, and that you may read it.",
        source=path,
    )


def _file_error(error: BaseException, path: str) -> DataError:
    # The library raises its own error from ours, which says which row it was.
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, DataError):
        cause = cause.__cause__
    return cause or DataError(
        f"{path} cannot be turned into a table ({root_text(error)}). Check "
        "that the cache folder of `datasets` is writable and has room; HF_HOME moves it.",
        source=path,
    )
