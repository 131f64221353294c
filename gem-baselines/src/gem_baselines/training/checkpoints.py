"""A checkpoint: a policy in a folder, with how far its training had come.

Knows nothing about when one is made.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from gem.errors import in_one_line
from gem_baselines.errors import ExperimentError, FolderError
from gem_baselines.learning_policy import LearningPolicy
from gem_baselines.policies import KINDS, again
from gem_baselines.self_play.self_play import SelfPlay
from gem_baselines.training.experiment import Experiment
from gem_baselines.training.files import (
    DRAFT,
    problem_of,
    replace_json,
    sync_folder,
    unlike_json,
)

__all__ = [
    "Checkpoint",
    "Progress",
    "is_checkpoint",
    "link",
    "prune",
    "restore_links",
    "write_checkpoint",
]

_RECORD = "checkpoint.json"
_POLICY = "policy"
_SELF_PLAY = "self_play"
_NAME = "update-"
_OURS = re.compile(rf"{_NAME}\d{{6,}}(-\d+)?")


class Progress(BaseModel):
    """How far a training has come: all that the loop knows beside the policy.

    `turns` are those of all updates. `return_sum` is that of the discounted returns of these
    turns. `evaluated` is the last update whose policy was evaluated, -1 before the first.
    `best_update` is the one with the highest score of an evaluation, `best_score`; where self-play
    has a monitor it is that of the best copy. `averages` are the moving averages of the roles of
    the estimator `seat_average`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    update: int = 0
    turns: int = 0
    return_sum: float = 0.0
    evaluated: int = -1
    best_update: int | None = None
    best_score: float | None = None
    averages: Mapping[str, float] = {}


