"""Files that survive a crash: written whole or not at all, and lines that are cut where they broke.

Knows nothing about what is in them.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gem.errors import problems_of
from gem_baselines.errors import FolderError

__all__ = ["JsonLines", "problem_of", "replace_file", "replace_json", "sync_folder"]


def replace_json(path: Path, plain: Any, *, indent: int | None = 2) -> None:
    """Write JSON data, whole or not at all; a float is read again as just that one."""
    replace_file(path, json.dumps(plain, indent=indent, allow_nan=False) + "\n")


def replace_file(path: Path, text: str) -> None:
    """Write a file, whole or not at all. Raises OSError."""
    draft = path.with_name(f".draft-{path.name}")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def problem_of(error: ValueError) -> str:
    """Return what is wrong with a file's JSON: pydantic's complaint, or json's."""
    if isinstance(error, ValidationError):
        return problems_of(error, whole="all of it")[0]
    return f"it is not JSON ({error})"


def sync_folder(folder: Path) -> None:
    """Wait until every file of a folder, and of those in it, is on disk. Raises OSError."""
    for path in folder.iterdir():
        if path.is_dir():
            sync_folder(path)
        else:
            _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class JsonLines:
    """A file of JSON objects, one a line, that one process at a time appends to.

    Raises FolderError, naming the file, where it cannot be opened or another process has it open.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("a+b")
        except OSError as error:
            raise FolderError(
                f"The file {path} cannot be opened for writing ({error.strerror}). Look at who "
                "may write there.",
                path=path,
            ) from error
        try:
            # Locked before it is read: half a line may be what another process is writing just now.
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise FolderError(
                f"The training in {path.parent} was to go on, and another process is training "
                "there. Wait until that has ended, or stop it.",
                path=path,
            ) from error

    def append(self, plain: Mapping[str, Any]) -> None:
        """Write one line. A process that is killed after this has not lost it."""
        line = json.dumps(plain, allow_nan=False).encode("ascii") + b"\n"
        self._file.write(line)
        self._file.flush()

    def sync(self) -> None:
        """Wait until every line is on disk: after this a machine that fails has not lost it."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Release the file. A second call does nothing."""
        self._file.close()

    def cut(self, keeps: Callable[[Mapping[str, Any]], bool]) -> list[dict[str, Any]]:
        """Return the lines that stay, up to the first that `keeps` does not keep.

        That one, or the first that is no whole line of JSON, is removed with all that follow.
        """
        kept = []
        end = 0
        self._file.seek(0)
        for line in self._file:
            plain = _object_of(line)
            if plain is None or not keeps(plain):
                break
            kept.append(plain)
            end += len(line)
        self._file.truncate(end)
        return kept


def _object_of(line: bytes) -> dict[str, Any] | None:
    """Return the object on a line, None where the line is not whole or is something else."""
    if not line.endswith(b"\n"):
        return None
    try:
        plain = json.loads(line)
    except ValueError:
        return None
    return plain if isinstance(plain, dict) else None
