"""Remember, for every process, which memory-mapped tables have been checked.

A mark is an empty file in the cache folder of `datasets`. Losing one costs a check.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem_data import __version__
from gem_data._rows import Reader, RowKind

if TYPE_CHECKING:
    import datasets

__all__ = ["Mark", "identity"]


def identity(kind: RowKind[Any]) -> tuple[str, ...]:
    """Return what tells one kind from another in every process: what was checked as it.

    Two that it cannot tell apart share a check; their rows are still read by each one's own.
    """
    read: Any = kind.read
    bound: tuple[object, ...] = ()
    if isinstance(read, partial):
        bound = (read.args, read.keywords)
        read = read.func
    name = getattr(read, "__qualname__", type(read).__qualname__)
    defaults = repr(dict(kind.optional))
    # With this version: a later one may check more.
    return (kind.name, str(read.__module__), name, repr(bound), defaults, __version__)


class Mark:
    """The mark of one table: the files on disk that it lies in, and how they are read."""

    def __init__(self, rows: datasets.Dataset, reader: Reader[Any], count: int) -> None:
        import datasets

        files = [Path(file["filename"]) for file in rows.cache_files]
        stamps = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
        text = json.dumps([stamps, count, dict(reader.names), *identity(reader.kind)])
        digest = blake2b(text.encode(), digest_size=16).hexdigest()
        self._has_files = bool(files)  # rows in memory have none, and are checked by each process
        self._path = Path(datasets.config.HF_DATASETS_CACHE, "gem-checked", digest)

    def is_set(self) -> bool:
        """Say whether the table has been checked."""
        return self._has_files and self._path.exists()

    def set(self) -> None:
        """Note that the table has been checked, if the folder can be written."""
        if self._has_files:
            with suppress(OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._path.touch()
