"""A run on disk: `run.json` says what it is, `episodes.jsonl` what happened, and `summary.json`.

Knows nothing about policies or environments beyond their records.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_serializer

from gem.episode import Episode
from gem.errors import problems_of
from gem_eval.branching.record import Branch
from gem_eval.budgets import Amount
from gem_eval.errors import RunFolderError
from gem_eval.leagues.record import LeagueRecord
from gem_eval.settings import FREE, Settings
from gem_eval.training_folder import is_training_folder
from gem_eval.variance.record import NoiseRecord
from gem_eval.versions import packs_of, versions_of

__all__ = ["RunFolder", "RunRecord"]

_AMOUNTS = TypeAdapter(dict[str, Amount])
_DRAFT = ".draft-"
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


class RunRecord(BaseModel):
    """What `run.json` holds.

    `packs` says by id which pack provided an environment when the run began, with its version. One
    of no pack is not there, and none is in the record of a version that kept none. `total` counts
    the episodes of all policies. `digest` is of those settings that decide what an episode is:
    where they no longer fit it, somebody has edited them. Both are None in the record of a version
    that kept none. `branch` says where a run branches from, None for any other, `league` that its
    line-ups are those of a league, and `noise` that its repeats cross the seeds of two players.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal[1] = 1
    command: tuple[str, ...]
    created: str
    versions: Mapping[str, str]
    packs: Mapping[str, str] = {}
    settings: Settings
    total: int | None = None
    digest: str | None = None
    branch: Branch | None = None
    league: LeagueRecord | None = None
    noise: NoiseRecord | None = None

    @property
    def is_crossed(self) -> bool:
        """Whether repeats of a task share a player's seed, and so are no attempts of their own."""
        return self.noise is not None and bool(self.noise.seats)

    @model_serializer(mode="wrap")
    def _without_what_it_is_not(self, dump: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        # The record of any other run is as older versions write it.
        plain = dump(self)
        if not self.packs:
            del plain["packs"]
        if self.league is None:
            del plain["league"]
        if self.noise is None:
            del plain["noise"]
        return plain


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one evaluation, with what its `run.json` says."""

    path: Path
    record: RunRecord
    is_edited: bool = False
    """Whether the settings in `run.json` are others than were written there."""

    @property
    def episodes_path(self) -> Path:
        """The log: one finished try of an episode a line, in the order in which they finished."""
        return self.path / "episodes.jsonl"

    @property
    def summary_path(self) -> Path:
        """The summary, written when every episode is there."""
        return self.path / "summary.json"

    @property
    def standings_path(self) -> Path:
        """What a league came to, written when it ended last."""
        return self.path / "standings.json"

    @property
    def parent_path(self) -> Path:
        """The episode that a branch has its children from, on one line of JSON."""
        return self.path / "parent.jsonl"

    @property
    def references_path(self) -> Path:
        """The log of what reference policies did on the run's episodes, where it has any."""
        return self.path / "references.jsonl"

    @property
    def gradings_path(self) -> Path:
        """What the episodes of a run that splits noise scored when they were graded again."""
        return self.path / "gradings.jsonl"

    def tracker_path(self, tracker: str) -> Path:
        """What a tracker was told of the run, and what it calls it."""
        return self.path / f"tracker-{tracker}.jsonl"

    @property
    def has_name(self) -> bool:
        """Whether commands of `gem-env` can be given its path as that of a run."""
        return True

    @property
    def unlogged_path(self) -> Path:
        """What was spent on episodes that are in no log, where a run with a budget stopped."""
        return self.path / "unlogged.json"

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str] | None,
        settings: Settings,
        command: Sequence[str],
        *,
        total: int | None = None,
        branch: Branch | None = None,
        parent: Episode | None = None,
        league: LeagueRecord | None = None,
        noise: NoiseRecord | None = None,
    ) -> RunFolder:
        """Make a new run: in an empty or absent folder, or in a new one below `runs/`.

        A branch has its parent beside its record. Raises RunFolderError, and then leaves nothing
        behind.
        """
        record = _record(settings, command, total, branch, league, noise)
        folder = _new_folder() if path is None else _empty_folder(Path(path))
        try:
            claim(folder / "run.json", record.model_dump_json(indent=2))
        except FileExistsError as error:
            raise _not_empty(folder) from error
        except OSError as error:
            with suppress(OSError):
                folder.rmdir()  # only if nothing else is in it
            raise _unmakeable(folder, error) from error
        run = cls(folder, record)
        if parent is not None:
            # After the record, which claims the folder: nobody else can be writing this file.
            run._keep(parent)
        return run

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> RunFolder:
        """Open a run that was started before. Raises RunFolderError."""
        folder = Path(path)
        try:
            text = (folder / "run.json").read_bytes()
        except OSError as error:
            if is_training_folder(folder):
                raise RunFolderError(
                    f"{folder} is a training folder, and no run of episodes. `gem-env view "
                    f"{folder}` shows it, and its evaluations are runs: the files in "
                    f"{folder / 'evaluations'}.",
                    path=str(folder),
                ) from error
            raise RunFolderError(
                f"{folder} is no run folder: its run.json cannot be read ({error.strerror}). "
                "Check the path, or start a run there with --out.",
                path=str(folder),
            ) from error
        try:
            record = RunRecord.model_validate_json(text)
            # Of the text, not of what was read from it: another version may know more settings.
            plain = json.loads(text)
            is_edited = record.digest not in (
                None,
                _digest(plain["settings"], branch=plain.get("branch"), noise=plain.get("noise")),
            )
            return cls(folder, record, is_edited)
        except ValidationError as error:
            problem = problems_of(error, whole="its text")[0]
            raise RunFolderError(
                f"The run.json of {folder} cannot be read: {problem}. It may be of "
                "another version of gem-eval, or damaged: start a new run with --out.",
                path=str(folder),
            ) from error

    def edited(self, what: str) -> RunFolderError:
        """Return the error of a run whose `run.json` was edited, so that it cannot go on."""
        return RunFolderError(
            f"{self.path} cannot go on: the settings in its run.json were edited after it was "
            f"started. {what} Undo the edit, or start a new run with --out.",
            path=str(self.path),
        )

    def extended(self, settings: Settings, *, total: int) -> RunFolder:
        """Write other settings into `run.json`, whole or not at all. Raises OSError."""
        digest = _digest_of(settings, self.record.branch, self.record.noise)
        update = {"settings": settings, "total": total, "digest": digest}
        record = self.record.model_copy(update=update)
        _replace(self.path / "run.json", record.model_dump_json(indent=2))
        return RunFolder(self.path, record)

    def _keep(self, parent: Episode) -> None:
        """Write the parent of a branch, or take the whole folder back and raise RunFolderError."""
        try:
            _replace(self.parent_path, parent.to_json())
        except OSError as error:
            with suppress(OSError):
                (self.path / "run.json").unlink()
                self.path.rmdir()
            raise _unmakeable(self.path, error) from error

    def unlogged(self) -> dict[str, Amount]:
        """Return what was spent by policy on episodes that are in no log. Raises RunFolderError."""
        try:
            return _AMOUNTS.validate_json(self.unlogged_path.read_bytes(), strict=True)
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            raise RunFolderError(
                f"{self.unlogged_path} cannot be read, and has what {self.path} spent on episodes "
                "that are not in its log. Restore it, or remove it to let that be forgotten.",
                path=str(self.path),
            ) from error

    def write_unlogged(self, amounts: Mapping[str, Amount]) -> None:
        """Write the same, whole or not at all. Raises OSError."""
        _replace(self.unlogged_path, _AMOUNTS.dump_json(dict(amounts), indent=2).decode())

    def write_summary(self, plain: Mapping[str, Any]) -> None:
        """Write the summary, whole or not at all. Raises OSError."""
        _replace(self.summary_path, json.dumps(plain, indent=2, allow_nan=False))

    def write_standings(self, plain: Mapping[str, Any]) -> None:
        """Write what a league came to, whole or not at all. Raises OSError."""
        _replace(self.standings_path, json.dumps(plain, indent=2, allow_nan=False))


