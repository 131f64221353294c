"""A server that is a process of this machine: a message a line, through its stdin and stdout.

The SDK has such a transport as well. This one bounds a message's size, hands on nothing of this
process's environment, and lets no server outlive this process.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from gem.parsing import read_json
from gem_tools.mcp import starting
from gem_tools.mcp.descendants import Descendants
from gem_tools.mcp.streams import AnswersAlone, Stream

__all__ = ["ProcessTransport", "kill_all"]

MOST_BYTES = 4 * 1024 * 1024
"""Of one message. A server that writes a longer one is ended."""

_GRACE_S = 1.0
_MOST_REPAIRED = 256 * 1024
_running: dict[int, Descendants] = {}  # by their process groups
os.register_at_fork(after_in_child=_running.clear)  # they are the parent's


class ProcessTransport:
    """Start a server on entering, and end it with all that it started on leaving.

    Its stdin is closed first; what is left of it and of what was below it 1 s later is killed. Its
    stderr is dropped.
    """

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: str | None = None
    ) -> None:
        self._command = command
        self._env = env
        self._cwd = cwd
        self.on_end: Callable[[str], None] = lambda why: None
        self._process: Process | None = None

    async def __aenter__(self) -> tuple[AnswersAlone, _Writer]:
        self._process = process = await asyncio.create_subprocess_exec(
            *_tied(self._command, self._env),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=self._env,
            cwd=self._cwd,
            limit=MOST_BYTES,
            start_new_session=True,
        )
        _running[process.pid] = Descendants(process.pid)
        assert process.stdin is not None
        assert process.stdout is not None
        writer = _Writer(process.stdin, self.on_end)
        return AnswersAlone(self._messages(process.stdout), writer, self.on_end), writer

    async def __aexit__(self, *_: object) -> None:
        process = self._process
        if process is None:
            return
        assert process.stdin is not None
        try:
            if process.pid in _running:
                _running[process.pid].look()  # while it runs: later nothing tells what it started
            process.stdin.close()
            await _ended(process, _GRACE_S)
        finally:
            _kill(process.pid)
        await _ended(process, _GRACE_S)
        transport: Any = getattr(process, "_transport", None)
        if transport is not None:  # a process that fled may hold its end of a pipe
            transport.close()

    async def _messages(
        self, lines: asyncio.StreamReader
    ) -> AsyncIterator[SessionMessage | Exception]:
        """Yield every message; an error for a line that is none. A line too long is the end."""
        while True:
            try:
                line = await lines.readuntil(b"\n")
            except (asyncio.IncompleteReadError, OSError):
                return
            except asyncio.LimitOverrunError:
                self.on_end(f"sent a message of more than {MOST_BYTES} bytes")
                return
            yield _message(line)


def _tied(command: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Return a command that also ends when this process is killed, where there is a way.

    Raises FileNotFoundError: what only starts the command could not say that it is not there.
    """
    if os.sep not in command[0] and shutil.which(command[0], path=env["PATH"]) is None:
        raise FileNotFoundError(f"there is no command {command[0]!r} on PATH")
    if sys.platform != "linux" or not sys.executable:
        return list(command)
    return [sys.executable, "-I", "-S", starting.__file__, str(os.getpid()), *command]


class _Writer(Stream):
    """Lines to a server's stdin. One that closes it is of no use any more."""

    def __init__(self, pipe: asyncio.StreamWriter, on_end: Callable[[str], None]) -> None:
        self._pipe = pipe
        self._on_end = on_end

    async def send(self, item: SessionMessage, /) -> None:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        if not self._pipe.is_closing():
            with suppress(OSError):
                self._pipe.write(text.encode() + b"\n")
                await self._pipe.drain()
        if self._pipe.is_closing():
            self._on_end("stopped reading")


def _message(line: bytes) -> SessionMessage | Exception:
    """Read a line; an error where it is no message. A bad answer becomes an answer that says so."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return _repaired(line) or error


def _repaired(line: bytes) -> SessionMessage | None:
    if len(line) > _MOST_REPAIRED:  # it would take long
        return None
    try:
        message = read_json(line.decode("utf-8", "replace"))  # as above, but for lone surrogates
    except ValueError:
        return None
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
    except ValueError:
        id = message.get("id") if isinstance(message, dict) and "method" not in message else None
        if not isinstance(id, (int, str)):
            return None
        error_data = ErrorData(
            code=PARSE_ERROR, message="Its answer is no message of the protocol."
        )
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id, error=error_data))


async def _ended(process: Process, timeout_s: float) -> bool:
    """Say whether the process ends in time. `process.wait` would wait for its pipes as well."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + timeout_s
    while process.returncode is None:
        if clock() >= deadline:
            return False
        await asyncio.sleep(0.01)
    return True


def _kill(group: int) -> None:
    """Kill a server with its group and all that is below it."""
    family = _running.pop(group, None)  # at the end of the interpreter two threads may ask
    if family is not None:
        family.kill()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def kill_all() -> None:
    """Kill every server that this process has started and not yet ended."""
    for group in list(_running):
        _kill(group)
