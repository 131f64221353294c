"""Run a part of a session's program in a fork of it, with a deadline and streams of its own.

Import it by `from gem_tools.sandbox.inside.forks import run_fork`.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, NoReturn

from gem_tools.sandbox.inside import channel, files, program

__all__ = ["Forked", "own_all_processes", "run_fork"]

_STREAMS = ("stdin", "stdout", "stderr", "note")
_owns_all = False


def own_all_processes() -> None:
    """Note that this process, or what it started, has started all that it may signal."""
    global _owns_all
    _owns_all = True


class Forked(NamedTuple):
    """How a fork ended. The fields are those of an ExecResult; `status` has the same words."""

    status: str
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    elapsed_s: float
    cpu_s: float


def run_fork(
    work: Callable[[], object],
    *,
    stdin: bytes = b"",
    timeout_s: float,
    max_output_bytes: int = 1 << 20,
) -> Forked:
    """Call `work` in a fork of this process, as a program with these streams, and wait for its end.

    The fork has no channel. Its streams are files of the session's disk, so a fork that writes
    without end stops where that is full. What it started has ended when this returns; with the
    backend `process` that is its process group, and the rest ends with the session.

    Status "memory" says that a MemoryError ended the fork: each process may have what the session
    as a whole may have. A session whose processes hold too much together is ended as a whole.
    """
    streams = {name: files.new_file() for name in _STREAMS}
    try:
        _fill(streams["stdin"], stdin)
        program.flush()  # or the fork would do it, into its own
        started = time.monotonic()
        process = os.fork()
        if process == 0:
            _be_fork(work, streams)
        is_late = not _has_ended(process, timeout_s)
        status, cpu_s = _collected(process)
        elapsed_s = time.monotonic() - started
        written = [os.pread(streams[name], max_output_bytes + 1, 0) for name in _STREAMS[1:]]
    finally:
        for descriptor in streams.values():
            os.close(descriptor)
    stdout, stderr, note = written
    code = os.waitstatus_to_exitcode(status)
    return Forked(
        status=_word(
            code,
            is_late=is_late,
            is_long=max(map(len, written)) > max_output_bytes,
            had_no_memory=bool(note),
        ),
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        stdout=stdout[:max_output_bytes],
        stderr=stderr[:max_output_bytes],
        elapsed_s=elapsed_s,
        cpu_s=cpu_s,
    )


def _word(code: int, *, is_late: bool, is_long: bool, had_no_memory: bool) -> str:
    if is_late:
        return "timeout"
    if is_long:
        return "output_limit"
    if had_no_memory:
        return "memory"
    return "killed" if code < 0 else "error" if code else "ok"


def _fill(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.lseek(descriptor, 0, os.SEEK_SET)


def _be_fork(work: Callable[[], object], streams: dict[str, int]) -> NoReturn:
    try:
        os.setsid()
        channel.close()
        for number, name in enumerate(_STREAMS[:3]):
            os.dup2(streams[name], number)
        program.open_streams()
        program.run_and_exit(lambda: _noting(work, streams["note"]))
    finally:
        os._exit(1)


def _noting(work: Callable[[], object], note: int) -> None:
    try:
        work()
    except MemoryError:
        os.write(note, b"memory")
        raise


def _has_ended(process: int, timeout_s: float) -> bool:
    """Wait for the end of a process, but no longer."""
    watched = os.pidfd_open(process)
    try:
        return bool(select.select([watched], [], [], timeout_s)[0])
    finally:
        os.close(watched)


def _collected(process: int) -> tuple[int, float]:
    """End a fork and what it started; return its wait status and CPU seconds."""
    os.kill(process, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    _, status, usage = os.wait4(process, 0)
    while _owns_all and _signals_others(signal.SIGKILL):
        time.sleep(0.001)  # the first process of the jail buries them
    return status, usage.ru_utime + usage.ru_stime


def _signals_others(number: int) -> bool:
    """Signal all processes but this one, and say whether there were any."""
    try:
        os.kill(-1, number)
        return True
    except ProcessLookupError:
        return False
