"""An index of a run's log, kept in the user's cache: one row a try, grown as the log grows.

It is read from the log once. A log that was replaced is read anew; half a last line is left alone.
The log itself is never written.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from uuid import uuid4

from gem_eval.viewing import finding_rows, rows
from gem_eval.viewing.scanning import Scanned, scan_file

__all__ = ["LogIndex", "LogState", "cache_folder"]

_VERSION = 3  # of the tables: another one is read anew
_PROOF = 4096  # bytes at either end of what was read, by which a replaced log is known
_LINES_AT_ONCE = 500
_BYTES_AT_ONCE = 4 << 20
_PIECE = 1 << 20  # of a line: an episode may be larger than memory ought to be
_KEPT_S = 30 * 24 * 3600  # an index that nobody has opened for so long is removed


class LogState(NamedTuple):
    """How far a log was read: whole lines and bytes, of `size` bytes. Tries are whole episodes.

    `bad_lines` are lines that are no episodes; the first of them stands at `bad_line`, and
    `bad_reason` says what is wrong with it.
    """

    lines: int = 0
    end: int = 0
    size: int = 0
    bad_lines: int = 0
    bad_line: int = 0
    bad_reason: str = ""


class _Line(NamedTuple):
    number: int
    start: int
    length: int
    scanned: Scanned | None
    problem: str


def cache_folder() -> Path:
    """Return the folder of all indexes, which need not be there."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(chosen) if chosen else Path("~/.cache").expanduser()
    return base / "gem-eval" / "viewer"


