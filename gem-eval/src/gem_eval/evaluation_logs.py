"""The evaluations of a training as runs: each log of `TRAINING/evaluations` is one.

Nothing of them is checked or looked up in a registry: they are only read, and may be of packs that
are not here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gem.episode import Episode
from gem.specs import EnvSpec
from gem_eval.line_ups import PolicyRef
from gem_eval.run_folder import RunFolder, RunRecord
from gem_eval.settings import Settings
from gem_eval.training_folder import TrainingFiles, is_training_folder

__all__ = ["LogFolder", "folder_of_log", "open_run"]


@dataclass(frozen=True, slots=True)
class LogFolder(RunFolder):
    """One evaluation of a training, seen as a run of which there is the log alone."""

    log: Path = Path()

    @property
    def episodes_path(self) -> Path:
        """The log of the evaluation."""
        return self.log

    @property
    def has_name(self) -> bool:
        """Whether a command of `gem-env` can change it: it has no folder of its own."""
        return False


def open_run(path: str | os.PathLike[str]) -> RunFolder:
    """Open a run to read it: its folder, or the log of an evaluation in that of a training.

    Raises RunFolderError.
    """
    log = Path(path)
    training = log.absolute().parent.parent
    is_evaluation = log.absolute().parent == TrainingFiles.evaluations_of(training)
    if is_evaluation and log.is_file() and is_training_folder(training):
        return folder_of_log(TrainingFiles.open(training), log, first=_first_of(log), path=log)
    return RunFolder.open(path)


def folder_of_log(
    training: TrainingFiles, log: Path, *, first: Episode | None, path: Path
) -> LogFolder:
    """Return a log as a run at `path`; `first` is its first episode, where that can be read."""
    experiment = training.record.experiment
    kwargs: Any = experiment.get("env_kwargs")
    env_id = f"{experiment.get('env', '')}" if first is None else first.env_id
    policy = f"{experiment.get('policy', '')}" if first is None else first.policy
    spec = EnvSpec.model_construct(id=env_id, kwargs=kwargs if isinstance(kwargs, dict) else {})
    settings = Settings.model_construct(
        envs=(spec,),
        policies=(PolicyRef(name=policy),),
        seed=experiment.get("seed", 0),
        max_turns=_count(experiment.get("max_turns")),
        backend=f"{experiment.get('backend', 'inline')}",
    )
    record = RunRecord.model_construct(
        command=training.record.command,
        created=training.record.created,
        versions=training.record.versions,
        settings=settings,
        total=_count(experiment.get("eval_episodes")),
    )
    return LogFolder(path, record, log=log)


def _first_of(log: Path) -> Episode | None:
    from gem import read_episodes

    return next(iter(read_episodes(log)), None)


def _count(value: Any) -> int | None:
    is_one = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 53
    return value if is_one else None
