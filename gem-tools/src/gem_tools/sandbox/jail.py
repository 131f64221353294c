"""The host's side of one jail: its program's streams, its deadline, and how it ended.

Lives on the engine's loop. Whoever took a jail calls `run` once, or `start` and `ended`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from gem_tools.sandbox.errors import SandboxError
from gem_tools.sandbox.groups import MemoryGroup, MemoryGroups
from gem_tools.sandbox.inside.frames import packed
from gem_tools.sandbox.request import ExecRequest, ExecResult, Status

__all__ = ["Jail", "Keeper"]

_CHUNK = 1 << 16
_MERCY_S = 2.0
_LOOKS = 200
_LOOK_S = 0.005


class _Stream:
    """What one of the program's streams brought so far. `is_full` once there was more."""

    def __init__(self, descriptor: int, most: int, on_full: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._most = most
        self._on_full = on_full
        self.content = bytearray()
        self.is_full = False

    def read(self) -> bytes | None:
        """Take and return what is there: None if that is nothing now, b"" if nothing will come."""
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return None
        if chunk and not self.is_full:
            self.content += chunk
            if len(self.content) > self._most:
                self.is_full = True
                del self.content[self._most :]
                self._on_full()
        return chunk

    def drain(self) -> None:
        """Take the rest of a pipe that nobody writes to any more."""
        while self.read():
            pass


class Keeper(Protocol):
    """What a jail asks of the zygote that built it."""

    def killed_for_memory(self, process: int) -> bool:
        """Whether the zygote ended this jail because it held too much."""
        ...

    def watch(self, process: int, most_bytes: int) -> None:
        """Have the jail ended once its processes hold more than this together."""
        ...

    def rest(self, process: int) -> None:
        """Have the jail's processes stopped until it is woken."""
        ...

    def wake(self, process: int) -> None:
        """Let the jail's processes go on."""
        ...

    def check(self) -> None:
        """Raise SandboxError if the zygote itself is gone, and its jails with it."""
        ...


class Jail:
    """One jail with no program yet. `process` is its first process, as its zygote numbers it."""

    def __init__(
        self,
        process: int,
        ends: Mapping[str, int],
        keeper: Keeper,
        *,
        ends_by: signal.Signals = signal.SIGKILL,
        on_close: Callable[[], object] = lambda: None,
    ) -> None:
        self.process = process
        self._keeper = keeper
        self._ends_by = ends_by
        self._on_close = on_close
        self._ends = dict(ends)
        self.channel = socket.socket(fileno=self._ends.pop("job"))
        self._report = socket.socket(fileno=self._ends.pop("report"))
        for end in (self.channel, self._report):
            end.setblocking(False)
        for name in ("stdin", "stdout", "stderr"):
            os.set_blocking(self._ends[name], False)
        self._loop = asyncio.get_running_loop()
        self._reason: Status | None = None
        self._group: MemoryGroup | None = None

    async def is_ready(self, groups: MemoryGroups | None = None) -> None:
        """Wait until its walls stand. Raises SandboxError where they cannot be built.

        With `groups` it gets one of them.
        """
        text = await self._loop.sock_recv(self._report, 4096)
        report = json.loads(text) if text else {"broken": "it ended while its walls were built"}
        if not report.get("ready"):
            raise SandboxError(f"A jail could not be built: {report['broken']}.")
        if groups is not None:  # the kernel takes its time to move a process
            watched = os.dup(self._ends["process"])  # this jail may be closed meanwhile
            self._group = await self._loop.run_in_executor(None, groups.hold, watched)

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run the program; whatever it started has ended when this returns or raises."""
        try:
            self.start(request)
            deadline = self._loop.call_later(request.timeout_s, self.kill, "timeout")
            try:
                return await self.ended()
            finally:
                deadline.cancel()
        finally:
            self.close()

    def start(self, request: ExecRequest, *, is_session: bool = False) -> asyncio.Future[None]:
        """Hand the program over; what is returned is done once it was taken or cannot be.

        In a session the program's end of `channel` stays open.
        """
        self._started = time.monotonic()
        full = lambda: self.kill("output_limit")  # noqa: E731
        self._streams = {
            name: _Stream(self._ends[name], request.max_output_bytes, full)
            for name in ("stdout", "stderr")
        }
        for name, stream in self._streams.items():
            self._read_on(self._ends[name], stream)
        handed_over: asyncio.Future[None] = self._loop.create_future()
        job = packed(_job(request, is_session=is_session))
        self._write_on(self.channel.fileno(), job, lambda: _settle(handed_over))
        self._write_on(self._ends["stdin"], request.stdin, lambda: self._close_end("stdin"))
        self._limit_memory(request.memory_mb << 20)
        return handed_over

    def _limit_memory(self, most_bytes: int) -> None:
        self._keeper.watch(self.process, most_bytes)
        if self._group is not None:
            with suppress(OSError):  # it is sampled anyway
                self._group.limit(most_bytes)

    def _was_over(self) -> bool:
        is_known = self._keeper.killed_for_memory(self.process)
        return is_known or (self._group is not None and self._group.was_over())

    async def ended(self) -> ExecResult:
        """Wait for the program's end. Raises SandboxError where the jail was lost instead."""
        await self._first_process_ended()
        elapsed_s = time.monotonic() - self._started
        for stream in self._streams.values():
            stream.drain()
        report = self._last_report()
        if not report and self._reason is None:
            await self._explained()
        return self._result(report, elapsed_s)

    async def _explained(self) -> None:
        """Wait until it is known why the first process ended without a word, or for a second.

        Raises SandboxError where the zygote is gone: the kernel ends its jails before that shows.
        Counts looks and no time: while this process stands still, nothing is learnt.
        """
        for _ in range(_LOOKS):
            self._keeper.check()
            if self._was_over():
                return
            await asyncio.sleep(_LOOK_S)

    async def _first_process_ended(self) -> None:
        """Wait for the first process. The kernel has ended all others before it says so."""
        ended: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(self._ends["process"], _settle, ended)
        try:
            await ended
        finally:
            self._loop.remove_reader(self._ends["process"])

    def rest(self) -> None:
        """Stop the program until it is woken: nobody waits for it."""
        self._keeper.rest(self.process)

    def wake(self) -> None:
        """Let the program go on."""
        self._keeper.wake(self.process)

    def kill(self, reason: Status) -> None:
        """End the program and all that it started; `reason` is how its result will say it ended."""
        self._reason = self._reason or reason
        self._signal(self._ends_by)
        if self._ends_by != signal.SIGKILL:  # who handles a signal may fail to, or was stopped
            self._signal(signal.SIGCONT)
            self._loop.call_later(_MERCY_S, self._signal, signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, KeyError):  # it is over
            signal.pidfd_send_signal(self._ends["process"], number)

    def _read_on(self, descriptor: int, stream: _Stream) -> None:
        def on_ready() -> None:
            if stream.read() == b"":
                self._loop.remove_reader(descriptor)

        self._loop.add_reader(descriptor, on_ready)

    def _write_on(self, descriptor: int, content: bytes, on_end: Callable[[], None]) -> None:
        rest = memoryview(content)

        def on_ready() -> bool:
            nonlocal rest
            try:
                while rest:
                    rest = rest[os.write(descriptor, rest[:_CHUNK]) :]
            except BlockingIOError:
                return False
            except OSError:  # the program reads no more
                pass
            self._loop.remove_writer(descriptor)
            on_end()
            return True

        if not on_ready():
            self._loop.add_writer(descriptor, on_ready)

    def _result(self, report: Mapping[str, Any], elapsed_s: float) -> ExecResult:
        stdout = self._streams["stdout"]
        stderr = self._streams["stderr"]
        exit_code, number = _ending(report)
        status: Status
        if self._reason is not None:
            status = self._reason
        elif report.get("is_over") or self._was_over():
            status = "memory"
        elif number is not None:
            status = "killed"
        else:
            status = "error" if exit_code else "ok"
        return ExecResult(
            status=status,
            exit_code=exit_code,
            signal=number,
            stdout=bytes(stdout.content),
            stderr=bytes(stderr.content),
            stdout_truncated=stdout.is_full,
            stderr_truncated=stderr.is_full,
            elapsed_s=elapsed_s,
        )

    def _last_report(self) -> dict[str, Any]:
        try:
            text = self._report.recv(4096)
        except BlockingIOError:
            text = b""
        return dict(json.loads(text)) if text else {}

    def _close_end(self, name: str) -> None:
        descriptor = self._ends.pop(name, None)
        if descriptor is not None:
            os.close(descriptor)

    def close(self) -> None:
        """End the jail and let go of it."""
        if "process" not in self._ends:
            return
        self.kill("killed")
        for end in (self.channel, self._report):
            self._forget(end.fileno())
            end.close()
        for name in list(self._ends):
            self._forget(self._ends[name])
            self._close_end(name)
        self._on_close()
        if self._group is not None:
            self._group.remove()

    def _forget(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)
        self._loop.remove_writer(descriptor)


def _job(request: ExecRequest, *, is_session: bool) -> dict[str, Any]:
    cpu_s = math.ceil(request.timeout_s * (os.cpu_count() or 1)) + 1
    return {
        "code": request.code,
        "arguments": list(request.arguments),
        "files": {name: base64.b64encode(file).decode() for name, file in request.files.items()},
        "memory_bytes": request.memory_mb << 20,
        "cpu_s": None if is_session else cpu_s,
        "is_session": is_session,
    }


def _ending(report: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the exit status or the signal."""
    status = report.get("status")
    if status is None:  # its first process was killed
        return None, int(signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status)
    return (code, None) if code >= 0 else (None, -code)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
