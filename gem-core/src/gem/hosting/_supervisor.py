"""A host's side of its supervisor: have workers started, signalled and collected."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import warnings
from contextlib import suppress
from typing import Literal, NamedTuple
from weakref import WeakSet

from gem._python import process_tree
from gem.hosting import _supervisor_process as supervisor_process
from gem.hosting._supervisor_process import COLLECT, MESSAGE, SIGNAL, START

__all__ = ["Report", "StartMethod", "Supervisor", "ends_of_hosts"]

StartMethod = Literal["forkserver", "spawn", "fork"]
"""Where a worker comes from: a fork of a fresh process that only imported gem; a fresh process;
a fork of a fork of this one, taken when the host is made."""

ends_of_hosts: WeakSet[socket.socket] = WeakSet()
"""Every socket end of every host here. A forked process must not keep them open."""


def _let_go() -> None:
    for end in list(ends_of_hosts):
        end.close()


os.register_at_fork(after_in_child=_let_go)


class Report(NamedTuple):
    """What the supervisor says about a worker: one of its STARTED, ENDED, REFUSED, and a number."""

    what: int
    worker: int
    number: int


class Supervisor:
    """A supervisor process and the orders that it takes. `close` ends it and every worker."""

    def __init__(self, start_method: StartMethod) -> None:
        process_tree.root()  # what the supervisor inherits: its workers belong to this tree
        self._control, theirs = socket.socketpair()
        ends_of_hosts.add(self._control)
        self._unread = b""
        self._process: subprocess.Popen[bytes] | None = None
        self._forked = 0
        with theirs:
            if start_method == "fork":
                self._forked = _forked_supervisor(theirs)
            else:
                line = [*supervisor_process.command("supervisor", theirs.fileno()), start_method]
                self._process = subprocess.Popen(
                    line, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
                )

    def fileno(self) -> int:
        """Return the descriptor, for a selector: there are reports to read."""
        return self._control.fileno()

    def start(self, worker: int, end: socket.socket, heartbeat: int) -> None:
        """Have a worker started that owns this end of a socket, and this heartbeat."""
        order = MESSAGE.pack(START, worker, 0)
        with suppress(ConnectionError):  # the supervisor is gone, as `reports` will tell
            socket.send_fds(self._control, [order], [end.fileno(), heartbeat])

    def signal(self, worker: int, number: int) -> None:
        """Have a signal sent to a worker, if it still runs."""
        self._order(SIGNAL, worker, number)

    def collect(self, worker: int) -> None:
        """Have a worker killed if it still runs. A report will say how it ended."""
        self._order(COLLECT, worker, 0)

    def _order(self, what: int, worker: int, number: int) -> None:
        with suppress(ConnectionError):  # as above
            self._control.sendall(MESSAGE.pack(what, worker, number))

    def reports(self) -> list[Report]:
        """Return what came in. Raises EOFError when the supervisor is gone."""
        try:
            chunk = self._control.recv(64 * MESSAGE.size, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            chunk = b""
        if not chunk:
            raise EOFError("the supervisor of the workers ended")
        self._unread += chunk
        whole = len(self._unread) // MESSAGE.size * MESSAGE.size
        reports = [Report(*fields) for fields in MESSAGE.iter_unpack(self._unread[:whole])]
        self._unread = self._unread[whole:]
        return reports

    def close(self) -> None:
        """Kill what still runs and wait for it, which is a matter of milliseconds."""
        self._control.close()
        if self._process is not None:
            self._process.wait()
        elif self._forked:
            process = self._forked
            self._forked = 0  # first: a second call must not wait for a process that is gone
            os.waitpid(process, 0)


def _forked_supervisor(control: socket.socket) -> int:
    sys.stdout.flush()  # or both processes would write what is in the buffer
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Python 3.12 warns of forks beside threads: with "fork" that is what was asked for.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:  # pragma: no cover - only the other process enters
        try:
            supervisor_process.run_supervisor(control, "fork")
        finally:
            os._exit(0)
    return process
