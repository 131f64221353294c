"""Programs as processes of this user, with limits: for programs that are merely clumsy.

The kernel's Landlock and its filter of system calls are used where they are there. They keep a
program from files and from the network. They do not keep it from other processes of this user.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import warnings
import weakref
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from gem_tools.sandbox import inside, walls
from gem_tools.sandbox.engine import on_engine
from gem_tools.sandbox.errors import SandboxError, SandboxWarning, not_built
from gem_tools.sandbox.groups import MemoryGroups, memory_groups
from gem_tools.sandbox.inside import alone, kernel, landlock
from gem_tools.sandbox.inside.jail import Limits
from gem_tools.sandbox.jail import Jail
from gem_tools.sandbox.packages import DEFAULT_PACKAGES, installed_files
from gem_tools.sandbox.request import ExecRequest, ExecResult, Session
from gem_tools.sandbox.session import OpenSessions

__all__ = ["ProcessSandbox"]

_CODE = f"""\
import sys, types
for name in ("gem_tools", "gem_tools.sandbox"):  # without what their own files import
    sys.modules[name] = types.ModuleType(name)
sys.modules[name].__path__ = [{str(Path(inside.__file__).parents[1])!r}]
from gem_tools.sandbox.inside.alone import main
main()
"""
_MERCY_S = 2.0
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm")
_ENVIRONMENT = {"LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2", "PYTHONHASHSEED": "0"}


class ProcessSandbox:
    """Run each program as a process of this user. Warns that this is no boundary.

    Takes the limits of `BwrapSandbox`; `max_processes` is on top of those that the user has, and
    does not hold for root.
    """

    name = "process"

    def __init__(
        self,
        *,
        packages: Sequence[str] = DEFAULT_PACKAGES,
        max_parallel: int | None = None,
        max_sessions: int = 128,
        max_processes: int = 32,
        max_open_files: int = 64,
        disk_mb: int = 64,
    ) -> None:
        warnings.warn(
            "The sandbox `process` is no boundary: a hostile program can read and end other "
            "processes of this user. Use it for programs that you would run yourself; install "
            "bubblewrap for all others.",
            SandboxWarning,
            stacklevel=2,
        )
        files = installed_files(packages)
        # A folder of links: next to the packages that were named lie others that were not.
        self._links = tempfile.mkdtemp(prefix="gem-sandbox-packages-")
        # A fork has this object too, and must leave the folder to the process that made it.
        self._maker = os.getpid()
        self._unlink = weakref.finalize(self, _remove_links, self._links, self._maker)
        for name, path in files.items():
            Path(self._links, name).symlink_to(path)
        self._readable = [self._links, *map(str, files.values())]
        self._limits = Limits(max_processes, max_open_files, disk_mb << 20, 0)
        support = memory_groups()
        self._groups = support if isinstance(support, MemoryGroups) else None
        self._most = max_parallel or max(4, os.cpu_count() or 1)
        self._places: asyncio.Semaphore | None = None
        self._sessions = OpenSessions(max_sessions)
        landlocked = f"Landlock {landlock.version()}" if landlock.version() else "no Landlock"
        calls = "a filter of system calls" if kernel.is_known() else "no filter of system calls"
        self.description = f"processes of this user with limits, {landlocked}, {calls}; no boundary"

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a program. Raises SandboxError where the sandbox fails, never for the program."""
        _refuse_network(request)
        return await on_engine(self._run(request))

    async def _run(self, request: ExecRequest) -> ExecResult:
        if self._places is None:
            self._places = asyncio.Semaphore(self._most)
        async with self._places:
            jail = await self._jail_for(request)
            return await jail.run(request)

    async def open(self, request: ExecRequest) -> Session:
        """Start a program that stays. Raises SandboxError where it cannot be, or too many are."""
        _refuse_network(request)
        return await on_engine(self._sessions.open(partial(self._jail_for, request), request))

    async def _jail_for(self, request: ExecRequest) -> Jail:
        folder = tempfile.mkdtemp(prefix="gem-sandbox-")
        try:
            process, ends = self._started(folder, request)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # it opens what it removes, for which there may be no room
                Path(folder).rmdir()
            raise not_built(error) from error
        jail = Jail(
            process.pid,
            ends,
            _Supervisor(),
            ends_by=signal.SIGTERM,
            on_close=partial(_clear_up, process, folder),
        )
        try:
            await jail.is_ready(self._groups)
        except OSError as error:
            jail.close()
            raise not_built(error) from error
        except BaseException:
            jail.close()
            raise
        return jail

    def _started(
        self, folder: str, request: ExecRequest
    ) -> tuple[subprocess.Popen[bytes], dict[str, int]]:
        # The supervisor removes these where this process is killed. Those of a fork must leave the
        # links: programs of the process that made them still import by way of them.
        temporary = [folder, self._links] if os.getpid() == self._maker else [folder]
        with ExitStack() as theirs, ExitStack() as ours:
            ends, handed = _new_ends(theirs, ours)
            settings = {
                "ends": handed,
                "packages": [self._links],
                "readable": [*_SYSTEM, str(walls.interpreter().parents[1]), *self._readable],
                "writable": [folder, *_DEVICES],
                "limits": self._limits._asdict(),
                "memory_bytes": request.memory_mb << 20,
                "parent": os.getpid(),
                "temporary": temporary,
            }
            process = subprocess.Popen(
                [
                    *(str(walls.interpreter()), "-s", "-S", "-B", "-X", "utf8"),
                    *("-c", _CODE, json.dumps(settings)),
                ],
                pass_fds=list(handed.values()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env={**_ENVIRONMENT, "TMPDIR": folder},
            )
            try:
                ends["process"] = os.pidfd_open(process.pid)
            except OSError:
                process.kill()
                process.wait()
                raise
            ours.pop_all()  # from here on the jail closes them
        return process, ends

    async def aclose(self) -> None:
        """End the sessions, and remove the links to packages."""
        await on_engine(self._sessions.close())
        self._unlink()


def _remove_links(folder: str, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)


def _refuse_network(request: ExecRequest) -> None:
    if request.network:
        raise SandboxError("A program asked for the network, which `process` does not give.")


def _clear_up(process: subprocess.Popen[bytes], folder: str) -> None:
    process.send_signal(signal.SIGCONT)  # a program can stop its supervisor
    try:
        process.wait(_MERCY_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)


class _Supervisor:
    """What a jail without a zygote asks; its supervisor watches for itself."""

    def killed_for_memory(self, process: int) -> bool:
        return False

    def watch(self, process: int, most_bytes: int) -> None:
        pass

    def rest(self, process: int) -> None:
        os.kill(process, alone.REST)

    def wake(self, process: int) -> None:
        os.kill(process, alone.WAKE)

    def check(self) -> None:
        pass


def _new_ends(theirs: ExitStack, ours: ExitStack) -> tuple[dict[str, int], dict[str, int]]:
    """Return our ends and those of the supervisor, each closed with the stack of its side."""
    kept: dict[str, int] = {}
    handed: dict[str, int] = {}
    for name in ("job", "report"):
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        kept[name], handed[name] = (end.detach() for end in pair)
        # At once: the next pair may fail, and these must be closed then.
        ours.callback(os.close, kept[name])
        theirs.callback(os.close, handed[name])
    for name in ("stdin", "stdout", "stderr"):
        reading, writing = os.pipe()
        kept[name], handed[name] = (writing, reading) if name == "stdin" else (reading, writing)
        ours.callback(os.close, kept[name])
        theirs.callback(os.close, handed[name])
    return kept, handed
