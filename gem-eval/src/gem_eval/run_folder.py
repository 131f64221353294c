"""A run on disk: `run.json` says what it is, `episodes.jsonl` what happened, and `summary.json`.

Knows nothing about policies or environments beyond their records.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from gem.registry import versions
from gem_eval.errors import RunFolderError
from gem_eval.settings import Settings

__all__ = ["RunFolder", "RunRecord"]

_DRAFT = ".draft-"
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


class RunRecord(BaseModel):
    """What `run.json` holds."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal[1] = 1
    command: tuple[str, ...]
    created: str
    versions: Mapping[str, str]
    settings: Settings


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one evaluation, with what its `run.json` says."""

    path: Path
    record: RunRecord

    @property
    def episodes_path(self) -> Path:
        """The log: one finished try of an episode a line, in the order in which they finished."""
        return self.path / "episodes.jsonl"

    @property
    def summary_path(self) -> Path:
        """The summary, written when every episode is there."""
        return self.path / "summary.json"

    @classmethod
    def create(
        cls, path: str | os.PathLike[str] | None, settings: Settings, command: Sequence[str]
    ) -> RunFolder:
        """Make a new run: in an empty or absent folder, or in a new one below `runs/`.

        Raises RunFolderError, and then leaves nothing behind.
        """
        record = _record(settings, command)
        folder = _new_folder() if path is None else _empty_folder(Path(path))
        try:
            claim(folder / "run.json", record.model_dump_json(indent=2))
        except FileExistsError as error:
            raise _taken(folder) from error
        except OSError as error:
            with suppress(OSError):
                folder.rmdir()  # only if nothing else is in it
            raise _unmakeable(folder, error) from error
        return cls(folder, record)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> RunFolder:
        """Open a run that was started before. Raises RunFolderError."""
        folder = Path(path)
        try:
            text = (folder / "run.json").read_bytes()
        except OSError as error:
            raise RunFolderError(
                f"{folder} is no run folder: its run.json cannot be read ({error.strerror}). "
                "Check the path, or start a run there with --out.",
                path=str(folder),
            ) from error
        try:
            return cls(folder, RunRecord.model_validate_json(text))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "its text"
            raise RunFolderError(
                f"The run.json of {folder} cannot be read: {where}: {first['msg']}. It may be of "
                "another version of gem-eval, or damaged: start a new run with --out.",
                path=str(folder),
            ) from error

    def write_summary(self, plain: Mapping[str, Any]) -> None:
        """Write the summary, whole or not at all. Raises OSError."""
        draft = _draft(self.summary_path, json.dumps(plain, indent=2, allow_nan=False))
        try:
            draft.replace(self.summary_path)
        except OSError:
            draft.unlink()
            raise


def claim(path: Path, text: str) -> None:
    """Write a new file, whole or not at all. Raises FileExistsError if another was faster."""
    draft = _draft(path, text)
    try:
        os.link(draft, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:  # else a file system without links
            raise
        with path.open("x", encoding="utf-8") as file:
            file.write(f"{text}\n")
    finally:
        draft.unlink()


def _draft(path: Path, text: str) -> Path:
    draft = path.with_name(f"{_DRAFT}{os.getpid()}-{path.name}")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise
    return draft


def _record(settings: Settings, command: Sequence[str]) -> RunRecord:
    from gem_eval import __version__

    packs = {name: version for spec in settings.envs for name, version in versions(spec.id).items()}
    python = ".".join(map(str, sys.version_info[:3]))
    return RunRecord(
        command=tuple(command),
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        versions={"python": python, "gem-eval": __version__, **packs},
        settings=settings,
    )


def _new_folder() -> Path:
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    for number in count(1):
        folder = Path("runs", stamp if number == 1 else f"{stamp}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if folder.parent.is_dir():
                continue
            raise _unmakeable(folder, NotADirectoryError(0, "`runs` is a file")) from None
        except OSError as error:
            raise _unmakeable(folder, error) from error
        return folder
    raise AssertionError("count() does not end")


def _empty_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A draft is what a run leaves that was killed before it began.
        others = [each for each in folder.iterdir() if not each.name.startswith(_DRAFT)]
    except OSError as error:
        raise _unmakeable(folder, error) from error
    if others:
        raise _taken(folder)
    return folder


def _taken(folder: Path) -> RunFolderError:
    return RunFolderError(
        f"The folder {folder} is not empty, and a new run needs one of its own. Continue what is "
        f"there with --resume {folder}, or choose another --out.",
        path=str(folder),
    )


def _unmakeable(folder: Path, error: OSError) -> RunFolderError:
    return RunFolderError(
        f"The run folder {folder} cannot be made ({error.strerror}). Choose another --out.",
        path=str(folder),
    )
