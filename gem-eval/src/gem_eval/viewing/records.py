"""Read a record again where its file was written again. Knows nothing about what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gem.errors import in_one_line
from gem_eval.errors import RunFolderError

__all__ = ["WatchedRecord"]


class WatchedRecord:
    """The file of a record that may be written again while what it is of is shown.

    `problem` is why the file, as it is now, is not the record that was read last; "" if it is.
    """

    def __init__(self, path: Path) -> None:
        self.problem = ""
        self._path = path
        self._stamp: _Stamp | None = None  # of what was read last

    def read_again(self, read: Callable[[], None]) -> None:
        """Call `read` where the file is another one than it was.

        One that is half written, or edited, is a problem, and what goes on goes on by the record
        of before.
        """
        stamp = _stamp_of(self._path)
        if stamp is None or stamp == self._stamp:
            return
        try:
            read()
            self.problem = ""
        except RunFolderError as error:
            self.problem = in_one_line(error, at_most=300)
            if isinstance(error.__cause__, OSError):
                return  # the disk may give it at the next look, with the same stamp
        # Behind the record, which may be written again while it is read.
        self._stamp = stamp


class _Stamp(NamedTuple):
    """Which file stands at a path, and when it was written. A record is replaced as a whole."""

    inode: int
    size: int
    written_ns: int


def _stamp_of(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Stamp(found.st_ino, found.st_size, found.st_mtime_ns)
