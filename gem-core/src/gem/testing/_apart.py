"""The check of one environment in a process of its own, so that one that hangs can be ended.

A thread that hangs cannot be ended; and one that hangs in C, as a regular expression may, lets no
other thread run. So the process that checks has a watchdog in C, which writes down where each
thread stands and ends the process. The process that asked makes the last line of that.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from gem._python.places import Place, telling_place
from gem.errors import BadArguments, DataError, GemError, TargetError
from gem.registry._making import ref_of
from gem.testing._checking import checked
from gem.testing._report import CheckLine, State
from gem.testing._subject import is_for_want

__all__ = ["ApartCheck", "CheckRequest", "NotMadeError", "check_here"]

_GRACE_S = 2.0  # for the watchdog to write and end its process
_CLOSE_S = 5.0  # for what environments do at the exit of their process
_LONGEST_S = 1e6  # of a watchdog; more is no limit


class CheckRequest(NamedTuple):
    """What is to be checked, and how: the arguments of `check_env`."""

    env_id: str
    kwargs: Mapping[str, Any]
    wrappers: Sequence[Any]
    backends: Sequence[str] | None


class NotMadeError(GemError):
    """An environment could not be made. `state` is that of a line which says so.

    None: what was asked for is wrong for any environment.
    """

    def __init__(self, message: str, *, state: State | None) -> None:
        super().__init__(message)
        self.state = state


class _Begun(NamedTuple):
    """A check begins. The other process says so before each, and sends its line after it."""

    name: str
    claim: str


class _Refused(NamedTuple):
    """The arguments of a `NotMadeError`: an exception with fields does not survive a pickle."""

    text: str
    state: State | None


class _Done(NamedTuple):
    """No line comes after this."""


class ApartCheck:
    """The lines of one check, as they come. Leaving it ends the other process.

    A check that takes longer than `timeout_s` fails and is the last: `running` is its claim.

        with ApartCheck(request, timeout_s=60) as check:
            for line in check.lines():
                print(line)
    """

    def __init__(self, request: CheckRequest, *, timeout_s: float) -> None:
        self.env_id = request.env_id
        self._timeout_s = min(timeout_s, _LONGEST_S)
        self._running = _Begun("made", "it can be made")
        self._folder = TemporaryDirectory(prefix="gem-check-")
        self._dump = Path(self._folder.name, "threads")
        # A fresh process: a fork would have this one's threads stopped in the middle of anything.
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_check_in_own_group, args=(request, theirs, self._dump, self._timeout_s)
        )
        self._process.start()
        theirs.close()  # else its end would not be seen here

    @property
    def running(self) -> str:
        """The claim of the check that runs, or ran last."""
        return self._running.claim

    def __enter__(self) -> ApartCheck:
        return self

    def __exit__(self, *exception: object) -> None:
        # With all that it started: a process that hangs would go on for ever.
        assert self._process.pid is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()  # it may be too early for it to have a group
        self._process.join()
        self._connection.close()
        self._folder.cleanup()

    def lines(self) -> Iterator[CheckLine]:
        """Yield each line as it comes. Raises NotMadeError."""
        while True:
            try:
                message = self._next()
            except EOFError:
                yield CheckLine(*self._running, "failed", self._ending())
                return
            if isinstance(message, _Done):
                self._process.join(_CLOSE_S)
                return
            if isinstance(message, _Refused):
                raise NotMadeError(message.text, state=message.state)
            if isinstance(message, _Begun):
                self._running = message
            else:
                yield message

    def _next(self) -> _Begun | CheckLine | _Refused | _Done:
        # The end of the process may stay unseen: what it forked has its end of the pipe too.
        if not self._connection.poll(self._timeout_s + _GRACE_S):
            raise EOFError
        message: _Begun | CheckLine | _Refused | _Done = self._connection.recv()
        return message

    def _ending(self) -> str:
        """Say why no line came."""
        self._process.join(_GRACE_S)
        written = self._dump.read_text(errors="replace") if self._dump.exists() else ""
        if written or self._process.exitcode is None:
            place = _place_in(written)
            where = f" ({place})" if place else ""
            what = f"it had not ended after {self._timeout_s:g} s{where}; --timeout gives it longer"
        else:
            what = f"its process {_exit(self._process.exitcode)}"
        return f"{what}. The checks after it were not run"


def _exit(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with status {code}"


_THREAD = re.compile(r"^(?:Current t|T)hread ", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)


def _place_in(dump: str) -> Place | None:
    """Return where a process hangs, from what its watchdog wrote."""
    places = []
    for thread in _THREAD.split(dump)[1:]:
        frames = [Place(path, int(line), name) for path, line, name in _FRAME.findall(thread)]
        places.append(telling_place(frames[::-1]))  # the innermost was written first
    # Others may work for the main thread, which is the last: where an author's code stands first.
    foreign = [place for place in places if place is not None and place.is_foreign]
    candidates = [*foreign, *reversed(places)]
    return candidates[0] if candidates else None


def _check_in_own_group(*arguments: Any) -> None:  # pragma: no cover - only the other process
    # Of one's own, to be ended as a whole; and an interrupt at the terminal is for who asked.
    os.setpgrp()
    check_here(*arguments)


def check_here(request: CheckRequest, replies: Connection, dump: Path, timeout_s: float) -> None:
    """Check in this process, and send what begins and what came of it: the other process's part.

    What takes longer than `timeout_s` ends this process, and `dump` then says where it was.
    """
    # Standard output is the report's: what an environment prints is no part of it.
    with dump.open("w") as threads, redirect_stdout(sys.stderr):

        def begin(name: str, claim: str) -> None:
            replies.send(_Begun(name, claim))
            faulthandler.dump_traceback_later(timeout_s, exit=True, file=threads)

        try:
            lines = checked(
                request.env_id,
                wrappers=request.wrappers,
                backends=request.backends,
                kwargs=request.kwargs,
                begin=begin,
            )
            for line in lines:
                replies.send(line)
            replies.send(_Done())
        except GemError as error:
            replies.send(_Refused(str(error), _state_of(error, request)))
        except (KeyboardInterrupt, BrokenPipeError):
            sys.exit(1)  # who waits for the lines has left, or is leaving
        finally:
            faulthandler.cancel_dump_traceback_later()


def _state_of(error: GemError, request: CheckRequest) -> State | None:
    """Return the state of a line on why one of many was not made; None where none could be."""
    if is_for_want(error, request.env_id, request.kwargs):
        return "skipped"
    typed = {ref_of(layer).id for layer in request.wrappers}
    is_its_own = isinstance(error, BadArguments) and error.subject not in typed
    is_failure = is_its_own or isinstance(error, (DataError, TargetError))
    return "failed" if is_failure else None
