"""One process that makes one verdict at a time: a fork of the server, which watches it."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from gem_envs_math.pool.cache import Pair, Reply
from gem_envs_math.pool.limits import Limits

__all__ = ["Verify", "Worker"]

Verify = Callable[[str, str], tuple[str, str]]

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_MOST_HOW = 200
_PAGE = resource.getpagesize()


class Worker:
    """A worker as its server sees it. `pair` is what it works on; None while it is idle."""

    def __init__(self, verify: Verify, limits: Limits) -> None:
        self._limits = limits
        self.end, theirs = socket.socketpair()
        self.pair: Pair | None = None
        self.since = 0.0
        self.is_fresh = True  # it has worked on nothing before
        server = os.getpid()
        self.process = os.fork()
        if self.process == 0:
            _be_worker(theirs, server, verify, limits)
        theirs.close()

    @property
    def overdue_at(self) -> float:
        """When, on the monotonic clock, its work has lasted too long."""
        return self.since + self._limits.deadline_s

    @property
    def is_bloated(self) -> bool:
        """Whether it holds more memory than it may."""
        try:
            pages = Path(f"/proc/{self.process}/statm").read_text().split()[1]
        except (OSError, IndexError):  # it is gone, or this is not Linux
            return False
        return int(pages) * _PAGE > self._limits.most_resident_bytes

    def begin(self, pair: Pair, since: float | None = None) -> bool:
        """Hand it a pair, on which work began just now or then. False where it is gone."""
        try:
            self.end.sendall(json.dumps(pair).encode() + b"\n")
        except OSError:
            return False
        self.pair = pair
        self.since = monotonic() if since is None else since
        return True

    def reply(self) -> tuple[Reply, bool]:
        """Return its verdict, there being something to read, and whether it can make another."""
        try:
            outcome, how, is_sound = json.loads(self.end.recv(1 << 16))
        except (OSError, ValueError):
            return ("undecided", "crashed"), False
        return (outcome, how), is_sound

    def kill(self) -> None:
        """End it, and wait for that."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        self.end.close()


def _be_worker(end: socket.socket, server: int, verify: Verify, limits: Limits) -> None:
    """Make verdicts until the server is gone, and end the process."""
    try:
        if sys.platform == "linux":
            import ctypes

            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() == server:
            _keep_only(end.fileno())
            _lower(resource.RLIMIT_AS, limits.most_address_bytes)
            _lower(resource.RLIMIT_CORE, 0)
            _work(end, verify)
    finally:
        os._exit(0)


def _work(end: socket.socket, verify: Verify) -> None:
    with end.makefile("rb") as questions:
        for question in questions:
            reply = _verdict(verify, *json.loads(question))
            end.sendall(json.dumps(reply).encode())


def _verdict(verify: Verify, answer: str, gold: str) -> tuple[str, str, bool]:
    """Return a verdict, and whether this process is as sound as it was."""
    try:
        outcome, how = verify(answer, gold)
    except MemoryError:
        how = "too much memory"
    except Exception as error:  # noqa: BLE001 - costs this verdict and no other
        how = f"failed: {type(error).__name__}"
    else:
        return outcome, how[:_MOST_HOW], True
    return "undecided", how, False  # here, what filled the memory has been let go


def _keep_only(descriptor: int) -> None:
    """Let go of every client, or none of them would see the server end."""
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))


def _lower(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(what, (most, most))
