"""Keep answers on disk, and find them again by what was asked. Knows nothing about servers.

One SQLite file, which any number of processes may share. What is wrong with it is never an error of
a request: the answer is asked for again.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from gem_eval.errors import SettingsError

__all__ = ["AnswerCache"]

_FILE = "answers.sqlite3"
_LOCKED_S = 10.0  # that a write waits for those of other processes
_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    asked BLOB PRIMARY KEY, digest BLOB NOT NULL, answer BLOB NOT NULL
)
"""


class AnswerCache:
    """The answers in a folder, which is made where it is missing. Raises SettingsError.

    `hits` counts those that were found.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.hits = 0
        self._path = Path(folder) / _FILE
        self._lock = threading.Lock()  # asked from threads, so that the event loop never waits
        self._connection: sqlite3.Connection | None = None
        self._pid = os.getpid()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connected().execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            self.close()
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise SettingsError(
                f"The cache {folder} cannot be used: {self._path} cannot be opened ({reason}). "
                "Choose another --cache, or remove that file.",
                option="cache",
            ) from error

    async def get(self, *asked: bytes) -> bytes | None:
        """Return the answer to what was asked; None where there is none that is whole."""
        return await asyncio.to_thread(self._get, _key(asked))

    async def put(self, answer: bytes, *asked: bytes) -> None:
        """Keep an answer, unless the disk will not have it."""
        await asyncio.to_thread(self._put, _key(asked), answer)

    def close(self) -> None:
        """Close the file. A later call opens it again."""
        with self._lock:
            connection = self._connection
            self._connection = None
            if connection is not None and self._pid == os.getpid():
                connection.close()

    def __del__(self) -> None:
        self.close()

    def _get(self, key: bytes) -> bytes | None:
        query = "SELECT digest, answer FROM answers WHERE asked = ?"
        try:
            with self._lock:
                row = self._connected().execute(query, (key,)).fetchone()
        except sqlite3.Error:
            return None
        if row is None:
            return None
        digest, answer = row
        is_whole = isinstance(answer, bytes) and digest == _digest(answer)
        return answer if is_whole else None

    def _put(self, key: bytes, answer: bytes) -> None:
        row = (key, _digest(answer), answer)
        with suppress(sqlite3.Error), self._lock:
            self._connected().execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    def _connected(self) -> sqlite3.Connection:
        """Return the connection of this process: one that was forked must not use its parent's."""
        if self._connection is None or self._pid != os.getpid():
            # Without transactions of Python's own, each statement is whole on disk or not there.
            connection = sqlite3.connect(
                self._path, timeout=_LOCKED_S, isolation_level=None, check_same_thread=False
            )
            self._connection = connection
            self._pid = os.getpid()
            # Who reads waits for nobody who writes.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        return self._connection


def _key(asked: tuple[bytes, ...]) -> bytes:
    """Return what stands for a request. The length of each part is in it: no two run together."""
    whole = sha256()
    for part in asked:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.digest()


def _digest(answer: bytes) -> bytes:
    return sha256(answer).digest()