def _replace(path: Path, text: str) -> None:
    draft = _draft(path, text)
    try:
        draft.replace(path)
    except OSError:
        draft.unlink()
        raise


def _digest_of(settings: Settings, branch: Branch | None, noise: NoiseRecord | None) -> str:
    return _digest(
        settings.model_dump(mode="json"),
        branch=None if branch is None else branch.model_dump(mode="json"),
        noise=None if noise is None else noise.model_dump(mode="json"),
    )


def _digest(settings: Mapping[str, Any], **kinds: Mapping[str, Any] | None) -> str:
    """Hash what decides the episodes: the settings as JSON, without those that are free.

    And where they branch from, or whose seeds they cross, if they do: the digest of any other run
    knows nothing of that.
    """
    deciding = {name: value for name, value in settings.items() if name not in FREE}
    deciding |= {name: kind for name, kind in kinds.items() if kind is not None}
    text = json.dumps(deciding, sort_keys=True)
    return blake2b(text.encode("ascii"), digest_size=16).hexdigest()


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


def _record(
    settings: Settings,
    command: Sequence[str],
    total: int | None,
    branch: Branch | None,
    league: LeagueRecord | None,
    noise: NoiseRecord | None,
) -> RunRecord:
    from gem_eval import __version__

    python = ".".join(map(str, sys.version_info[:3]))
    played = versions_of(settings.envs, settings.env_kwargs)
    return RunRecord(
        command=tuple(map(_text, command)),
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        versions={"python": python, "gem-eval": __version__, **played},
        packs=packs_of(settings.envs),
        settings=settings,
        total=total,
        digest=_digest_of(settings, branch, noise),
        branch=branch,
        league=league,
        noise=noise,
    )


def _text(word: str) -> str:
    """Return a word of a command line as text: a path may be of bytes that are no UTF-8."""
    return os.fsencode(word).decode("utf-8", "backslashreplace")


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
        others = [entry for entry in folder.iterdir() if not entry.name.startswith(_DRAFT)]
    except OSError as error:
        raise _unmakeable(folder, error) from error
    if others:
        raise _not_empty(folder)
    return folder


def _not_empty(folder: Path) -> RunFolderError:
    return RunFolderError(
        f"The folder {folder} is not empty, and a new run needs one of its own. Continue what is "
        f"there with --resume {shlex.quote(str(folder))}, or choose another --out.",
        path=str(folder),
    )


def _unmakeable(folder: Path, error: OSError) -> RunFolderError:
    return RunFolderError(
        f"The run folder {folder} cannot be made ({error.strerror}). Choose another --out.",
        path=str(folder),
    )
