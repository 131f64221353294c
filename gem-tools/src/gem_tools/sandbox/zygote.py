"""The host's side of one zygote: start it, keep jails ready, hand them out.

Lives on the engine's loop.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import errno
import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gem_tools.sandbox import walls
from gem_tools.sandbox.errors import SandboxError, not_built
from gem_tools.sandbox.groups import MemoryGroups
from gem_tools.sandbox.inside.jail import Limits
from gem_tools.sandbox.jail import Jail

__all__ = ["Zygote"]

_START_S = 60.0
_STOP_S = 5.0
_PACKET = 65536
_ENDS = 6
_CODE = (
    f"import sys; sys.path[0] = {walls.OWN_PATH!r}; "
    "from gem_tools.sandbox.inside.zygote import main; main()"
)
_PYTHON_OPTIONS = ("-s", "-S", "-B", "-X", "utf8", "-c", _CODE)


class Zygote:
    """One zygote, which ran these statements. `start` it before anything else."""

    def __init__(
        self,
        bwrap: str,
        *,
        preparations: Sequence[str],
        packages: Mapping[str, Path],
        limits: Limits,
        standby: int,
        groups: MemoryGroups | None,
    ) -> None:
        self._bwrap = bwrap
        self._preparations = tuple(preparations)
        self._packages = packages
        self._limits = limits
        self._standby = standby
        self._groups = groups
        self._ready: collections.deque[Jail] = collections.deque()
        self._waiting: collections.deque[asyncio.Future[Jail]] = collections.deque()
        self._building: dict[asyncio.Task[None], Jail] = {}
        self._ordered = 0
        self._over: set[int] = set()
        self._failure: str | None = None

    async def start(self) -> None:
        """Start it and wait until it is ready. Raises SandboxError with what it said."""
        self._loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        settings = {
            "user": walls.UNUSED_USER if os.geteuid() == 0 else None,
            "preparations": self._preparations,
            "own_path": walls.OWN_PATH,
            "packages": [walls.PACKAGES_PATH],
            "limits": self._limits._asdict(),
        }
        python = [str(walls.interpreter()), *_PYTHON_OPTIONS]
        command = [*python, str(theirs.fileno())]
        with theirs, tempfile.TemporaryFile() as settings_file:  # preparations may be long
            settings_file.write(json.dumps(settings).encode("ascii"))
            settings_file.seek(0)
            self._process = subprocess.Popen(
                walls.walled(self._bwrap, self._packages, command),
                stdin=settings_file,
                stdout=self._stderr,
                stderr=self._stderr,
                pass_fds=[theirs.fileno()],
                cwd="/",
                env={},
            )
        ours.setblocking(False)
        started: asyncio.Future[None] = self._loop.create_future()
        self._started = started
        self._loop.add_reader(ours.fileno(), self._receive)
        try:
            await asyncio.wait_for(started, _START_S)
        except BaseException:
            self.close()
            raise

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or was closed."""
        return self._failure is not None

    async def take(self) -> Jail:
        """Return a jail that is ready. Raises SandboxError where none can be built."""
        self.check()
        if self._ready:
            return self._ready.popleft()
        waiting: asyncio.Future[Jail] = self._loop.create_future()
        self._waiting.append(waiting)
        self._order()
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                self._ready.append(waiting.result())
            raise

    def refill(self) -> None:
        """Order what is missing of the jails that should stand ready."""
        if not self.is_over:
            self._order()

    def _order(self) -> None:
        most = self._standby + sum(not waiter.done() for waiter in self._waiting)
        while self._ordered + len(self._ready) < most:
            self._ordered += 1
            self._send({"what": "make"})

    def watch(self, process: int, most_bytes: int) -> None:
        self._send({"what": "watch", "process": process, "bytes": most_bytes})

    def rest(self, process: int) -> None:
        self._send({"what": "rest", "process": process})

    def wake(self, process: int) -> None:
        self._send({"what": "wake", "process": process})

    def killed_for_memory(self, process: int) -> bool:
        self._receive()
        return process in self._over

    def check(self) -> None:
        self._receive()
        if self._failure is not None:
            raise SandboxError(self._failure)

    def _send(self, order: dict[str, Any]) -> None:
        try:
            self._control.send(json.dumps(order).encode("ascii"))
        except OSError as error:
            self._fail(f"it takes no more orders ({error})")

    def _receive(self) -> None:
        while not self.is_over:
            try:
                packet, descriptors, _, _ = socket.recv_fds(
                    self._control, _PACKET, _ENDS, socket.MSG_CMSG_CLOEXEC
                )
            except BlockingIOError:
                return
            except OSError:
                packet = b""
                descriptors = []
            if not packet:
                self._fail("it ended")
                return
            self._hear(json.loads(packet), descriptors)

    def _hear(self, report: dict[str, Any], descriptors: Sequence[int]) -> None:
        what = report["what"]
        if what == "ready":
            self._started.set_result(None)
        elif what == "over":
            self._over.add(report["process"])
        elif what == "made" and len(descriptors) < len(report["names"]):
            # The kernel hands over as many as there is room for. The jail ends without its host.
            for descriptor in descriptors:
                os.close(descriptor)
            self._refuse(not_built(OSError(errno.EMFILE, os.strerror(errno.EMFILE))))
        elif what == "made":
            ends = dict(zip(report["names"], descriptors, strict=True))
            jail = Jail(report["process"], ends, self)
            task = self._loop.create_task(self._admit(jail))
            self._building[task] = jail
            task.add_done_callback(self._building.pop)
        elif not self._started.done():
            self._fail(report["why"])
        else:
            self._refuse(SandboxError(f"A jail could not be built: {report['why']}."))

    async def _admit(self, jail: Jail) -> None:
        try:
            await jail.is_ready(self._groups)
        except (SandboxError, OSError) as error:
            jail.close()
            self._refuse(not_built(error) if isinstance(error, OSError) else error)
            return
        self._ordered -= 1
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(jail)
                return
        self._ready.append(jail)

    def _refuse(self, error: Exception) -> None:
        self._ordered -= 1
        self._refuse_one(error)

    def _refuse_one(self, error: Exception) -> None:
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_exception(error)
                return

    def _fail(self, why: str) -> None:
        """Note that this zygote is of no use any more, and tell all who wait."""
        if self._failure is not None:
            return
        last_words = self._last_words()
        self._failure = f"The process that starts jails failed: {why}{last_words}."
        self._loop.remove_reader(self._control.fileno())
        error = SandboxError(self._failure)
        if not self._started.done():
            self._started.set_exception(error)
        while self._waiting:
            self._refuse_one(error)

    def _last_words(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            self._stderr.seek(0)
            text = self._stderr.read(4096).decode(errors="replace").strip()
            return f": {' '.join(text.split())}" if text else ""
        return ""

    def close(self) -> None:
        """End it, with every jail it started."""
        self._fail("it was closed")
        for task, jail in self._building.items():
            task.cancel()
            jail.close()
        while self._ready:
            self._ready.popleft().close()
        self._control.close()  # what it waits for
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()
