"""Read the files of JSON lines that a training left. Knows nothing about what a line means."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from gem.errors import in_one_line
from gem_baselines.errors import FolderError

__all__ = ["JsonLines"]

T = TypeVar("T")


class JsonLines:
    """Reads files of one folder, and passes over the lines that hold no JSON object.

    `unreadable` counts these by the path of their file in the folder.
    """

    def __init__(self, folder: Path) -> None:
        self.unreadable: dict[str, int] = {}
        self._folder = folder

    def read(self, path: Path, *, may_grow: bool) -> list[dict[str, Any]]:
        """Return the objects of a file, none where it is absent; as `read_as` does."""
        return self.read_as(_object_in, path, may_grow=may_grow)

    def read_as(self, parse: Callable[[bytes], T | None], path: Path, *, may_grow: bool) -> list[T]:
        """Return what `parse` makes of each line of a file, nothing where the file is absent.

        A line of which it makes None cannot be read, and is counted.

        Half a last line is no fault in a file that may grow: it is being written, or a crash left
        it. Raises FolderError where the file cannot be read.
        """
        try:
            *lines, last = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise FolderError(
                f"The file {path} was to be read, and cannot be ({in_one_line(error)}). Look at "
                "who may read it, and whether it is damaged.",
                path=path,
            ) from error
        found = [parse(line) for line in lines if line.strip()]
        rest = parse(last)
        if rest is not None or (last.strip() and not may_grow):
            found.append(rest)
        unreadable = found.count(None)
        if unreadable:
            self.unreadable[path.relative_to(self._folder).as_posix()] = unreadable
        return [parsed for parsed in found if parsed is not None]


def _object_in(line: bytes) -> dict[str, Any] | None:
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return plain if isinstance(plain, dict) else None
