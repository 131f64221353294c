"""The process that starts jails: it has the usual modules loaded, and forks.

It talks to its pool over one socket of packets. The pool asks for jails one by one, gets the
ends of each, and from then on deals with the jail itself. It runs nobody's code, and ends when
the pool's end is closed; everything that it started ends with it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import platform
import resource
import select
import signal
import socket
import sys
import time
import traceback
from typing import Any

from gem_tools.sandbox.inside import families, jail, kernel, program, seccomp
from gem_tools.sandbox.inside.rest import Rest

__all__ = ["main"]

_SAMPLE_S = 0.02
_LONGEST_SAMPLE_S = 0.1
_FILLED_PER_S = 6 << 30
"""How fast the processes of a jail are taken to fill memory: with more room, samples are rarer."""


class _Zygote:
    def __init__(self, control: socket.socket, limits: jail.Limits) -> None:
        self._control = control
        self._limits = limits
        self._running: dict[int, int] = {}  # the descriptor of a jail's first process: its number
        self._watched: dict[int, int] = {}  # a number: how many bytes its jail may hold
        self._resting: dict[int, Rest] = {}
        self._asleep: dict[int, int] = {}  # as watched, but for what cannot grow
        self._next_sample = 0.0
        self._own_bytes = families.held_bytes([os.getpid()], sys.maxsize)

    def serve(self) -> None:
        poll = select.poll()
        poll.register(self._control.fileno(), select.POLLIN)
        while True:
            wait = max(self._next_sample - time.monotonic(), 0) * 1000 if self._watched else None
            for descriptor, _ in poll.poll(wait):
                if descriptor in self._running:
                    poll.unregister(descriptor)
                    self._collect(descriptor)
                    continue
                packet = self._control.recv(65536)
                if not packet:
                    return
                started = self._obey(json.loads(packet))
                if started is not None:
                    poll.register(started, select.POLLIN)
            if self._watched and time.monotonic() >= self._next_sample:
                self._sample()

    def _obey(self, order: dict[str, Any]) -> int | None:
        if order["what"] == "make":
            return self._make()
        process = order["process"]
        if process not in self._running.values():  # it has ended
            return None
        if order["what"] == "watch":
            self._watched[process] = order["bytes"] + self._own_bytes
            self._sample_before(order["bytes"])
        elif order["what"] == "rest":
            self._resting[process] = Rest()
        elif process in self._resting:
            self._wake(process)
        return None

    def _wake(self, process: int) -> None:
        self._resting.pop(process).end()
        if process in self._asleep:
            self._watched[process] = self._asleep.pop(process)
            self._sample_before(0)

    def _make(self) -> int | None:
        with contextlib.ExitStack() as opened:
            theirs, ours = _new_ends(opened)
            try:
                process = jail.build(self._limits, ours)
            except OSError as error:
                self._tell({"what": "failed", "why": str(error)})
                return None
            descriptor = os.pidfd_open(process)
            self._running[descriptor] = process
            message = {"what": "made", "process": process, "names": [*theirs, "process"]}
            self._tell(message, [*theirs.values(), descriptor])
            return descriptor

    def _collect(self, descriptor: int) -> None:
        process = self._running.pop(descriptor)
        for processes in (self._watched, self._resting, self._asleep):
            processes.pop(process, None)
        os.close(descriptor)
        os.waitpid(process, 0)

    def _sample_before(self, room: int) -> None:
        """Take the next sample before a jail can have filled so many bytes."""
        after_s = max(_SAMPLE_S, room / _FILLED_PER_S)
        self._next_sample = min(self._next_sample, time.monotonic() + after_s)

    def _sample(self) -> None:
        self._next_sample = time.monotonic() + _LONGEST_SAMPLE_S
        for process, family in families.below(self._watched).items():
            most = self._watched[process]
            held_bytes = families.held_bytes(family, most)
            if held_bytes > most:
                del self._watched[process]
                self._tell({"what": "over", "process": process})  # first, so that it is known why
                # The jail's first process is one of many here, and would end the others only when
                # it gets a core: they would go on filling memory until then.
                families.signal_all(family, signal.SIGKILL)
            elif process in self._resting and self._resting[process].is_complete(family[1:]):
                self._asleep[process] = self._watched.pop(process)
            else:
                self._sample_before(most - held_bytes)

    def _tell(self, report: dict[str, Any], descriptors: list[int] | None = None) -> None:
        socket.send_fds(self._control, [json.dumps(report).encode("ascii")], descriptors or [])


def _new_ends(opened: contextlib.ExitStack) -> tuple[dict[str, int], dict[str, int]]:
    """Return the pool's ends and the jail's, all of which this process closes again."""
    theirs = {}
    ours = {}
    for name in ("job", "report"):
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        theirs[name], ours[name] = (opened.enter_context(end).fileno() for end in pair)
    for name in ("stdin", "stdout", "stderr"):
        reading, writing = os.pipe()
        opened.callback(os.close, reading)
        opened.callback(os.close, writing)
        theirs[name], ours[name] = (writing, reading) if name == "stdin" else (reading, writing)
    return theirs, ours


def main() -> None:
    """Serve the pool at the other end of the descriptor that is the first argument.

    Its settings are read from stdin.
    """
    control = socket.socket(fileno=int(sys.argv[1]))
    try:
        settings = json.load(sys.stdin)
        _take_user(settings["user"])
        sys.path += settings["packages"]
        program.offer_exit()
        seccomp.filter_program(platform.machine())  # is kept: no jail need make it again
        _load(settings["preparations"])
        _forget_this_program(settings["own_path"])
        zygote = _Zygote(control, jail.Limits(**settings["limits"]))
        control.send(json.dumps({"what": "ready"}).encode("ascii"))
    except Exception as error:  # noqa: BLE001 - whatever it is, the pool must hear of it
        # Not str(error): the error may be of a preparation's own class, whose text fails.
        text = traceback.format_exception_only(error)[-1].strip()
        control.send(json.dumps({"what": "failed", "why": text}).encode("ascii"))
        return
    with contextlib.suppress(ConnectionError):  # the pool is gone
        zygote.serve()


def _take_user(user: int | None) -> None:
    """Stop being root, whom no limit on processes holds."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    kernel.allow_dumps()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = jail.MOST_DESCRIPTORS if hard < 0 else min(jail.MOST_DESCRIPTORS, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    os.umask(0o022)


def _load(preparations: list[str]) -> None:
    """Run the pool's own statements, which load modules. Those not installed are left out."""
    for statement in preparations:
        with contextlib.suppress(ImportError):
            exec(statement, {})  # noqa: S102 - it comes from the pool


def _forget_this_program(own_path: str) -> None:
    """Leave nothing of this program in what a program imports or reads of its environment."""
    os.environ.clear()
    sys.path.remove(own_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "gem_tools"]:
        del sys.modules[name]
    gc.collect()
    if hasattr(kernel.libc, "malloc_trim"):  # of glibc; each fork copies what is mapped
        kernel.libc.malloc_trim(0)
    gc.freeze()  # the collector of a fork leaves these pages alone, so they stay shared
