"""A training on disk: the experiment, a line of metrics an update, evaluations and checkpoints.

    experiment.json           what is trained, by which versions and which command
    metrics.jsonl             a line an update: the same, bit for bit, for the same experiment
    timings.jsonl             the seconds that each of these updates took
    evaluations.jsonl         a line an evaluation: figures of drawn and of greedy actions
    evaluations/              the episodes of each evaluation
    samples/                  of some updates, what was played and what the policy learnt from
    checkpoints/last, best    links to the newest checkpoint and to that of the best evaluation

Knows nothing about how a policy is trained.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from gem.episode import Episode
from gem.registry import versions
from gem_baselines.errors import ExperimentError, FolderError
from gem_baselines.learning_policy import LearningPolicy
from gem_baselines.self_play.self_play import SelfPlay
from gem_baselines.training.checkpoints import (
    Checkpoint,
    Progress,
    is_checkpoint,
    link,
    prune,
    restore_links,
    write_checkpoint,
)
from gem_baselines.training.experiment import FREE, Experiment
from gem_baselines.training.files import (
    DRAFT,
    JsonLines,
    claim_json,
    problem_of,
    replace_file,
    replace_json,
)

__all__ = ["BEST", "CHECKPOINTS", "LAST", "TrainingFolder", "is_training_folder", "settings_in"]

CHECKPOINTS = "checkpoints"
LAST = "last"
BEST = "best"
_RECORD = "experiment.json"
_EVALUATIONS = "evaluations"
_SAMPLES = "samples"


class ExperimentRecord(BaseModel):
    """What `experiment.json` holds."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal[1] = 1
    command: tuple[str, ...]
    created: str
    versions: Mapping[str, str]
    experiment: Mapping[str, Any]


