"""Know by its file that a record was written again. Knows nothing about what it says."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["Stamp", "stamp_of"]


class Stamp(NamedTuple):
    """Which file stands at a path, and when it was written. A record is replaced as a whole."""

    inode: int
    size: int
    written_ns: int


def stamp_of(path: Path) -> Stamp | None:
    """Return the stamp of a file, None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)
