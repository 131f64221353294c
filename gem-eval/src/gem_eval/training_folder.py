"""A training folder, as `gem-env train` leaves it, read while it may still be written.

It keeps to what docs/training.md says of the files, and imports nothing of who trains.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from gem.errors import problems_of
from gem_eval.errors import RunFolderError

__all__ = ["GrowingLines", "TrainingFiles", "TrainingRecord", "is_training_folder"]

_RECORD = "experiment.json"
_AT_ONCE = 1 << 20  # bytes that are read in one piece; a longer line is none of a training
_PROOF = 64  # last bytes of what was read, by which another file of the same name is known


class TrainingRecord(BaseModel):
    """What `experiment.json` holds: the settings that decide a training, and where it came from."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal[1] = 1
    command: tuple[str, ...]
    created: str
    versions: Mapping[str, str]
    experiment: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TrainingFiles:
    """The folder of one training, with what its `experiment.json` says."""

    path: Path
    record: TrainingRecord

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> TrainingFiles:
        """Open a training that was begun before. Raises RunFolderError."""
        folder = Path(path)
        try:
            text = (folder / _RECORD).read_bytes()
            return cls(folder, TrainingRecord.model_validate_json(text))
        except OSError as error:
            raise RunFolderError(
                f"{folder} is no training folder: its {_RECORD} cannot be read "
                f"({error.strerror}). Check the path.",
                path=str(folder),
            ) from error
        except ValidationError as error:
            problem = problems_of(error, whole="its text")[0]
            raise RunFolderError(
                f"The {_RECORD} of {folder} cannot be read: {problem}. It may be of another "
                "version of gem-baselines, or damaged: leave this training out.",
                path=str(folder),
            ) from error

    @property
    def record_path(self) -> Path:
        """The settings that decide the training, written again where it is made longer."""
        return self.path / _RECORD

    @property
    def metrics_path(self) -> Path:
        """A line an update."""
        return self.path / "metrics.jsonl"

    @property
    def timings_path(self) -> Path:
        """The seconds that each of these updates took."""
        return self.path / "timings.jsonl"

    @property
    def evaluations_path(self) -> Path:
        """A line an evaluation."""
        return self.path / "evaluations.jsonl"

    def episodes_path(self, update: int, mode: str) -> Path:
        """The episodes that were played after an update: "sampled" or "greedy" ones."""
        return self.evaluations_of(self.path) / f"{update:06}-{mode}.jsonl"

    @staticmethod
    def evaluations_of(folder: Path) -> Path:
        """Return where a training has the logs of its evaluations."""
        return folder / "evaluations"

    def tracker_path(self, tracker: str) -> Path:
        """What a tracker was told of the training, and what it calls it."""
        return self.path / f"tracker-{tracker}.jsonl"


def is_training_folder(path: Path) -> bool:
    """Say whether a training was begun in a folder."""
    return (path / _RECORD).is_file()


class GrowingLines:
    """The objects on the lines of a file that grows, each read once.

    Half a last line is left until it is whole. `bad_lines` counts those that are no JSON object.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin()

    def _begin(self) -> None:
        self.bad_lines = 0
        self._end = 0
        self._inode = 0
        self._proof = b""
        self._is_in_long_line = False

    def read_on(self) -> tuple[list[dict[str, Any]], bool] | None:
        """Return the next whole lines and whether there are more, None where it begins anew.

        It does so where what was read is no longer there: the training has gone on from an earlier
        checkpoint, or is another one. Raises OSError.
        """
        try:
            file = self._path.open("rb")
        except FileNotFoundError:  # a training that was just begun has none
            # One that was removed is still known, but not where another was begun in its place.
            if self._end and self._path.parent.is_dir():
                self._begin()
                return None
            return [], False
        with file:
            status = os.fstat(file.fileno())
            file.seek(max(self._end - len(self._proof), 0))
            proof = file.read(len(self._proof))
            if self._end and (proof, status.st_ino) != (self._proof, self._inode):
                self._begin()
                return None
            self._inode = status.st_ino
            piece = file.read(_AT_ONCE)
        return self._objects_in(piece), len(piece) == _AT_ONCE

    def _objects_in(self, piece: bytes) -> list[dict[str, Any]]:
        end = piece.rfind(b"\n") + 1
        if not end and len(piece) == _AT_ONCE:
            # What is longer than this is skipped, up to where it ends.
            self._is_in_long_line = True
            end = len(piece)
        whole = piece[:end]
        self._end += end
        self._proof = (self._proof + whole)[-_PROOF:]
        found = []
        for line in whole.split(b"\n")[:-1]:
            plain = None if self._is_in_long_line else _object_of(line)
            self._is_in_long_line = False
            if plain is None:
                self.bad_lines += 1
            else:
                found.append(plain)
        return found


def _object_of(line: bytes) -> dict[str, Any] | None:
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return plain if isinstance(plain, dict) else None
