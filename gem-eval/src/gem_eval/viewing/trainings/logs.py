"""The episodes of evaluations as runs of their own, so that their pages are those of any run."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gem.episode import Episode
from gem.specs import EnvSpec
from gem_eval.line_ups import PolicyRef
from gem_eval.run_folder import RunFolder, RunRecord
from gem_eval.settings import Settings
from gem_eval.viewing.conversation import UNREADABLE
from gem_eval.viewing.runs import Run
from gem_eval.viewing.trainings.training import MODES, ViewedTraining

__all__ = ["EvaluationLogs", "first_episodes", "log_name"]

_NAME = re.compile(rf"(?P<training>.+)~(?P<update>\d{{6,15}})-(?P<mode>{'|'.join(MODES)})")
_LONGEST = 1 << 20  # bytes of an episode whose actions a page of a training shows
_READING_S = 5.0  # that a page waits for a log which nobody has read yet
_LOOKING_S = 0.5


@dataclass(frozen=True, slots=True)
class _LogFolder(RunFolder):
    """The folder of a training, seen as that of a run whose log is one evaluation."""

    log: Path = Path()

    @property
    def episodes_path(self) -> Path:
        """The log of the evaluation."""
        return self.log

    @property
    def has_name(self) -> bool:
        """Whether a command of `gem-env` can be given it as a run."""
        return False


class EvaluationLogs:
    """Opens the log of an evaluation the first time that a page asks for it, and keeps it open."""

    def __init__(self, trainings: Sequence[ViewedTraining], cache: Path | None) -> None:
        self._trainings = {training.name: training for training in trainings}
        self._cache = cache
        self._open: dict[str, Run] = {}
        self._lock = threading.Lock()
        self._reading = threading.Lock()

    def run(self, name: str) -> Run | None:
        """Return the run of a name that `log_name` made, None where there is no such log."""
        found = _NAME.fullmatch(name)
        training = self._trainings.get(found["training"]) if found else None
        if found is None or training is None:
            return None
        with self._lock:
            if name not in self._open:
                log = training.folder.episodes_path(int(found["update"]), found["mode"])
                if not log.is_file():
                    return None
                self._open[name] = Run(name, _folder_of(training, log), self._cache)
                self._open[name].up = f"/trainings?of={training.name}"
            run = self._open[name]
        with self._reading:  # one page at a time: each would read the same
            run.refresh(_READING_S)
            run.look_on(_LOOKING_S)
        return run

    def close(self) -> None:
        """Let go of all of them."""
        for run in self._open.values():
            run.close()


def log_name(training: ViewedTraining, update: int, mode: str) -> str:
    """Return the name of an evaluation's log in addresses."""
    return f"{training.name}~{update:06}-{mode}"


def first_episodes(log: Path, number: int) -> list[Episode | None]:
    """Return the first episodes of a log, None for one that cannot be read or is very long."""
    episodes: list[Episode | None] = []
    try:
        with log.open("rb") as file:
            for _ in range(number):
                line = file.readline(_LONGEST)
                if not line.endswith(b"\n"):  # what follows is of the same line, or not there yet
                    break
                episodes.append(_episode_of(line))
    except OSError:  # a log that was removed leaves an empty place
        return episodes
    return episodes


def _episode_of(line: bytes) -> Episode | None:
    try:
        return Episode.from_json(line)
    except UNREADABLE:
        return None


def _folder_of(training: ViewedTraining, log: Path) -> _LogFolder:
    """Return a folder with what the pages of a run ask for.

    Nothing of it is checked or looked up: it is only shown, and may be of packs that are not here.
    """
    experiment = training.experiment
    [first] = first_episodes(log, 1) or [None]
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
        command=training.folder.record.command,
        created=training.folder.record.created,
        versions=training.folder.record.versions,
        settings=settings,
        total=_count(experiment.get("eval_episodes")),
    )
    return _LogFolder(training.folder.path, record, log=log)


def _count(value: Any) -> int | None:
    is_one = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 53
    return value if is_one else None