class TrainingFolder:
    """The folder of one training, open for what comes next.

    `start` is the checkpoint to go on from, None at the beginning. Lines of updates after it are
    removed: they come again. `changed` says which code is another since it began, "" for none. One
    process at a time has a folder open. Whatever cannot be written or read raises FolderError.
    """

    def __init__(self, path: Path, experiment: Experiment, *, changed: str = "") -> None:
        self.path = path
        self.experiment = experiment
        self.changed = changed
        self._checkpoints = path / CHECKPOINTS
        # The lock of the first one keeps every other process away from the whole folder: nothing
        # else is read before it is held.
        self._metrics = JsonLines(path / "metrics.jsonl")
        self._timings = JsonLines(path / "timings.jsonl")
        self._evaluations = JsonLines(path / "evaluations.jsonl")
        try:
            # Before the last one is asked for: without its link a training would begin anew.
            restore_links(self._checkpoints, last=LAST, best=BEST)
            self.start = self._last()
            self._refuse_other_settings()
            self._read_lines()
        except (OSError, FolderError, ExperimentError):
            self.close()
            raise

    @classmethod
    def create(
        cls, path: str | os.PathLike[str] | None, experiment: Experiment, command: Sequence[str]
    ) -> TrainingFolder:
        """Begin a training in an empty or absent folder, or in a new one below `runs/`.

        Raises FolderError.
        """
        folder = None if path is None else Path(path)
        try:
            folder = _new_folder() if folder is None else _empty_folder(folder)
            record = ExperimentRecord(
                command=tuple(_text(word) for word in command),
                created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
                versions=_versions(experiment),
                experiment=experiment.model_dump(mode="json"),
            )
            claim_json(folder / _RECORD, record.model_dump(mode="json"))
            for name in (CHECKPOINTS, _EVALUATIONS):
                (folder / name).mkdir(exist_ok=True)
            return cls(folder, experiment)
        except FileExistsError as error:
            wanted = folder or Path("runs")
            if not wanted.is_dir():
                raise FolderError(
                    f"The training folder {wanted} cannot be made (a file has that name). Choose "
                    "another --out.",
                    path=wanted,
                ) from error
            raise _not_empty(wanted) from error  # another training was begun there just now
        except OSError as error:
            raise FolderError(
                f"The training folder {folder or 'runs'} cannot be made ({error.strerror}). "
                "Choose another --out.",
                path=folder or Path("runs"),
            ) from error

    @classmethod
    def open(cls, path: str | os.PathLike[str], changes: Mapping[str, Any]) -> TrainingFolder:
        """Open a training to go on with, some of its settings changed.

        Raises FolderError; and ExperimentError on changes that cannot be.
        """
        folder = Path(path)
        record = _read_record(folder)
        experiment = Experiment.of({**record.experiment, **changes})
        _refuse_changes(folder, Experiment.of(record.experiment), experiment)
        try:
            for name in (CHECKPOINTS, _EVALUATIONS):  # a crash may have come before them
                (folder / name).mkdir(exist_ok=True)
            changed = _changed_code(folder, record, experiment)
            opened = cls(folder, experiment, changed=changed)
            if changes:
                update = {"experiment": experiment.model_dump(mode="json")}
                record = record.model_copy(update=update)
                replace_json(folder / _RECORD, record.model_dump(mode="json"))
            opened._mend()
        except OSError as error:
            raise FolderError(
                f"The training in {folder} cannot go on there ({error.strerror}). Look at the "
                "disk and at who may write there.",
                path=folder,
            ) from error
        return opened

    def add_update(self, figures: Mapping[str, Any], timings: Mapping[str, Any]) -> None:
        """Append the lines of one update."""
        with self._writing():
            self._metrics.append(figures)
            self._timings.append(timings)
        self.metrics.append(dict(figures))

    def add_evaluation(
        self, figures: Mapping[str, Any], episodes: Mapping[str, Sequence[Episode]]
    ) -> None:
        """Append the line of one evaluation; its episodes go to a log of each name."""
        with self._writing():
            for name, played in episodes.items():
                log = self.path / _EVALUATIONS / f"{figures['update']:06}-{name}.jsonl"
                replace_file(log, "".join(f"{episode.to_json()}\n" for episode in played))
            self._evaluations.append(figures)
        self.evaluations.append(dict(figures))

    def add_sample(
        self, update: int, batch: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]
    ) -> None:
        """Write what one update learnt from: its batch in numbers, and a line an episode shown.

        An update that comes again, after a crash, replaces its sample by the same one.
        """
        folder = self.path / _SAMPLES
        folder.mkdir(exist_ok=True)
        text = "".join(f"{json.dumps(line, allow_nan=False)}\n" for line in lines)
        replace_file(folder / f"{update:06}.jsonl", text)
        # Last: a sample counts as there once its batch is.
        replace_json(folder / f"{update:06}.json", batch, indent=None)

    def save(
        self, policy: LearningPolicy, progress: Progress, self_play: SelfPlay | None = None
    ) -> None:
        """Make a checkpoint of what is now, the last one, and the best if it is that."""
        with self._writing():
            # First the lines: a checkpoint that is found has all lines up to it.
            for lines in (self._metrics, self._timings, self._evaluations):
                lines.sync()
            folder = write_checkpoint(
                self._checkpoints, policy, self.experiment, progress, self_play
            )
            # First the last, then the best: the best is never later than what is gone on from.
            link(self._checkpoints, LAST, folder)
            if progress.best_update == progress.update:
                link(self._checkpoints, BEST, folder)
            prune(self._checkpoints)

    def close(self) -> None:
        """Let another process go on with it. A second call does nothing."""
        for lines in (self._metrics, self._timings, self._evaluations):
            lines.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Say what is wrong where the folder cannot be written."""
        try:
            yield
        except OSError as error:
            raise FolderError(
                f"The training in {self.path} cannot be written there ({error.strerror}). Look at "
                "the disk, then go on with --resume: the last checkpoint is unharmed.",
                path=self.path,
            ) from error

    def _refuse_other_settings(self) -> None:
        """Raise FolderError where the checkpoint to go on from is of other settings than these."""
        if self.start is None or self.start.experiment is None:  # None: of before they were kept
            return
        # Made anew, so that a setting which was added since is at its default here as well.
        then = Experiment.of(self.start.experiment).fixed()
        now = self.experiment.fixed()
        different = [
            f"{name} was {then[name]!r:.60}, and is {value!r:.60}"
            for name, value in now.items()
            if value != then[name]
        ]
        if different:
            raise FolderError(
                f"The training in {self.path} was to go on from a checkpoint of another one: "
                f"{'; '.join(different)}. Restore its {_RECORD}, or start anew with --out.",
                path=self.path,
            )

    def _read_lines(self) -> None:
        """Read the lines up to the checkpoint to go on from, and remove those after it."""
        if self.start is None:
            self._refuse_lost_checkpoints()
        done = 0 if self.start is None else self.start.progress.update
        evaluated = -1 if self.start is None else self.start.progress.evaluated
        if self.experiment.updates < done:
            raise ExperimentError(
                f"The training in {self.path} was to have updates={self.experiment.updates}, and "
                f"{done} of them are done. Set updates to {done} or more; what an earlier update "
                "left is in no checkpoint any more.",
                setting="updates",
            )
        self.metrics = self._metrics.read(lambda line: _is_up_to(line, done))
        self._timings.read(lambda line: _is_up_to(line, done))
        self.evaluations = self._evaluations.read(lambda line: _is_up_to(line, evaluated))
        # Before anything is removed: what follows a line that was damaged may be all right.
        if [line["update"] for line in self.metrics] != list(range(1, done + 1)):
            raise FolderError(
                f"The training in {self.path} was to go on after update {done}, and its "
                f"metrics.jsonl has {len(self.metrics)} lines that fit it up to there. Restore "
                "that file, or start anew with --out.",
                path=self.path,
            )
        for lines in (self._metrics, self._timings, self._evaluations):
            lines.cut()

    def _refuse_lost_checkpoints(self) -> None:
        """Raise FolderError where there are updates and no checkpoint: they would be removed.

        A training makes its first checkpoint before its first update.
        """
        lines = self._metrics.read(lambda line: isinstance(line.get("update"), int))
        if lines:
            raise FolderError(
                f"The training in {self.path} was to go on, and has {len(lines)} updates and none "
                f"of its checkpoints. Bring back its folder {CHECKPOINTS}, or start anew with "
                "--out.",
                path=self.path,
            )

    def _last(self) -> Checkpoint | None:
        last = self._checkpoints / LAST
        return Checkpoint.read(last) if is_checkpoint(last) else None

    def _mend(self) -> None:
        """Finish what a crash between two links left undone, and remove what it left."""
        for draft in self.path.glob(f"{DRAFT}*"):
            with suppress(FileNotFoundError):
                draft.unlink()
        if self.start is not None:
            progress = self.start.progress
            if progress.best_update == progress.update:
                link(self._checkpoints, BEST, self.start.folder)
        prune(self._checkpoints)


def is_training_folder(path: Path) -> bool:
    """Say whether a training was begun in a folder."""
    return (path / _RECORD).is_file()


def settings_in(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Return the settings of the training in a folder, as JSON data. Raises FolderError."""
    return _read_record(Path(path)).experiment


