"""A new process for each test, as cheap as can be: most of what a short test costs is its fork.

After a fork every page that either process writes to is copied, and a call in Python writes to a
few pages more than it needs. So what runs once a test here avoids objects of its own, contexts
and generators among them: `perf stat -e page-faults` shows what a line costs.

The files that stand for a test's streams are opened once and have no names. The fork is the C
library's own: Python's would run what modules have registered for forks, which takes longer than
all the rest, and which a process with one thread and no random numbers does not need.
"""

from __future__ import annotations

import _thread
import atexit
import ctypes
import io
import os
import resource
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

__all__ = ["Ended", "Forks", "nameless_file", "taken_output"]

_EXIT_RAISED = 1
_EXIT_UNFLUSHED = 120
_MOST_DESCRIPTORS = 1024
_ATTEMPTS = 100
_PAUSE_S = 0.01
_Stream = io.IOBase.__mro__[1]  # of all streams, too; `io.IOBase` writes down what it is asked


class Ended(NamedTuple):
    """How a process ended: its exit code, negative for a signal, its CPU time and its streams."""

    code: int
    is_late: bool
    cpu_s: float
    stdout: bytes
    stderr: bytes


class Forks:
    """Runs parts of this process's work in processes of their own, one at a time."""

    def __init__(self) -> None:
        self._files = [nameless_file() for _ in range(3)]
        self._fork = ctypes.PyDLL(None).fork
        self._poll = select.poll()
        # Only in a namespace of processes of its own is the parent the first one.
        self._is_alone = os.getppid() == 1

    def run(
        self, work: Callable[[], object], *, stdin: bytes, cpu_s: float, wall_s: float, most: int
    ) -> Ended:
        """Call `work` in a fork, and wait for its end.

        The fork has no channel. It is late after `cpu_s` or `wall_s` seconds, and no file of it
        grows beyond `most` bytes and one. What it started has ended when this returns; without a
        namespace of processes that is its process group, and the rest ends with the jail.
        """
        process = self.started(work, stdin=stdin, cpu_s=cpu_s, most=most)
        is_late = not self._ends_within(process, wall_s)
        return self.ended(process, is_late=is_late, cpu_s=cpu_s, most=most)

    def started(
        self,
        work: Callable[[], object],
        *,
        stdin: bytes,
        cpu_s: float,
        most: int,
        kept: Sequence[int] = (),
    ) -> int:
        """Call `work` in a fork, which has the descriptors `kept` as 3 and on, and return it."""
        for file in self._files:
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
        if stdin:
            _fill(self._files[0], stdin)
        process = self._forked()
        if process == 0:
            self._be_fork(work, int(cpu_s) + 1, most + 1, kept)
        return process

    def ended(self, process: int, *, is_late: bool, cpu_s: float, most: int) -> Ended:
        """End a fork and what it started, and return how that was."""
        usage, code = self._collected(process)
        spent_s = usage.ru_utime + usage.ru_stime
        stdout, stderr = self.written(most)
        # The kernel counts for its limit in another way than here: it may end a fork that has spent
        # less by this count.
        is_late = is_late or spent_s > cpu_s or code == -signal.SIGXCPU
        return Ended(code, is_late, spent_s, stdout, stderr)

    def written(self, most: int) -> tuple[bytes, bytes]:
        """Return what the fork wrote to its streams so far, of each `most` bytes and one."""
        _, stdout, stderr = self._files
        return os.pread(stdout, most + 1, 0), os.pread(stderr, most + 1, 0)

    def clear_output(self) -> None:
        """Forget what the fork wrote to stdout."""
        os.ftruncate(self._files[1], 0)
        os.lseek(self._files[1], 0, os.SEEK_SET)

    def _ends_within(self, process: int, seconds: float) -> bool:
        watched = os.pidfd_open(process)
        self._poll.register(watched, select.POLLIN)
        try:
            return bool(self._poll.poll(seconds * 1000))
        finally:
            self._poll.unregister(watched)
            os.close(watched)

    def _forked(self) -> int:
        """Fork. Those that the last test left may still be on their way out."""
        for _ in range(_ATTEMPTS):
            process: int = self._fork()
            if process >= 0:
                return process
            time.sleep(_PAUSE_S)
        raise OSError("no process could be started")

    def _collected(self, process: int) -> tuple[resource.struct_rusage, int]:
        """End a fork and what it started."""
        try:  # and no context, which would be one object more
            if self._is_alone:
                os.kill(-1, signal.SIGKILL)  # spares this process and the first one
            else:
                os.kill(process, signal.SIGKILL)
                os.killpg(process, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        _, status, usage = os.wait4(process, 0)
        return usage, os.waitstatus_to_exitcode(status)

    def _be_fork(
        self, work: Callable[[], object], cpu_s: int, most: int, kept: Sequence[int]
    ) -> NoReturn:
        status = _EXIT_RAISED
        try:
            os.setsid()
            files = (*self._files, *kept)  # in the order they were opened: none is lost to another
            for number, file in enumerate(files):
                os.dup2(file, number)
            os.closerange(len(files), _MOST_DESCRIPTORS)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            # A second more for who ignores SIGXCPU, the signal that says why a fork ended.
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
            status = _status_of(work)
            if _thread._count():  # threads beside this one
                threading._shutdown()  # type: ignore[attr-defined]  # waits, as an end does
            atexit._run_exitfuncs()
        finally:
            if not _flush():
                status = status or _EXIT_UNFLUSHED
            os._exit(status)


def _status_of(work: Callable[[], object]) -> int:
    """Do the work and return the exit status that an interpreter would have."""
    try:
        work()
        return 0
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return (error.code or 0) & 0xFF
        os.write(2, str(error.code).encode("utf-8", "replace"))
    except MemoryError:
        os.write(2, b"MemoryError\n")  # there may be no room for more
    except BaseException as error:  # noqa: BLE001 - a program may raise anything
        traceback.print_exception(error)
    return _EXIT_RAISED


def _flush() -> bool:
    """Write out what streams hold, and say whether that was possible of stdout and stderr.

    The order is that of an interpreter's end. What was put in the place of a standard stream comes
    before all others, for it may write to them as it is flushed; the first ones, which a program
    may have replaced and still use, come last. Between them are those that it opened and did not
    close, as far as variables of its own hold them. Whether that works is their own matter, for
    what they are over may be detached, or closed on purpose.
    """
    is_flushed = _is_flushed("stdout")
    is_flushed = _is_flushed("stderr") and is_flushed
    _flush_own()
    _is_flushed("__stdout__")
    _is_flushed("__stderr__")
    return is_flushed


def _flush_own() -> None:
    try:
        for value in list(vars(sys.modules["__main__"]).values()):
            # Not `isinstance`: it asks an object for its `__class__`, which may raise.
            if issubclass(type(value), _Stream) and not _is_first(value):
                _does_flush(value)
    except BaseException:  # noqa: BLE001 - a program may have put anything there
        pass


def _is_first(stream: Any) -> bool:
    return stream is sys.__stdout__ or stream is sys.__stderr__


def _is_flushed(name: str) -> bool:
    stream = getattr(sys, name, None)  # a program may have removed it
    return stream is None or _does_flush(stream)


def _does_flush(stream: Any) -> bool:
    try:
        stream.flush()
        return True
    except BaseException:  # noqa: BLE001 - full, or replaced by anything
        return _is_closed(stream)


def _is_closed(stream: Any) -> bool:
    try:
        return bool(stream.closed)
    except BaseException:  # noqa: BLE001 - it may be anything
        return False


def nameless_file() -> int:
    """Open a file that nobody else can find, and return its descriptor."""
    path = f"file-{os.getpid()}"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)  # noqa: PTH108 - pathlib is not imported in a jail
    return file


def taken_output() -> int:
    """Take stdout away from the candidate, and return a descriptor of what it was."""
    output = os.dup(1)
    nothing = os.open("/dev/null", os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    return output


def _fill(file: int, content: bytes) -> None:
    size = os.write(file, content)
    while size < len(content):
        content = content[size:]
        size = os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
