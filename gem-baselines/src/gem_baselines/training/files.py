"""Files that survive a crash: written whole or not at all, and lines that are cut where they broke.

Knows nothing about what is in them. Some of it is as in gem-eval's run folder: a pack cannot import
another one, and core has no files of this kind that it could lend to both.
"""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gem.errors import problems_of
from gem_baselines.errors import FolderError

__all__ = [
    "DRAFT",
    "JsonLines",
    "claim_json",
    "problem_of",
    "replace_file",
    "replace_json",
    "sync_folder",
    "unlike_json",
]

DRAFT = ".draft-"
"""How the name of a file begins that is not written whole yet."""

_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
_DEEPEST = 50  # values inside one another; pydantic stops at 255, and Python not much later


def replace_json(path: Path, plain: Any, *, indent: int | None = 2) -> None:
    """Write JSON data, whole or not at all; a float is read again as just that one."""
    replace_file(path, _text_of(plain, indent=indent))


def replace_file(path: Path, text: str) -> None:
    """Write a file, whole or not at all. Raises OSError."""
    draft = path.with_name(f"{DRAFT}{path.name}")
    _write_draft(draft, text)
    draft.replace(path)


def claim_json(path: Path, plain: Any) -> None:
    """Write a new file of JSON data, whole or not at all.

    Raises FileExistsError where another process was faster, and OSError.
    """
    # Of this process alone: two that claim one file at a time have a draft each.
    draft = path.with_name(f"{DRAFT}{os.getpid()}-{path.name}")
    text = _text_of(plain)
    try:
        _write_draft(draft, text)
        try:
            os.link(draft, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:  # else a file system without links
                raise
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()


def unlike_json(value: Any, name: str) -> str:
    """Say what of a value would not be read again from JSON as it is; "" where all of it would.

    A tuple is taken for a list.

    >>> unlike_json({"clip": [1.0, float("inf")]}, "policy_kwargs")
    'policy_kwargs.clip.1 is inf'
    """
    return _unlike_json(value, name, _DEEPEST)


def _unlike_json(value: Any, name: str, levels: int) -> str:
    if value is None or isinstance(value, str | int):
        return ""
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{name} is {value}"
    if levels == 0:
        return f"{name:.60} has more than {_DEEPEST} values inside one another"
    items: Iterable[tuple[Any, Any]]
    if isinstance(value, list | tuple):
        items = enumerate(value)
    elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
        items = value.items()
    else:
        return f"{name} is {value!r:.60}, of the type {type(value).__name__}"
    problems = (_unlike_json(inner, f"{name}.{key}", levels - 1) for key, inner in items)
    return next((problem for problem in problems if problem), "")


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


def _text_of(plain: Any, *, indent: int | None = 2) -> str:
    return json.dumps(plain, indent=indent, allow_nan=False) + "\n"


def _write_draft(draft: Path, text: str) -> None:
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


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
        # On a full disk it tries once more to write a line whose `append` has raised already.
        # It releases the file also where that fails.
        with suppress(OSError):
            self._file.close()

    def read(self, keeps: Callable[[Mapping[str, Any]], bool]) -> list[dict[str, Any]]:
        """Return the lines up to the first that `keeps` does not keep, or is no JSON object.

        `cut` removes that one with all that follow. Raises OSError.
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
        self._end = end
        return kept

    def cut(self) -> None:
        """Remove what follows the lines that `read` returned. Raises OSError."""
        self._file.truncate(self._end)


def _object_of(line: bytes) -> dict[str, Any] | None:
    """Return the object on a line, None where the line is not whole or is something else."""
    if not line.endswith(b"\n"):
        return None
    try:
        plain = json.loads(line)
    except ValueError:
        return None
    return plain if isinstance(plain, dict) else None
