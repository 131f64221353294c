"""A program's supervisor where there are no namespaces: it finds and ends what the program starts.

A hostile program can end this process first. That is why this is no boundary.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NoReturn

from gem_tools.sandbox.inside import families, jail, kernel, landlock, program, seccomp
from gem_tools.sandbox.inside.rest import Rest

__all__ = ["REST", "WAKE", "main"]

REST = signal.SIGUSR1
WAKE = signal.SIGUSR2
"""Sent to a supervisor: stop the program and what it started, and let them go on."""
_SAMPLE_S = 0.02
_HOST_DIED = signal.SIGRTMIN
"""Sent by the kernel where a thread of the host ends that started this process, or has become its
parent for the one that did."""
_HEARD = (signal.SIGCHLD, signal.SIGTERM, _HOST_DIED, REST, WAKE)
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Supervise one program; the settings are the first argument."""
    settings = json.loads(sys.argv[1])
    try:
        _supervise(settings)
    except Exception as error:
        broken = {"broken": f"{type(error).__name__}: {error}"}
        os.write(settings["ends"]["report"], json.dumps(broken).encode("ascii"))
        raise


def _supervise(settings: dict[str, Any]) -> None:
    os.environ.clear()
    sys.path[:1] = []
    sys.path += settings["packages"]
    program.offer_exit()
    kernel.libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A host that is killed can neither end its programs nor clear up. After the mask: the signal is
    # to be heard, and not to end this process.
    kernel.die_with_parent(_HOST_DIED)
    if os.getppid() != settings["parent"]:  # it died before it could be asked for that
        _clear_up(settings["temporary"])
        return
    report = settings["ends"]["report"]
    process = os.fork()
    if process == 0:
        _be_program(settings)
    os.closerange(0, report)
    os.closerange(report + 1, jail.MOST_DESCRIPTORS)
    os.write(report, b'{"ready": true}')
    ending = _ending(process, settings)
    is_orphan = ending.pop("is_orphan", False)
    is_stopped = ending.pop("is_stopped", False)
    if ending:
        os.write(report, json.dumps(ending).encode("ascii"))
    _end_family()
    if is_orphan:
        _clear_up(settings["temporary"])
    elif is_stopped:  # by a host that may be ending itself, and then clears nothing up any more
        _clear_up(settings["temporary"][:1])


def _clear_up(folders: Iterable[str]) -> None:
    """Remove what the host would have removed."""
    import shutil  # 0.01 s, which a program that ends by itself is spared

    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _be_program(settings: dict[str, Any]) -> NoReturn:
    try:
        kernel.die_with_parent(signal.SIGKILL)
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
        settings["limits"]["processes"] += _tasks_of_user()
        limits = jail.Limits(**settings["limits"])
        mapped = jail.address_space()
        kernel.gain_no_privileges()
        if landlock.version():
            landlock.restrict(settings["readable"], settings["writable"])
        if kernel.is_known():
            seccomp.install(may_signal_all=False)  # they are all those of this user
        jail.be_program(limits, settings["ends"], mapped)
    except BaseException as error:  # noqa: BLE001 - nothing may return into the supervisor
        jail.give_up(settings["ends"], error)


def _tasks_of_user() -> int:
    """Count the processes and threads that this user has already: they count for the limit."""
    count = 0
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib is not imported here
        with suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():  # noqa: PTH116
                count += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208
    return count


def _ending(process: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Wait for the program's end; return nothing to report where this process is to end it."""
    most_bytes = settings["memory_bytes"] + families.held_bytes([os.getpid()], sys.maxsize)
    rest: Rest | None = None
    is_asleep = False
    while True:
        heard = signal.sigwaitinfo(_HEARD) if is_asleep else signal.sigtimedwait(_HEARD, _SAMPLE_S)
        number = None if heard is None else heard.si_signo
        # The program can send this signal too, and the kernel sends it for each thread of the host:
        # the last time it comes, this process has another parent.
        if number == _HOST_DIED and os.getppid() != settings["parent"]:
            return {"is_orphan": True}
        if number == signal.SIGTERM:
            return {"is_stopped": True}
        ended = _collected(process)
        if ended is not None:
            return {"status": ended}
        if number == REST:
            rest = Rest()
        elif number == WAKE and rest is not None:
            rest.end()
            rest = None
        family = families.below([process])[process]
        if families.held_bytes(family, most_bytes) > most_bytes:
            return {"is_over": True}
        is_asleep = rest is not None and rest.is_complete(family)


def _collected(process: int) -> int | None:
    """Collect every child that has ended; return the program's wait status if it is among them."""
    with suppress(ChildProcessError):
        while True:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == process:
                return status
            if ended == 0:
                return None
    return None


def _end_family() -> None:
    """Kill everything below this process, over and over: it may still be starting more."""
    while True:
        families.signal_all(families.below([os.getpid()])[os.getpid()][1:], signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
