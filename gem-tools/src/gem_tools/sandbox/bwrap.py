"""The sandbox of this machine: bubblewrap around warm processes, and a fresh jail for each call."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Sequence
from functools import partial

from gem_tools.sandbox import walls
from gem_tools.sandbox.engine import on_engine, on_engine_now
from gem_tools.sandbox.errors import SandboxError, SandboxUnavailable, not_built
from gem_tools.sandbox.groups import MemoryGroups, memory_groups
from gem_tools.sandbox.inside import kernel
from gem_tools.sandbox.inside.jail import Limits
from gem_tools.sandbox.jail import Jail
from gem_tools.sandbox.packages import DEFAULT_PACKAGES, installed_files
from gem_tools.sandbox.request import ExecRequest, ExecResult, Session
from gem_tools.sandbox.session import OpenSessions
from gem_tools.sandbox.zygote import Zygote

__all__ = ["BwrapSandbox"]

_NUMPY = "import numpy, numpy.random"
_SYMPY = "import sympy; sympy.solve(sympy.Symbol('x') ** 2 - 2)"  # loads more at an equation
_KINDS: dict[str, tuple[str, ...]] = {"bare": (), "numpy": (_NUMPY,), "sympy": (_NUMPY, _SYMPY)}
"""What a zygote of each kind has loaded. A larger one takes longer to start a jail."""
_IMPORTED = re.compile(r"\b(?:import|from)\b([^\n;#]*)")
_HEAVY = re.compile(r"\b(numpy|scipy|pandas|sympy)\b")
_INSTALL = "Install it (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap)"
_ALLOW = "Allow ordinary users to make namespaces (a container or AppArmor may forbid it)"
_OTHERWISE = (
    "or choose a backend yourself: `sandboxfusion` for a server, or `process`, which is no "
    "boundary against a hostile program"
)


class BwrapSandbox:
    """Run each program in a jail of its own, made before it is needed.

    `packages` are the distributions that programs may import, with what those need; `standby` is
    how many jails stand ready for each kind of program that was run (without numpy, with it, with
    sympy too), `max_parallel` how many programs run at once, None for one a core and at least four.
    `max_processes`, `max_open_files`, `disk_mb` and `max_disk_files` bound each program, its
    threads counted as processes. At most `max_sessions` are open at once; they take no place of
    `max_parallel`. `preparations` are your own statements, which run once, before there is any
    program: what they load is there when a program starts.

    Raises SandboxUnavailable where the machine has no bubblewrap.
    """

    name = "bwrap"

    def __init__(
        self,
        *,
        packages: Sequence[str] = DEFAULT_PACKAGES,
        standby: int = 2,
        max_parallel: int | None = None,
        max_sessions: int = 128,
        max_processes: int = 32,
        max_open_files: int = 64,
        disk_mb: int = 64,
        max_disk_files: int = 4096,
        preparations: Sequence[str] = (),
    ) -> None:
        bwrap = walls.find_bwrap()
        if bwrap is None:
            raise _unavailable("bubblewrap (the command `bwrap`) is not installed", _INSTALL)
        if not kernel.is_known():
            raise _unavailable("it knows x86_64 and aarch64, and this machine is another", "Move")
        limits = Limits(max_processes, max_open_files, disk_mb << 20, max_disk_files)
        support = memory_groups()
        groups = support if isinstance(support, MemoryGroups) else None
        start = partial(
            Zygote,
            bwrap,
            packages=installed_files(packages),
            limits=limits,
            standby=standby,
            groups=groups,
        )
        self._kept = {
            kind: _Kept(partial(start, preparations=(*loaded, *preparations)))
            for kind, loaded in _KINDS.items()
        }
        self._most = max_parallel or max(4, os.cpu_count() or 1)
        self._places: asyncio.Semaphore | None = None
        self._sessions = OpenSessions(max_sessions)
        user = f"root, who becomes user {walls.UNUSED_USER}" if os.geteuid() == 0 else "this user"
        memory = (
            f"sampled ({support})" if groups is None else f"held by control groups ({groups.path})"
        )
        self.description = f"bubblewrap at {bwrap}, started by {user}; memory is {memory}"

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a program. Raises SandboxError where the sandbox fails, never for the program."""
        _refuse_network(request)
        return await on_engine(self._run(request))

    async def _run(self, request: ExecRequest) -> ExecResult:
        if self._places is None:
            self._places = asyncio.Semaphore(self._most)
        async with self._places:
            zygote, jail = await self._kept_for(request).jail()
            try:
                return await jail.run(request)
            finally:
                asyncio.get_running_loop().call_soon(zygote.refill)

    def _kept_for(self, request: ExecRequest) -> _Kept:
        return self._kept[_kind(request)]

    async def open(self, request: ExecRequest) -> Session:
        """Start a program that stays. Raises SandboxError where it cannot be, or too many are."""
        _refuse_network(request)
        return await on_engine(self._sessions.open(partial(self._jail_for, request), request))

    async def _jail_for(self, request: ExecRequest) -> Jail:
        zygote, jail = await self._kept_for(request).jail()
        asyncio.get_running_loop().call_soon(zygote.refill)
        return jail

    async def aclose(self) -> None:
        """End every process of this sandbox."""
        await on_engine(self._close())

    def close(self) -> None:
        """End every process of this sandbox, from synchronous code."""
        on_engine_now(self._close())

    async def _close(self) -> None:
        await self._sessions.close()
        for start in self._kept.values():
            await start.close()


def _refuse_network(request: ExecRequest) -> None:
    if request.network:
        raise SandboxError("A program asked for the network, and no backend `bwrap` has one.")


def _kind(request: ExecRequest) -> str:
    """Guess what it imports. A wrong guess costs the time of an import, or of a larger fork."""
    imported = " ".join([*request.imports, *_IMPORTED.findall(request.code)])
    heavy = set(_HEAVY.findall(imported))
    if "sympy" in heavy:
        return "sympy"
    return "numpy" if heavy else "bare"


class _Kept:
    """A zygote that is started when it is first wanted, and again when it was lost."""

    def __init__(self, make: Callable[[], Zygote]) -> None:
        self._make = make
        self._zygote: Zygote | None = None
        self._starting: asyncio.Lock | None = None

    async def jail(self) -> tuple[Zygote, Jail]:
        """Return a jail with its zygote. Raises SandboxError where none can be made."""
        zygote = await self._running()
        try:
            return zygote, await zygote.take()
        except SandboxError:
            if not zygote.is_over:
                raise
        zygote = await self._running()  # it was lost since the last call: another one will do
        return zygote, await zygote.take()

    async def _running(self) -> Zygote:
        if self._starting is None:
            self._starting = asyncio.Lock()
        async with self._starting:
            if self._zygote is not None and self._zygote.is_over:
                self._zygote.close()
                self._zygote = None
            if self._zygote is None:
                zygote = self._make()
                try:
                    await zygote.start()
                except SandboxError as error:
                    raise _unavailable(str(error).rstrip("."), _ALLOW) from error
                except OSError as error:
                    raise not_built(error) from error
                zygote.refill()
                self._zygote = zygote
            return self._zygote

    async def close(self) -> None:
        """End it, if there is one."""
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None


def _unavailable(reason: str, remedy: str) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"The sandbox `bwrap` cannot run programs here: {reason}. {remedy}, {_OTHERWISE}.",
        backend="bwrap",
        reason=reason,
    )
