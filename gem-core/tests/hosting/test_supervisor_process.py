"""The supervisor's orders and reports, run here on a thread with small processes of its own."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from gem.hosting._supervisor_process import (
    COLLECT,
    ENDED,
    MESSAGE,
    REFUSED,
    SIGNAL,
    START,
    STARTED,
    command,
    supervise,
)

WAIT = """
import os, signal
signal.signal(signal.SIGUSR1, lambda *_: os._exit(7))
os.write({}, b"x")
while True:
    signal.pause()
"""


def start(end: int, heartbeat: int) -> int:
    """Start a process that ends with status 7 at SIGUSR1; not with a heartbeat of any bytes."""
    if os.fstat(heartbeat).st_size:
        raise OSError(errno.EAGAIN, "no more processes")
    os.set_inheritable(end, True)
    return os.posix_spawn(
        sys.executable, [sys.executable, "-S", "-c", WAIT.format(end)], os.environ
    )


class Kept:
    """A supervisor on a thread and the other end of its socket."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair()
        self._thread = threading.Thread(target=self._run, args=(theirs,))
        self._thread.start()

    def _run(self, theirs: socket.socket) -> None:
        with theirs:
            supervise(theirs, start)

    def begin(self, worker: int, beat_bytes: int = 0) -> tuple[int, int, int]:
        """Order a start and return the report, once the process is ready."""
        mine, theirs = socket.socketpair()
        heartbeat = os.memfd_create("heartbeat")
        os.truncate(heartbeat, beat_bytes)
        with mine, theirs:
            order = MESSAGE.pack(START, worker, 0)
            socket.send_fds(self.control, [order], [theirs.fileno(), heartbeat])
            os.close(heartbeat)
            report = self.report()
            theirs.close()
            if report[0] == STARTED:
                assert mine.recv(1) == b"x"
        return report

    def order(self, what: int, worker: int, number: int = 0) -> None:
        self.control.sendall(MESSAGE.pack(what, worker, number))

    def report(self) -> tuple[int, int, int]:
        return MESSAGE.unpack(self.control.recv(MESSAGE.size))

    def close(self) -> None:
        self.control.close()
        self._thread.join()


@pytest.fixture
def kept() -> Iterator[Kept]:
    kept = Kept()
    yield kept
    kept.close()


def exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_worker_is_started_and_its_process_told(kept: Kept) -> None:
    what, worker, process = kept.begin(3)

    assert (what, worker, exists(process)) == (STARTED, 3, True)


def test_a_start_that_fails_is_reported(kept: Kept) -> None:
    assert kept.begin(3, beat_bytes=8) == (REFUSED, 3, errno.EAGAIN)


def test_a_collected_worker_is_gone_and_its_status_told(kept: Kept) -> None:
    process = kept.begin(3)[2]
    kept.order(COLLECT, 3)

    what, worker, status = kept.report()

    assert (what, worker, os.WTERMSIG(status)) == (ENDED, 3, signal.SIGKILL)
    assert not exists(process)


def test_a_signal_reaches_the_worker(kept: Kept) -> None:
    process = kept.begin(3)[2]
    kept.order(SIGNAL, 3, signal.SIGUSR1)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    kept.order(COLLECT, 3)

    assert os.WEXITSTATUS(kept.report()[2]) == 7


def test_orders_for_what_is_not_there_are_passed_over(kept: Kept) -> None:
    kept.order(SIGNAL, 9, signal.SIGUSR1)
    kept.order(COLLECT, 9)

    assert kept.begin(3)[:2] == (STARTED, 3)


def test_everything_ends_with_the_other_end(kept: Kept) -> None:
    processes = [kept.begin(worker)[2] for worker in range(2)]
    kept.close()

    assert not any(map(exists, processes))


def test_a_report_to_nobody_ends_it_too() -> None:
    kept = Kept()
    process = kept.begin(0)[2]
    for _ in range(2):
        kept.order(COLLECT, 0)
    kept.close()

    assert not exists(process)


def test_a_fresh_interpreter_finds_what_this_one_finds() -> None:
    line = command("supervisor", 5)
    code = line[2].rpartition("; from ")[0]
    done = subprocess.run(
        [line[0], "-c", f"{code}; print(sys.path)"], capture_output=True, text=True, check=True
    )

    assert line[3:] == ["5"]
    assert done.stdout.strip() == str(sys.path)
