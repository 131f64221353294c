"""One jail: namespaces of its own, a first process that waits, and the program's process.

The first process is number 1 of its namespace: when it ends, the kernel ends whatever the program
started. It reports the program's end on a socket that no other process of the jail holds. The
program's process is ready before there is a program, and waits for one.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import signal
import socket
import sys
from typing import Any, NamedTuple, NoReturn

from gem_tools.sandbox.inside import cells, channel, kernel, program, seccomp
from gem_tools.sandbox.inside.frames import read_message

__all__ = ["MOST_DESCRIPTORS", "Limits", "address_space", "be_program", "build", "give_up"]

_NAMESPACES = (
    kernel.NEW_USERS
    | kernel.NEW_MOUNTS
    | kernel.NEW_NUMBERS
    | kernel.NEW_NETWORK
    | kernel.NEW_IPC
    | kernel.NEW_UTS
)
_NO_SETUID = 2
_NO_DEVICES = 4
_READ_ONLY = 1
_BIND = 4096
_RECURSIVE_PRIVATE = 16384 | (1 << 18)
MOST_DESCRIPTORS = 1024
"""Of a zygote, and so of what it starts."""
_USER = 1000
_EXIT_BROKEN = 125


class Limits(NamedTuple):
    """What every jail of a zygote may use, beside the memory and the time of each call."""

    processes: int
    files: int
    disk_bytes: int
    """Half of it in /tmp, half in /dev/shm; the same for the number of files."""
    disk_files: int


def build(limits: Limits, ends: dict[str, int]) -> int:
    """Start a jail and return the number of its first process.

    `ends` are descriptors: "job" and "report" are sockets, the rest the program's streams.
    """
    user = os.getuid()
    group = os.getgid()
    mapped = address_space()
    process = kernel.clone(_NAMESPACES)
    if process == 0:
        try:
            _be_first(limits, ends, user, group, mapped)
        except BaseException as error:  # noqa: BLE001 - nothing may return into the zygote
            _report(ends["report"], {"broken": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(_EXIT_BROKEN)
    return process


def _be_first(limits: Limits, ends: dict[str, int], user: int, group: int, mapped: int) -> NoReturn:
    os.setsid()
    _map_users(user, group)
    _build_walls(limits)
    kernel.drop_capabilities()
    kernel.gain_no_privileges()
    seccomp.install()
    process = os.fork()
    if process == 0:
        try:
            be_program(limits, ends, mapped)
        except BaseException as error:  # noqa: BLE001 - nothing may return into the zygote
            give_up(ends, error)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the kernel withholds what has no handler
    kernel.hide_memory()
    _keep_only([ends["report"]])
    _report(ends["report"], {"ready": True})
    _wait_for(process, ends["report"])
    os._exit(0)


def _map_users(user: int, group: int) -> None:
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{_USER} {user} 1"),
        ("gid_map", f"{_USER} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - pathlib is not imported
            file.write(line)


def _build_walls(limits: Limits) -> None:
    kernel.mount("", "/", "", _RECURSIVE_PRIVATE)
    flags = _NO_SETUID | _NO_DEVICES
    room = f"size={limits.disk_bytes // 2},nr_inodes={limits.disk_files // 2},mode=0700"
    kernel.mount("tmpfs", "/tmp", "tmpfs", flags, room)
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", flags, room)
    os.chdir("/tmp")
    kernel.mount("tmpfs", "/proc", "tmpfs", flags | _READ_ONLY, "size=4k,nr_inodes=2,mode=0555")


def _wait_for(process: int, report: int) -> None:
    while True:
        ended, status, usage = os.wait4(-1, 0)
        if ended == process:
            cpu_s = usage.ru_utime + usage.ru_stime
            return _report(report, {"status": status, "cpu_s": round(cpu_s, 6)})


def _report(report: int, message: dict[str, Any]) -> None:
    os.write(report, json.dumps(message).encode("ascii"))


def _keep_only(descriptors: list[int]) -> None:
    start = 0
    for descriptor in sorted(descriptors):
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, MOST_DESCRIPTORS)


def be_program(limits: Limits, ends: dict[str, int], mapped: int) -> NoReturn:
    """Wait for a program, be it, and end with it. `mapped` bytes of address space are not its own.

    Raises what goes wrong before the program starts.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(ends[name], number)
    os.dup2(ends["job"], channel.DESCRIPTOR, inheritable=False)
    os.closerange(channel.DESCRIPTOR + 1, MOST_DESCRIPTORS)
    orders = socket.socket(fileno=channel.DESCRIPTOR)
    job = read_message(orders)
    if job is None:  # it was never needed
        os._exit(0)
    _set_limits(limits, job, mapped)
    _write_files(job["files"])
    main = program.be_fresh(job["arguments"])
    if job["is_session"]:
        orders.detach()
        sys.modules |= {module.__name__: module for module in (channel, cells)}
    orders.close()
    program.run_and_exit(lambda: program.run_program(job["code"], main))


def give_up(ends: dict[str, int], error: BaseException) -> NoReturn:
    """End a process whose program could not be started, and say why on its stderr."""
    try:
        why = f"The program could not be started: {type(error).__name__}: {error}\n"
        os.write(ends["stderr"] if _is_open(ends["stderr"]) else 2, why.encode(errors="replace"))
    finally:
        os._exit(_EXIT_BROKEN)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
        return True
    except OSError:
        return False


def _set_limits(limits: Limits, job: dict[str, Any], mapped: int) -> None:
    for what, most in (
        (resource.RLIMIT_AS, job["memory_bytes"] + mapped),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_NOFILE, limits.files),
        (resource.RLIMIT_FSIZE, limits.disk_bytes),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, job["cpu_s"]),
    ):
        if most is not None:
            resource.setrlimit(what, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that grows too long is an OSError


def _write_files(files: dict[str, str]) -> None:
    for name, content in files.items():
        folder = name.rpartition("/")[0]
        if folder:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        with open(name, "wb") as file:  # noqa: PTH123
            file.write(base64.b64decode(content))


def address_space() -> int:
    """Return how much address space this process has, in bytes."""
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
        return int(file.read().split()[0]) * resource.getpagesize()
