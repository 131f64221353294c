"""The supervisor: one small process between a host and its workers, which are its children.

It starts workers on demand, from itself or as fresh interpreters, so that a host with threads
never forks; it alone signals them, so that a signal never meets another process that took a dead
one's number; and when the host's end of its socket closes, for whatever reason, it kills them
all. It runs nobody's environment, so nothing can hang it. Imports the standard library alone.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress

__all__ = ["COLLECT", "ENDED", "MESSAGE", "REFUSED", "SIGNAL", "START", "STARTED", "supervise"]

MESSAGE = struct.Struct("<BIi")
"""An order or a report: what, of which worker, and a number."""

START, SIGNAL, COLLECT = range(3)
"""Orders: start one, with its socket and its heartbeat as descriptors; send it the signal with this
number; make sure that it has ended, and report how."""

STARTED, ENDED, REFUSED = range(3)
"""Reports: the process's id; its wait status; the errno of a start that failed."""

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG

_CODE = "from gem.hosting._supervisor_process import fresh_{}; fresh_{}()"

Starter = Callable[[int, int], int]


def supervise(control: socket.socket, start: Starter) -> None:
    """Take orders until the other end is closed, then kill what is left."""
    processes: dict[int, int] = {}
    try:
        while True:
            order, descriptors, _, _ = socket.recv_fds(control, MESSAGE.size, 2, socket.MSG_WAITALL)
            if len(order) < MESSAGE.size:
                return
            what, worker, number = MESSAGE.unpack(order)
            if what == START:
                control.sendall(_started(processes, worker, start, descriptors))
            elif worker not in processes:  # it could not be started, as was reported
                continue
            elif what == SIGNAL:
                os.kill(processes[worker], number)
            else:
                status = _collected(processes.pop(worker))
                control.sendall(MESSAGE.pack(ENDED, worker, status))
    except OSError:  # the other end is closed, and a report cannot be sent
        pass
    finally:
        for process in processes.values():
            _collected(process)


def _started(
    processes: dict[int, int], worker: int, start: Starter, descriptors: list[int]
) -> bytes:
    try:
        processes[worker] = start(*descriptors)
        with suppress(OSError):  # it runs another program by now, and has done this itself
            os.setpgid(processes[worker], 0)
        return MESSAGE.pack(STARTED, worker, processes[worker])
    except OSError as error:
        return MESSAGE.pack(REFUSED, worker, error.errno)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _collected(process: int) -> int:
    """Kill a process with all that it started, and return its wait status."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(process, signal.SIGKILL)
    return os.waitpid(process, 0)[1]


def command(role: str, *descriptors: int) -> list[str]:
    """Return the command line of a fresh interpreter as "supervisor" or "worker"."""
    code = f"import sys; sys.path[:] = {sys.path!r}; {_CODE.format(role, role)}"
    return [sys.executable, "-c", code, *map(str, descriptors)]


def fresh_supervisor() -> None:  # pragma: no cover - only another process enters
    """Run a supervisor in this fresh interpreter: its socket and what starts a worker are argv."""
    control = socket.socket(fileno=int(sys.argv[1]))
    how = sys.argv[2]
    if how == "forkserver":
        # Loaded once here, so that no worker has to: else it takes twice the time to replace one
        # (benchmarks/execution.py --only recovery).
        import gem.hosting._serving  # noqa: F401
        from gem import registry

        registry.plugins()
    run_supervisor(control, how)


def run_supervisor(control: socket.socket, how: str) -> None:  # pragma: no cover - as above
    """Run a supervisor in this process, which does nothing else."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a terminal's Ctrl-C is the host's to handle
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    with open(os.devnull) as nothing:  # noqa: PTH123 - no environment may read the terminal
        os.dup2(nothing.fileno(), 0)
    supervisor = os.getpid()

    def start(end: int, heartbeat: int) -> int:
        process = os.fork()
        if process == 0:
            control.close()
            _become_worker(supervisor, end, heartbeat, is_fresh=how == "spawn")
        return process

    supervise(control, start)


def _become_worker(
    supervisor: int, end: int, heartbeat: int, *, is_fresh: bool
) -> None:  # pragma: no cover - as above
    """Be a worker, and end with it."""
    status = 1
    try:
        os.setpgid(0, 0)
        if is_fresh:
            for descriptor in (end, heartbeat):
                os.set_inheritable(descriptor, True)
            os.execv(sys.executable, command("worker", end, heartbeat, supervisor))
        _work(supervisor, end, heartbeat)
        status = 0
    except SystemExit:
        pass
    except BaseException:  # noqa: BLE001 - nothing may return into the supervisor
        sys.__excepthook__(*sys.exc_info())  # a hook of the forked program could hang here
    finally:
        os._exit(status)


def fresh_worker() -> None:  # pragma: no cover - as above
    """Be a worker in this fresh interpreter."""
    end, heartbeat, supervisor = map(int, sys.argv[1:])
    _work(supervisor, end, heartbeat)


def _work(supervisor: int, end: int, heartbeat: int) -> None:  # pragma: no cover - as above
    from gem.hosting._heartbeat import Heartbeat
    from gem.hosting._serving import serve

    die_with_parent(supervisor)
    cells = Heartbeat(heartbeat)
    os.close(heartbeat)
    serve(socket.socket(fileno=end), cells)


def die_with_parent(parent: int) -> None:  # pragma: no cover - as above
    """Ask to be killed as soon as the parent ends, even in the middle of a step. Linux alone."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
