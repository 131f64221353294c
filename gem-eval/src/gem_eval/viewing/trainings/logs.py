"""The episodes of evaluations as runs of their own, so that their pages are those of any run."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path

from gem.episode import Episode
from gem_eval.evaluation_logs import LogFolder, folder_of_log
from gem_eval.training_folder import TrainingFiles
from gem_eval.viewing.conversation import UNREADABLE
from gem_eval.viewing.runs import Run
from gem_eval.viewing.trainings.training import MODES, ViewedTraining

__all__ = ["EvaluationLogs", "first_episodes", "log_name"]

_NAME = re.compile(rf"(?P<training>.+)~(?P<update>\d{{6,15}})-(?P<mode>{'|'.join(MODES)})")
_LONGEST = 1 << 20  # bytes of an episode whose actions a page of a training shows
_READING_S = 5.0  # that a page waits for a log which nobody has read yet
_LOOKING_S = 0.5


class EvaluationLogs:
    """Opens the log of an evaluation the first time that a page asks for it, and keeps it open."""

    def __init__(self, trainings: Sequence[ViewedTraining], cache: Path | None) -> None:
        self._trainings = {training.name: training for training in trainings}
        self._cache = cache
        self._open: dict[str, Run] = {}
        self._files: dict[str, TrainingFiles] = {}  # of the training, as an open log was last seen
        self._lock = threading.Lock()
        self._reading = threading.Lock()

    def run(self, name: str) -> Run | None:
        """Return the run of a name that `log_name` made, None where there is no such log."""
        found = _NAME.fullmatch(name)
        training = self._trainings.get(found["training"]) if found else None
        if found is None or training is None:
            return None
        with self._lock:
            log = training.folder.episodes_path(int(found["update"]), found["mode"])
            if not log.is_file():
                # Its training may be another one by now. One that is open is kept: pages that were
                # asked for before may be reading it, and its log may come back.
                return None
            if name not in self._open:
                self._open[name] = Run(name, _folder_of(training, log), self._cache)
                self._open[name].up = f"/trainings?of={training.name}"
            elif self._files[name] is not training.folder:
                # The training's record was written again: it may be another one by now.
                self._open[name].renew(_folder_of(training, log))
            self._files[name] = training.folder
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


def _folder_of(training: ViewedTraining, log: Path) -> LogFolder:
    """Return a folder with what the pages of a run ask for."""
    [first] = first_episodes(log, 1) or [None]
    return folder_of_log(training.folder, log, first=first, path=training.folder.path)
