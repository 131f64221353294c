"""Follow a run or a training by its folder, and tell a tracker how it goes, in its own process.

Knows nothing about who writes the log.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from gem.errors import in_one_line
from gem_eval.tracking.sources import Point, TrackedFolder
from gem_eval.tracking.tracker import Tracker

__all__ = ["LoggedSteps", "follow", "word_from"]

_SHARE = 4  # for each second of work so many are waited


class LoggedSteps:
    """What a tracker was told in this and in earlier processes: its run's id, and the last step.

    It is on disk and locked: a process of a run that was killed may still be telling its last. A
    point has two lines there, one from before the tracker takes it and one from after that.
    `is_taken` is false after a kill between the two: nobody knows then whether the tracker has the
    last step. `before_first` is the step before anything was told.
    """

    def __init__(self, path: Path, before_first: int = 0) -> None:
        self._file = path.open("ab+")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self.run_id: str | None = None
        self.step = before_first
        self.is_taken = True
        self._file.seek(0)
        for line in self._file:
            if not line.endswith(b"\n"):
                self._file.write(b"\n")  # a kill cut it off, and the next line is not to join it
            with suppress(ValueError):
                known = json.loads(line)
                self.run_id = known["run_id"]
                self.step = known["step"]
                # The files of earlier versions have one line a point, and say nothing of this.
                self.is_taken = known.get("is_taken", True)

    def note(self, run_id: str, step: int, *, is_taken: bool) -> None:
        """Put on disk what is told next, or that it was taken."""
        line = json.dumps({"run_id": run_id, "step": step, "is_taken": is_taken})
        self._file.write(f"{line}\n".encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        self.run_id = run_id
        self.step = step
        self.is_taken = is_taken

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class _Follower:
    """What grows, its tracker, and how far the one is known to the other."""

    def __init__(self, source: TrackedFolder, tracker: Tracker, logged: LoggedSteps) -> None:
        self._source = source
        self._tracker = tracker
        self._logged = logged
        self._run_id: str | None = None

    def update(self, *, is_last: bool) -> None:
        """Tell the tracker how the run goes, if anything has ended since it was told last.

        A last step that it may lack, because a kill came while it took that, is logged once more
        where no later one is to come.
        """
        if self._run_id is None:
            parameters = self._source.parameters()
            run_id = self._tracker.begin(self._source.name, parameters, self._logged.run_id)
            if run_id != self._logged.run_id:
                self._logged.note(run_id, self._logged.step, is_taken=self._logged.is_taken)
            self._run_id = run_id
        last = self._logged.step
        may_lack_last = is_last and not self._logged.is_taken
        points = self._source.points_from(last if may_lack_last else last + 1)
        for point in points:
            if point.step > last or len(points) == 1:
                self._log_figures(self._run_id, point)

    def end(self, *, is_finished: bool) -> None:
        """Let the tracker end, with what is to be kept of a run that is finished."""
        if self._run_id is not None:
            files = self._source.files() if is_finished else []
            self._tracker.end(is_finished=is_finished, files=files)

    def _log_figures(self, run_id: str, point: Point) -> None:
        step_before = self._logged.step
        was_taken = self._logged.is_taken
        # It is on disk before the tracker takes it: a kill meanwhile is seen by the next process.
        self._logged.note(run_id, point.step, is_taken=False)
        try:
            self._tracker.log(point.figures, point.step)
        except BaseException:
            # The tracker refused it: it may have it later.
            self._logged.note(run_id, step_before, is_taken=was_taken)
            raise
        self._logged.note(run_id, point.step, is_taken=True)


def follow(
    source: TrackedFolder,
    tracker: Tracker,
    logged: LoggedSteps,
    *,
    every_s: float,
    next_word: Callable[[float], str | None],
    complain: Callable[[str], None],
) -> bool:
    """Tell a tracker every few seconds how a run goes, until that is over.

    `next_word` waits so many seconds for word of the run's end: "finished", or "" where it stopped
    or its process is gone. Errors go to `complain`, in one line. Return whether the last figures
    were told.
    """
    follower = _Follower(source, tracker, logged)
    pause_s = 0.0
    while True:
        word = next_word(pause_s)
        began = time.monotonic()
        is_current = _tried(partial(follower.update, is_last=word is not None), complain)
        if word is not None:
            has_ended = _tried(partial(follower.end, is_finished=word == "finished"), complain)
            return is_current and has_ended
        pause_s = max(every_s, _SHARE * (time.monotonic() - began))


def _tried(work: Callable[[], None], complain: Callable[[str], None]) -> bool:
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - a tracker may raise anything, SystemExit too
        # Whole: the run takes keys out before it cuts, or half of one might stay at the end.
        complain(in_one_line(error))
        return False
    return True


def word_from(file: BinaryIO) -> Callable[[float], str | None]:
    """Return what waits for a line of an unbuffered file; its end is a word too, an empty one."""

    def next_word(wait_s: float) -> str | None:
        ready, _, _ = select.select([file], [], [], wait_s)
        return file.readline().decode().strip() if ready else None

    return next_word
