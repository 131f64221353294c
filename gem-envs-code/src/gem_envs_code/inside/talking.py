"""One process of a candidate for one test, which is asked as often as the test asks.

So what a program keeps from one call to the next is there, as it is where a test and a program
share a process. The limits are for all of the test's calls together.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from contextlib import suppress

from gem_envs_code.inside.forking import Ended, Forks, nameless_file, taken_output

__all__ = ["Talk", "Talks"]

_QUESTION = 3
_ASKED = 4
_ANSWERED = 5
"""The descriptors of the process: a file with what it is asked, and a byte each way for a turn."""

Answering = Callable[[], Callable[[bytes], bytes]]
"""Makes ready in the new process, and returns what answers there."""


class Talks:
    """Starts a process for each test."""

    def __init__(self, forks: Forks) -> None:
        self._forks = forks
        self._question = nameless_file()
        self._talk: Talk | None = None

    def begin(self, answering: Answering, *, cpu_s: float, wall_s: float, most: int) -> None:
        """Start a process. Its limits are those of `Forks.run`."""
        self.end()
        self._talk = Talk(self._forks, self._question, answering, cpu_s, wall_s, most)

    def ask(self, question: bytes) -> Ended:
        """Return what the process answered, as if it had ended well, or how it ended instead."""
        if self._talk is None:
            return Ended(0, is_late=False, cpu_s=0.0, stdout=b"", stderr=b"")
        ended, is_over = self._talk.ask(question)
        if is_over:
            self._talk = None
        return ended

    def end(self) -> None:
        """End the process, if there is one."""
        talk = self._talk
        self._talk = None
        if talk is not None:
            talk.end()


class Talk:
    """One process, from its start to its end."""

    def __init__(
        self,
        forks: Forks,
        question: int,
        answering: Answering,
        cpu_s: float,
        wall_s: float,
        most: int,
    ) -> None:
        self._forks = forks
        self._question = question
        self._cpu_s = cpu_s
        self._left_s = wall_s
        self._most = most
        asked, self._ask = os.pipe()
        self._answered, answered = os.pipe()
        self._process = forks.started(
            lambda: _serve(answering),
            stdin=b"",
            cpu_s=cpu_s,
            most=most,
            kept=(question, asked, answered),
        )
        self._watched = os.pidfd_open(self._process)
        # The process has these ends now. Were ours kept, its end would not be seen as one.
        os.close(asked)
        os.close(answered)

    def ask(self, question: bytes) -> tuple[Ended, bool]:
        """Return the answer, and whether the process is over."""
        self._forks.clear_output()  # first: whatever is written from here on is the answer
        os.ftruncate(self._question, 0)
        os.lseek(self._question, 0, os.SEEK_SET)
        rest = memoryview(question)
        while rest:
            rest = rest[os.write(self._question, rest) :]
        is_late = not self._is_answered()
        spent_s = self._spent_s()
        if is_late or spent_s is None or spent_s > self._cpu_s:
            return self.end(is_late=is_late), True
        stdout, stderr = self._forks.written(self._most)
        return Ended(0, is_late=False, cpu_s=spent_s, stdout=stdout, stderr=stderr), False

    def _is_answered(self) -> bool:
        """Wait for a byte, or for the end of the process; False where neither comes in time."""
        started = time.monotonic()
        with suppress(BrokenPipeError):  # it has ended, or has closed what it could be asked by
            os.write(self._ask, b".")
        poll = select.poll()
        for watched in (self._answered, self._watched):
            poll.register(watched, select.POLLIN)
        is_there = bool(poll.poll(max(self._left_s, 0) * 1000))
        self._left_s -= time.monotonic() - started
        return is_there

    def _spent_s(self) -> float | None:
        """Take the byte, and return the CPU time so far; None where the process has ended."""
        is_there = bool(select.select([self._answered], [], [], 0)[0])
        if not is_there or not os.read(self._answered, 1):
            return None
        try:
            return time.clock_gettime(~self._process << 3 | _CPU_CLOCK)
        except OSError:  # it has ended since
            return None

    def end(self, *, is_late: bool = False) -> Ended:
        """End the process, and return how that was."""
        for file in (self._ask, self._answered, self._watched):
            os.close(file)
        return self._forks.ended(self._process, is_late=is_late, cpu_s=self._cpu_s, most=self._most)


_CPU_CLOCK = 2
"""The kernel makes a clock of this and of a process's complement: the CPU time of that process."""


def _serve(answering: Answering) -> None:
    """Answer each question, in the new process, until nobody asks any more."""
    output = taken_output()
    answer = answering()
    while os.read(_ASKED, 1):
        size = os.fstat(_QUESTION).st_size
        rest = memoryview(answer(os.pread(_QUESTION, size, 0)))
        while rest:
            rest = rest[os.write(output, rest) :]
        os.write(_ANSWERED, b".")
