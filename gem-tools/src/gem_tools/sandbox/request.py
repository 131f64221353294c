"""What a sandbox is asked to run, and what it says happened. Knows nothing about backends."""

from __future__ import annotations

import math
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import TracebackType
from typing import Literal, Protocol

from gem.errors import BadArguments

__all__ = ["ExecRequest", "ExecResult", "Sandbox", "Session", "Status"]

Status = Literal["ok", "error", "timeout", "memory", "output_limit", "killed"]
"""How a program ended: by itself with exit status 0, or with another one; past its deadline; with
too much memory; with too much output; or by a signal, its own or the kernel's."""


@dataclass(frozen=True, slots=True)
class ExecRequest:
    """One Python program to run. Raises BadArguments on what no sandbox could run.

    `files` are put into the program's working folder. `imports` names modules that the program
    will import though its code does not say so, as the code of a session cannot; they are loaded
    sooner. `timeout_s` counts from the moment that the program may start, not the wait for a free
    place. `memory_mb` (of 2**20 bytes) is for all of its processes together, `max_output_bytes`
    for each of stdout and stderr.
    """

    code: str
    stdin: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    timeout_s: float = 10.0
    memory_mb: int = 512
    max_output_bytes: int = 1 << 20
    network: bool = False

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise BadArguments(f"{problem}.", subject="ExecRequest", problems=[problem])

    def _problems(self) -> list[str]:
        problems = []
        if not (math.isfinite(self.timeout_s) and self.timeout_s > 0):
            problems.append(f"timeout_s is {self.timeout_s}, and must be a positive number")
        problems += [
            f"{name} is {getattr(self, name)}, and must be at least 1"
            for name in ("memory_mb", "max_output_bytes")
            if getattr(self, name) < 1
        ]
        problems += [
            f"files names {name!r}, and must name files below the working folder"
            for name in self.files
            if not _is_below(name)
        ]
        return problems


def _is_below(name: str) -> bool:
    path = PurePosixPath(name)
    is_encodable = name.isprintable() and "\0" not in name
    return is_encodable and not path.is_absolute() and path.name != "" and ".." not in path.parts


@dataclass(frozen=True, slots=True)
class ExecResult:
    """How a program ended and what it wrote. Nothing here says that it did what it should.

    A program may exit with any status at any moment, `os._exit(0)` on its first line included:
    `status="ok"` means exit status 0 and no more. `signal` is the one that ended it, None where
    it exited. Streams are cut at the request's limit, and flagged.
    """

    status: Status
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    elapsed_s: float = 0.0

    @property
    def summary(self) -> str:
        """How it ended, in a few words.

        >>> ExecResult("killed", None, 11, b"", b"").summary
        'killed by SIGSEGV'
        """
        if self.status == "killed":
            return "killed" if self.signal is None else f"killed by {_signal_name(self.signal)}"
        if self.status == "error":
            return f"exit status {self.exit_code}"
        return {
            "ok": "exit status 0",
            "timeout": "ran past its deadline",
            "memory": "took too much memory",
            "output_limit": "wrote too much",
        }[self.status]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


class Session(Protocol):
    """A program that stays in its jail and answers messages, until `aclose`.

    The program finds a connected stream socket as descriptor 3. Each message, both ways, is its
    length in four bytes, the highest first, and its content; `receive` and `send` of
    `gem_tools.sandbox.inside.channel` do that, which a session's program can import as
    `from gem_tools.sandbox.inside.channel import receive, send`. Usable from any event loop.
    """

    async def ask(
        self, message: bytes, *, timeout_s: float, max_reply_bytes: int = 1 << 20
    ) -> bytes:
        """Send a message and return the program's answer. Questions wait for their turn.

        A program that has not answered `timeout_s` after its question was sent is ended with all
        that it started. So is one whose answer is longer than `max_reply_bytes`, or whose
        question is cancelled. An answer is untrusted: a program can send what it was not asked.

        Raises SessionTimeout, or SessionEnded (of which it is a kind) where the program ended
        instead, with its ExecResult; SandboxError where the sandbox itself failed.
        """
        ...

    async def aclose(self) -> None:
        """End the program and all that it started."""
        ...

    async def __aenter__(self) -> Session: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Sandbox(Protocol):
    """Something that runs programs. One instance serves any number of calls, from any event loop.

    `name` is what it is chosen by. Raises SandboxError where the sandbox itself fails; whatever
    the program does is a result.
    """

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str:
        """What it is made of on this machine, in one line."""
        ...

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a program to its end or its deadline."""
        ...

    async def open(self, request: ExecRequest) -> Session:
        """Start a program that stays and answers, with the limits of the request.

        Its `timeout_s` is not used, as each question has its own. stdout and stderr are kept for
        the result, and end the program as soon as they are longer than `max_output_bytes`.

        Raises SandboxError where too many sessions are open, or the sandbox has none.
        """
        ...

    async def aclose(self) -> None:
        """End everything that this sandbox started."""
        ...
