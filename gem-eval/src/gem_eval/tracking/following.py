"""Follow a run by its log, and tell a tracker how it goes: what runs in the tracker's process.

Knows nothing about who writes the log.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from gem.episode import Episode
from gem.errors import in_one_line
from gem_eval.budgets import Amount
from gem_eval.run_folder import RunFolder
from gem_eval.summary import Outcome, Tries, summarise
from gem_eval.tracking.figures import figures_of, parameters_of
from gem_eval.tracking.tracker import Tracker

__all__ = ["LoggedSteps", "follow", "word_from"]

_SHARE = 4  # for each second of work so many are waited


class LoggedSteps:
    """What a tracker was told in this and in earlier processes: its run's id, and the last step.

    It is on disk and locked: a process of a run that was killed may still be telling its last. A
    point has two lines there, one from before the tracker takes it and one from after that.
    `is_taken` is false after a kill between the two: nobody knows then whether the tracker has the
    last step.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab+")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self.run_id: str | None = None
        self.step = 0
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


class _Log:
    """What the log of a run has by now, read on from where it was left.

    `ended` counts the tries, `spent` what was asked of policies that may ask a model.
    """

    def __init__(self, folder: RunFolder, asking: Collection[str]) -> None:
        self.tries = Tries()
        self.ended = 0
        self.spent = Amount()
        self._path = folder.episodes_path
        self._asking = asking
        branch = folder.record.branch
        self._first_turn = 0 if branch is None else branch.turn
        self._end = 0

    def read_on(self) -> None:
        """Count the whole lines that there are now, and none that come meanwhile."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:  # the run has just begun
            return
        with file:
            size = os.fstat(file.fileno()).st_size
            file.seek(self._end)
            while self._end < size:
                line = file.readline()
                if not line.endswith(b"\n"):
                    return
                self._add(Episode.from_json(line))
                self._end += len(line)

    def _add(self, episode: Episode) -> None:
        self.tries.add(Outcome.of(episode))
        self.ended += 1
        if episode.policy in self._asking:
            usages = (turn.usage for turn in episode.turns[self._first_turn :])
            self.spent = self.spent.plus(Amount.of(usages))


class _Follower:
    """A run, its tracker, and how far the one is known to the other."""

    def __init__(
        self, folder: RunFolder, tracker: Tracker, logged: LoggedSteps, asking: Collection[str]
    ) -> None:
        self._folder = folder
        self._tracker = tracker
        self._logged = logged
        self._log = _Log(folder, asking)
        self._run_id: str | None = None

    def update(self, *, is_last: bool) -> None:
        """Tell the tracker how the run goes, if anything has ended since it was told last.

        A last step that it may lack, because a kill came while it took that, is logged once more
        where no later one is to come.
        """
        if self._run_id is None:
            parameters = parameters_of(self._folder.record)
            name = self._folder.path.resolve().name
            run_id = self._tracker.begin(name, parameters, self._logged.run_id)
            if run_id != self._logged.run_id:
                self._logged.note(run_id, self._logged.step, is_taken=self._logged.is_taken)
            self._run_id = run_id
        self._log.read_on()
        ended = self._log.ended
        may_lack_last = is_last and not self._logged.is_taken and ended == self._logged.step
        if ended > self._logged.step or may_lack_last:
            self._log_figures(self._run_id, ended)

    def end(self, *, is_finished: bool) -> None:
        """Let the tracker end, with the summary of a run that is finished."""
        if self._run_id is not None:
            files = [self._folder.summary_path] if is_finished else []
            self._tracker.end(is_finished=is_finished, files=files)

    def _log_figures(self, run_id: str, step: int) -> None:
        record = self._folder.record
        summary = summarise(
            record.settings,
            self._log.tries.last,
            run=str(self._folder.path),
            retried=self._log.tries.retried,
            is_branch=record.branch is not None,
        )
        figures = figures_of(summary, self._log.spent)
        step_before = self._logged.step
        was_taken = self._logged.is_taken
        # It is on disk before the tracker takes it: a kill meanwhile is seen by the next process.
        self._logged.note(run_id, step, is_taken=False)
        try:
            self._tracker.log(figures, step)
        except BaseException:
            # The tracker refused it: it may have it later.
            self._logged.note(run_id, step_before, is_taken=was_taken)
            raise
        self._logged.note(run_id, step, is_taken=True)


def follow(
    folder: RunFolder,
    tracker: Tracker,
    logged: LoggedSteps,
    *,
    asking: Collection[str],
    every_s: float,
    next_word: Callable[[float], str | None],
    complain: Callable[[str], None],
) -> bool:
    """Tell a tracker every few seconds how a run goes, until that is over.

    `next_word` waits so many seconds for word of the run's end: "finished", or "" where it stopped
    or its process is gone. Errors go to `complain`, in one line. Return whether the last figures
    were told.
    """
    follower = _Follower(folder, tracker, logged, asking)
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
