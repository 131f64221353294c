"""Have trackers listen to a run: start their processes, hear what fails, and end them in time.

The run waits for none of them before its end, and then not for long.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gem.errors import in_one_line
from gem_eval.run_folder import RunFolder
from gem_eval.tracking.installed import tracker_called
from gem_eval.wording import counted

__all__ = ["Listener", "Tracking", "end_all"]

_EVERY_S = 5.0  # at most so often a tracker is told
_PATIENCE_S = 60.0  # at the end of a run, for a tracker that has not failed
_SHORT_PATIENCE_S = 5.0  # for one that has, and where the run did not come to its end
_LONGEST_PROBLEM = 300  # characters, once keys were taken out
_SECRET = re.compile(r"(KEY|TOKEN|PASSWORD|SECRET)$")
_SHORTEST_SECRET = 6
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_log = logging.getLogger(__name__)


class Tracking:
    """The trackers of one run. `asking` names the policies whose answers count as requests.

    At its end the run waits `patience_s` for each at most; without it a minute.
    """

    def __init__(
        self,
        folder: RunFolder,
        trackers: Sequence[str],
        *,
        asking: Sequence[str],
        patience_s: float | None = None,
    ) -> None:
        self._folder = folder
        self._names = trackers
        self._asking = asking
        self._patience_s = _PATIENCE_S if patience_s is None else patience_s
        self._listeners: list[Listener] = []
        self._is_ending = False

    @property
    def state(self) -> str:
        """What is waited for, in one line; empty before the run's end."""
        return f"waiting for {', '.join(self._names)}" if self._is_ending else ""

    @property
    def problems(self) -> tuple[str, ...]:
        """A line for each tracker that failed."""
        texts = (listener.problem for listener in self._listeners)
        return tuple(text for text in texts if text)

    def start(self) -> None:
        """Start a process for each tracker, which tells it what is in the log already too."""
        self._listeners = [
            Listener(
                name,
                self._folder.path,
                kind="run",
                asking=self._asking,
                resume="gem-env eval --resume",
            )
            for name in self._names
        ]

    async def end(self, *, is_finished: bool) -> None:
        """Tell the trackers that the run is over, and wait for them, for a little while."""
        if not self._listeners:
            return
        self._is_ending = True
        try:
            await asyncio.to_thread(self._end, is_finished=is_finished)
        except asyncio.CancelledError:
            for listener in self._listeners:
                listener.give_up("the run was interrupted")  # which ends the thread, too
            raise
        finally:
            self._is_ending = False

    def _end(self, *, is_finished: bool) -> None:
        end_all(self._listeners, is_finished=is_finished, patience_s=self._patience_s)


def end_all(
    listeners: Sequence[Listener], *, is_finished: bool, patience_s: float | None = None
) -> None:
    """Tell trackers that it is over, and wait for each so long at most; without it a minute."""
    patience_s = _PATIENCE_S if patience_s is None else patience_s
    if not is_finished:  # who stops a run, or whose disk is full, wants it to end
        patience_s = min(patience_s, _SHORT_PATIENCE_S)
    for listener in listeners:
        listener.say("finished" if is_finished else "stopped")
    for listener in listeners:
        listener.wait(patience_s)


class Listener:
    """A tracker's process, which follows a run or a training, and a thread that hears it fail.

    `kind` is "run" or "training", and `resume` the command that goes on with one.
    """

    def __init__(
        self, name: str, run: Path, *, kind: str, asking: Sequence[str], resume: str
    ) -> None:
        self._name = name
        self._run = run
        self._kind = kind
        self._resume = resume
        self._failures: list[str] = []
        self._is_current = False
        self._is_given_up = False
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("child.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the run, which then ends its trackers
            )
            self.say(self._instructions(asking))
        except Exception as error:  # noqa: BLE001 - no tracker stops a run, whatever the system says
            self._failed(in_one_line(error))
        self._hearing = threading.Thread(target=self._hear, name=f"gem-track-{name}", daemon=True)
        self._hearing.start()

    @property
    def problem(self) -> str:
        """Say in a line what the tracker lacks; empty where nothing failed."""
        if not self._failures:
            return ""
        times = counted(len(self._failures), "time")
        last = self._failures[-1]
        if self._is_current:
            return f"{self._name} failed {times}, and has the last figures all the same ({last})."
        return (
            f"{self._name} does not have the last figures of this {self._kind}: {last}. Once the "
            f"cause is gone, `{self._resume} {shlex.quote(str(self._run))}` tells it what it lacks."
        )

    def say(self, line: str) -> None:
        """Send a line to the process, if it still listens."""
        if self._process is None or self._process.stdin is None:
            return
        with suppress(OSError, ValueError):  # it is gone
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def wait(self, patience_s: float) -> None:
        """Wait until the process has ended, and end it where that takes too long."""
        if self._failures:
            patience_s = min(patience_s, _SHORT_PATIENCE_S)
        self._hearing.join(patience_s)
        process = self._process
        if process is None:
            return
        if self._hearing.is_alive():
            self.give_up(f"it did not answer within {patience_s:g} s of the {self._kind}'s end")
        process.kill()  # nothing is left to be heard from it
        process.wait()
        self._hearing.join()
        with suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()

    def give_up(self, why: str) -> None:
        """End the process, and call that no failure of its own. A second call does nothing."""
        if self._process is None or self._is_given_up or not self._hearing.is_alive():
            return
        self._is_given_up = True
        self._failed(why)
        self._process.kill()

    def _instructions(self, asking: Sequence[str]) -> str:
        return json.dumps(
            {
                "path": sys.path,
                "tracker": self._name,
                "target": tracker_called(self._name).target,
                "kind": self._kind,
                "run": str(self._run.resolve()),
                "asking": list(asking),
                "every_s": _EVERY_S,
            }
        )

    def _hear(self) -> None:
        """Take note of what the process says, until it ends."""
        process = self._process
        if process is None or process.stdout is None:
            return
        has_ended = False
        with process.stdout:
            for line in process.stdout:
                report = json.loads(line)
                if "problem" in report:
                    self._failed(report["problem"])
                else:
                    has_ended = True
                    self._is_current = report["is_current"]
        if not (has_ended or self._is_given_up):
            self._failed("its process ended by itself")

    def _failed(self, problem: str) -> None:
        """Note a failure, and warn of the first alone."""
        text = _redacted(problem)[:_LONGEST_PROBLEM].rstrip(".")
        self._failures.append(text)
        if len(self._failures) == 1:
            _log.warning(
                "The tracker %s failed: %s. The %s does without.", self._name, text, self._kind
            )


def _redacted(text: str) -> str:
    """Return a tracker's words without what its environment variables keep secret."""
    for name, value in os.environ.items():
        if _SECRET.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, "***")
    return _CREDENTIALS.sub("***", text)
