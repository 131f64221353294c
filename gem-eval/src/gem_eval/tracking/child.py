"""The process of a tracker. It is told on stdin what to follow, and says on stdout what fails.

It is run as a file, and not as a module: `python -m` would look for modules in the current folder
first.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any, BinaryIO

_LAST_S = 60  # that a process goes on at most when the run's own is gone
_NICE = 10


def main() -> None:
    """Follow a run until its process says that it is over, or is gone."""
    stdin = os.fdopen(0, "rb", buffering=0, closefd=False)
    # What trackers print goes nowhere: stdout is for the run, and stderr is its terminal.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    with suppress(OSError):
        os.nice(_NICE)  # the run comes first

    instructions = json.loads(stdin.readline())
    sys.path[:] = instructions["path"]

    def say(**what: Any) -> None:
        with suppress(OSError):  # nobody listens any more
            answers.write(f"{json.dumps(what)}\n")
            answers.flush()

    say(is_current=_follow(instructions, stdin, say))


def _follow(instructions: dict[str, Any], stdin: BinaryIO, say: Any) -> bool:
    from gem.errors import in_one_line
    from gem.registry import load_target
    from gem_eval.run_folder import RunFolder
    from gem_eval.tracking.following import LoggedSteps, follow, word_from
    from gem_eval.tracking.sources import RunSource, TrackedFolder, TrainingSource
    from gem_eval.training_folder import TrainingFiles

    next_word = word_from(stdin)

    def next_word_or_alarm(wait_s: float) -> str | None:
        word = next_word(wait_s)
        if word == "":
            signal.alarm(_LAST_S)
        return word

    try:
        source: TrackedFolder
        path = instructions["run"]
        if instructions["kind"] == "training":
            training = TrainingFiles.open(path)
            source = TrainingSource(training)
            log = training.tracker_path(instructions["tracker"])
        else:
            folder = RunFolder.open(path)
            source = RunSource(folder, instructions["asking"])
            log = folder.tracker_path(instructions["tracker"])
        logged = LoggedSteps(log, source.before_first)
        tracker = load_target(instructions["target"])()
    except BaseException as error:  # noqa: BLE001 - importing a tracker may raise anything
        # Whole: the run takes keys out before it cuts, or half of one might stay at the end.
        say(problem=in_one_line(error))
        return False
    return follow(
        source,
        tracker,
        logged,
        every_s=instructions["every_s"],
        next_word=next_word_or_alarm,
        complain=lambda problem: say(problem=problem),
    )


if __name__ == "__main__":
    main()