def _refuse_changes(folder: Path, stored: Experiment, changed: Experiment) -> None:
    """Raise ExperimentError on another value of what decides a training. The same is no change."""
    before = stored.fixed()
    for name, value in changed.fixed().items():
        if value != before[name]:
            raise ExperimentError(
                f"The training in {folder} was to go on with another {name!r}, and that decides "
                f"what it is. Start a new one with --out; only {', '.join(sorted(FREE))} may "
                "change.",
                setting=name,
            )


def _read_record(folder: Path) -> ExperimentRecord:
    try:
        return ExperimentRecord.model_validate(json.loads((folder / _RECORD).read_bytes()))
    except OSError as error:
        if (folder / "run.json").is_file():
            raise FolderError(
                f"{folder} is a run of `gem-env eval` or `gem-env league`, and no training. Go on "
                f"with it by that command's own --resume {shlex.quote(str(folder))}.",
                path=folder,
            ) from error
        raise FolderError(
            f"{folder} is no training folder: its {_RECORD} cannot be read ({error.strerror}). "
            "Check the path, or start a training there with --out.",
            path=folder,
        ) from error
    except ValueError as error:  # no JSON, or not that of a training
        raise FolderError(
            f"The {_RECORD} of {folder} cannot be read: {problem_of(error)}. It may be of another "
            "version of gem-baselines, or damaged: start anew with --out.",
            path=folder,
        ) from error


def _is_up_to(line: Mapping[str, Any], update: int) -> bool:
    """Say whether a line is of an update up to this one. What other programs wrote is of none."""
    number = line.get("update")
    return isinstance(number, int) and number <= update


def _versions(experiment: Experiment) -> dict[str, str]:
    from gem_baselines import __version__

    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python, "gem-baselines": __version__, **_code_versions(experiment)}


def _code_versions(experiment: Experiment) -> dict[str, str]:
    """Return the versions of what is trained, in what and how; of files, their digests."""
    found: dict[str, str] = {}
    for target in (experiment.env, experiment.policy, experiment.estimator):
        found |= versions(target)  # of a kind or a name of our own it has core alone
    return found


def _changed_code(folder: Path, record: ExperimentRecord, experiment: Experiment) -> str:
    """Say what is another than when the training began: core, a pack, a file; "" for nothing."""
    changed = [
        f"{name} (it was {record.versions[name]}, and is {version})"
        for name, version in _code_versions(experiment).items()
        if record.versions.get(name, version) != version
    ]
    if not changed:
        return ""
    return (
        f"{' and '.join(changed)} changed since the training in {folder} began. The updates that "
        "it has are of what was there then, and those that come are of what is there now."
    )


def _text(word: str) -> str:
    """Return a word of a command line as text: a path may be of bytes that are no UTF-8."""
    return os.fsencode(word).decode("utf-8", "backslashreplace")


def _new_folder() -> Path:
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    Path("runs").mkdir(exist_ok=True)
    for number in count(1):
        folder = Path("runs", stamp if number == 1 else f"{stamp}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise AssertionError("count() does not end")


def _empty_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    # A draft is what a training leaves that was killed before it began.
    if any(not entry.name.startswith(DRAFT) for entry in folder.iterdir()):
        raise _not_empty(folder)
    return folder


def _not_empty(folder: Path) -> FolderError:
    advice = "Choose another --out."
    if is_training_folder(folder):
        resume = f"--resume {shlex.quote(str(folder))}"
        advice = f"Go on with the training in it by {resume}, or choose another --out."
    return FolderError(
        f"The folder {folder} is not empty, and a new training needs one of its own. {advice}",
        path=folder,
    )