class CheckpointRecord(BaseModel):
    """What `checkpoint.json` holds: the kind of the policy, its arguments, and the progress.

    `experiment` has the settings that it was trained by, those that may change left out; None in a
    checkpoint of before they were kept.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal[1] = 1
    kind: str
    arguments: Mapping[str, Any]
    progress: Progress
    experiment: Mapping[str, Any] | None = None


class Checkpoint:
    """A checkpoint that was read: its progress, and what its policy is made from.

    `experiment` has the settings that it was trained by, None where they were not kept.
    """

    def __init__(self, folder: Path, record: CheckpointRecord) -> None:
        self.folder = folder
        self.progress = record.progress
        self.experiment = record.experiment
        self._record = record

    @classmethod
    def read(cls, folder: Path) -> Checkpoint:
        """Read a checkpoint. Raises FolderError."""
        # The folder that a link names now: a training that goes on moves the link to another.
        whole = folder.resolve()
        try:
            plain = json.loads((whole / _RECORD).read_bytes())
            return cls(whole, CheckpointRecord.model_validate(plain))
        except OSError as error:
            raise FolderError(
                f"{folder} was given as a checkpoint, and its {_RECORD} cannot be read "
                f"({error.strerror}). Check the path.",
                path=folder,
            ) from error
        except ValueError as error:  # no JSON, or not that of a checkpoint
            raise FolderError(
                f"The {_RECORD} of {folder} cannot be read: {problem_of(error)}. It may be of "
                "another version of gem-baselines, or damaged: take another checkpoint.",
                path=folder,
            ) from error

    def restore_self_play(self, self_play: SelfPlay) -> None:
        """Give it the pool, the averages and what the monitor knew. Raises FolderError."""
        try:
            self_play.restore(self.folder / _SELF_PLAY, self._record.arguments)
        except Exception as error:  # of a damaged file a policy of anybody's may raise anything
            raise FolderError(
                f"The self-play in {self.folder} cannot be restored ({in_one_line(error)}). The "
                "checkpoint may be damaged: take another one.",
                path=self.folder,
            ) from error

    def policy(self, *, trust_kind: bool) -> LearningPolicy:
        """Make the policy anew, and give it what it had learnt. Raises FolderError.

        A kind that is not one of ours names code that runs here, whoever wrote the checkpoint. It
        is refused without `trust_kind`.
        """
        kind = self._record.kind
        if kind not in KINDS and not trust_kind:
            raise FolderError(
                f"The checkpoint {self.folder} is of a policy of the kind {kind!r:.80}, and that "
                "is code of somebody's own, which would run here. If you trust whoever wrote it, "
                "say so by trust_kind=True: --policy-kwargs '{\"trust_kind\": true}'.",
                path=self.folder,
            )
        policy = again(kind, self._record.arguments)
        try:
            policy.restore(self.folder / _POLICY)
        except Exception as error:  # of a damaged file a policy of anybody's may raise anything
            raise FolderError(
                f"The policy in {self.folder} cannot be restored ({in_one_line(error)}). The "
                "checkpoint may be damaged: take another one.",
                path=self.folder,
            ) from error
        return policy


def is_checkpoint(folder: Path) -> bool:
    """Say whether there is a checkpoint in a folder, or where it links to."""
    return (folder / _RECORD).is_file()


def write_checkpoint(
    parent: Path,
    policy: LearningPolicy,
    experiment: Experiment,
    progress: Progress,
    self_play: SelfPlay | None = None,
) -> Path:
    """Write a checkpoint into a folder of its own below `parent`, and wait until it is on disk.

    The folder has its name once all of it is there. Raises OSError; and ExperimentError where the
    policy describes itself by what is no JSON. Of a training in self-play it holds also what
    decides how that goes on.
    """
    kind = experiment.policy
    arguments: Any = policy.describe()  # a class of anybody's own may return anything
    plain = dict(arguments) if isinstance(arguments, Mapping) else arguments
    problem = unlike_json(plain, "describe()")
    if not problem and not isinstance(plain, dict):
        problem = f"{type(policy).__name__}.describe() is {plain!r:.60}, and no object"
    if problem:
        raise ExperimentError(
            f"The policy {kind!r} cannot be kept: {problem}, and a checkpoint holds JSON. Make it "
            "describe itself by numbers that are finite, texts, lists and objects of these.",
            setting="policy",
        )
    folder = _free_name(parent, f"{_NAME}{progress.update:06}")
    draft = parent / f"{DRAFT}{folder.name}"
    draft.mkdir(parents=True)
    (draft / _POLICY).mkdir()
    policy.save(draft / _POLICY)
    if self_play is not None:
        (draft / _SELF_PLAY).mkdir()
        self_play.save(draft / _SELF_PLAY)
    record = CheckpointRecord(
        kind=kind, arguments=arguments, progress=progress, experiment=experiment.fixed()
    )
    replace_json(draft / _RECORD, record.model_dump(mode="json"))
    sync_folder(draft)
    draft.rename(folder)
    return folder


def link(parent: Path, name: str, folder: Path) -> None:
    """Have a name stand for a checkpoint: at every moment it is the old one or the new one."""
    draft = parent / f"{DRAFT}{name}"
    with suppress(FileNotFoundError):
        draft.unlink()
    draft.symlink_to(folder.name)
    draft.replace(parent / name)
    descriptor = os.open(parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def restore_links(parent: Path, *, last: str, best: str) -> None:
    """Have the names of the last and the best checkpoint be links again, where a copy lost them.

    Some programs copy what a link names in place of the link, and others leave links out. A link
    that is there stays as it is. Raises OSError and FolderError.
    """
    for name in (last, best):
        path = parent / name
        if is_checkpoint(path) and not path.is_symlink():
            update = Checkpoint.read(path).progress.update
            folder = _free_name(parent, f"{_NAME}{update:06}")
            path.rename(folder)
            # A crash before this line leaves a whole checkpoint, which is found below.
            link(parent, name, folder)
    if is_checkpoint(parent / last) and is_checkpoint(parent / best):
        return
    whole = _whole_checkpoints(parent)
    if not whole:
        return
    if not is_checkpoint(parent / last):
        newest = max(whole, key=lambda checkpoint: checkpoint.progress.update)
        link(parent, last, newest.folder)
    if not is_checkpoint(parent / best):
        # A training without evaluations has no best one, and the last is the first to know.
        best_update = Checkpoint.read(parent / last).progress.best_update
        for checkpoint in whole:
            if checkpoint.progress.update == best_update:
                link(parent, best, checkpoint.folder)


def _whole_checkpoints(parent: Path) -> list[Checkpoint]:
    """Read the checkpoints in a folder, by name. Raises FolderError."""
    folders = [entry for entry in sorted(parent.iterdir()) if _OURS.fullmatch(entry.name)]
    return [Checkpoint.read(folder) for folder in folders if is_checkpoint(folder)]


def prune(parent: Path) -> None:
    """Remove every checkpoint that no link names, and what a crash left half-written.

    A folder or a link of another name is somebody's own, and stays.
    """
    entries = list(parent.iterdir())
    drafts = [entry for entry in entries if entry.name.startswith(DRAFT)]
    linked = {entry.resolve() for entry in entries if entry.is_symlink() and entry not in drafts}
    for draft in drafts:
        if draft.is_symlink():
            draft.unlink()
        elif _OURS.fullmatch(draft.name[len(DRAFT) :]):
            shutil.rmtree(draft)
    for entry in entries:
        is_ours = _OURS.fullmatch(entry.name) and entry.is_dir() and not entry.is_symlink()
        if is_ours and entry.resolve() not in linked:
            shutil.rmtree(entry)


def _free_name(parent: Path, name: str) -> Path:
    for number in count(1):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise AssertionError("count() does not end")