class LogIndex:
    """The index of one log. `folder` holds the files of indexes; it is in memory without one.

    One connection serves all threads, one at a time: what is asked takes milliseconds, and lines
    are read and parsed while nobody waits.
    """

    def __init__(self, log: Path, folder: Path | None) -> None:
        self._log = log
        self._lock = threading.RLock()
        self._db = _opened(log, folder)
        self._looked_at: tuple[int, int] | None = None  # size and time of a log with nothing new
        self._state = self._stored_state()
        self._size = 0
        with suppress(OSError):  # a run that was just begun has no log
            # From the beginning, or a log that nobody has read yet would seem to be empty.
            self._size = log.stat().st_size

    @property
    def state(self) -> LogState:
        """How far the log was read."""
        return self._state._replace(size=self._size)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Hold the tables still, and give them to who asks."""
        with self._lock:
            yield self._db

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def grow(self, budget_s: float = 0.2) -> bool:
        """Read on for about so long, and say whether there is more. Raises OSError."""
        until = time.monotonic() + budget_s
        try:
            log = self._log.open("rb")
        except FileNotFoundError:  # a run that was just begun has none
            # One that was removed is still shown, but not where another was begun in its place.
            if self._state.end and self._log.parent.is_dir():
                self._forget()
                self._size = 0
            return False
        with log:
            found = os.fstat(log.fileno())
            if self._looked_at == (found.st_size, found.st_mtime_ns):
                return False
            # Another viewer of the same run may have read on.
            with self._lock:
                # In one piece: what another viewer adds in between would belong to another state.
                meta = self._meta()
            self._state = _state_in(meta)
            if not self._is_same(log, found, meta):
                self._forget()
            self._size = found.st_size
            is_more = self._read_on(log, found, until)
            if not is_more:
                self._looked_at = (found.st_size, found.st_mtime_ns)
            return is_more

    def _read_on(self, log: BinaryIO, found: os.stat_result, until: float) -> bool:
        """Read lines until there is none, or the time is over: then say so."""
        while True:
            batch = self._read(log)
            if not batch:
                return False
            self._keep(batch, log, found)
            if time.monotonic() > until:
                return True

    def _read(self, log: BinaryIO) -> list[_Line]:
        """Read the next whole lines and reduce them."""
        log.seek(self._state.end)
        number = self._state.lines
        start = self._state.end
        batch: list[_Line] = []
        while len(batch) < _LINES_AT_ONCE and start - self._state.end < _BYTES_AT_ONCE:
            length = _line_length(log)
            if not length:
                break
            number += 1
            log.seek(start)
            batch.append(_line(number, start, length, log))
            start += length
            log.seek(start)
        return batch

    def _keep(self, batch: list[_Line], log: BinaryIO, found: os.stat_result) -> None:
        state = self._state
        for line in batch:
            state = state._replace(lines=line.number, end=line.start + line.length)
            if line.scanned is None:
                if not state.bad_lines:
                    state = state._replace(bad_line=line.number, bad_reason=line.problem)
                state = state._replace(bad_lines=state.bad_lines + 1)
        with self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            stored = self._stored_state()
            if stored.end != self._state.end:
                # Another viewer was faster. A try that was added twice would count as two.
                self._state = stored
                return
            for line in batch:
                if line.scanned is not None:
                    rows.insert(self._db, line.number, line.start, line.length, line.scanned)
            self._write_meta(
                {
                    **state._asdict(),
                    "inode": found.st_ino,
                    "proof": _proof(log, state.end),
                }
            )
        self._state = state

    def _write_meta(self, values: dict[str, Any]) -> None:
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def _meta(self) -> dict[str, Any]:
        return dict(self._db.execute("SELECT name, value FROM meta").fetchall())

    def _stored_state(self) -> LogState:
        return _state_in(self._meta())

    def _is_same(self, log: BinaryIO, found: os.stat_result, meta: Mapping[str, Any]) -> bool:
        """Say whether the log still begins with what was read of it."""
        if not self._state.end:
            return True
        if found.st_size < self._state.end or meta["inode"] != found.st_ino:
            return False
        return bool(meta["proof"] == _proof(log, self._state.end))

    def _forget(self) -> None:
        with self._lock, self._db:
            for table in ("tries", "long_tries", "findings", "meta"):
                self._db.execute(f"DELETE FROM {table}")
            # Whoever works on what is forgotten now must notice, and throw that away.
            self._write_meta({"generation": uuid4().hex})
        self._state = LogState()
        self._looked_at = None  # what comes in its place may have its size and time


def _state_in(meta: Mapping[str, Any]) -> LogState:
    return LogState(**{name: meta[name] for name in LogState._fields if name in meta})


def _line(number: int, start: int, length: int, log: BinaryIO) -> _Line:
    """Reduce the line at which a log stands."""
    try:
        return _Line(number, start, length, scan_file(log, length), "")
    except ValueError as error:
        return _Line(number, start, length, None, str(error)[:300])


def _line_length(log: BinaryIO) -> int:
    """Return how long the line is at which a log stands, 0 for half a line; and read over it."""
    length = 0
    while piece := log.readline(_PIECE):
        length += len(piece)
        if piece.endswith(b"\n"):
            return length
    return 0


def _proof(log: BinaryIO, end: int) -> str:
    """Hash the first and the last bytes of what was read."""
    log.seek(0)
    first = log.read(min(_PROOF, end))
    log.seek(max(0, end - _PROOF))
    last = log.read(min(_PROOF, end))
    return blake2b(first + last, digest_size=16).hexdigest()


def _opened(log: Path, folder: Path | None) -> sqlite3.Connection:
    """Open the index of a log. In memory, where no file can be had or what is there is damaged."""
    if folder is not None:
        key = blake2b(os.fsencode(log.absolute()), digest_size=16).hexdigest()
        with suppress(OSError, sqlite3.Error):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _remove_old(folder)
            path = folder / f"{key}-{_VERSION}.sqlite"
            db = _prepared(path)
            path.touch()  # it is in use, however long ago it was written
            return db
    return _connected(":memory:")


def _prepared(path: Path) -> sqlite3.Connection:
    try:
        return _connected(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # locked, or no space: it may be sound
            raise
        path.unlink()
        return _connected(path)


def _connected(path: Path | str) -> sqlite3.Connection:
    db = sqlite3.connect(path, check_same_thread=False, timeout=5)
    try:
        # Another viewer of the same run may read meanwhile, and a crash costs no more than the
        # last rows: they are read from the log again.
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(rows.SCHEMA + finding_rows.SCHEMA)
        db.execute("SELECT count(*) FROM tries WHERE line < 0").fetchone()
    except sqlite3.Error:
        db.close()
        raise
    return db


def _remove_old(folder: Path) -> None:
    """Remove what nobody has opened for long: an index is no more than time that was saved."""
    oldest = time.time() - _KEPT_S
    for path in folder.glob("*.sqlite*"):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
