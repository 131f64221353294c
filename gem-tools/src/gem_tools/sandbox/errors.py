"""What can go wrong with a sandbox itself. What a program does is a result, never an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gem.errors import GemError

if TYPE_CHECKING:
    from gem_tools.sandbox.request import ExecResult

__all__ = [
    "SandboxError",
    "SandboxUnavailable",
    "SandboxWarning",
    "SessionEnded",
    "SessionTimeout",
    "not_built",
]


class SandboxError(GemError):
    """The sandbox failed, not the program: its process ended, or its server does not answer."""


class SandboxUnavailable(SandboxError):
    """This machine cannot provide the `backend`; `reason` says what is missing."""

    def __init__(self, message: str, *, backend: str, reason: str) -> None:
        super().__init__(message)
        self.backend = backend
        self.reason = reason


class SessionEnded(SandboxError):
    """A session's program ended before it answered; `result` says how."""

    def __init__(self, message: str, *, result: ExecResult) -> None:
        super().__init__(message)
        self.result = result


class SessionTimeout(SessionEnded):
    """A session's program had not answered at the deadline, and was ended."""


class SandboxWarning(UserWarning):
    """Programs run with less protection than a sandbox gives."""


def not_built(error: OSError) -> SandboxError:
    """Return the error of a jail that this process lacks something for, most often descriptors."""
    return SandboxError(
        f"A jail could not be built: {error.strerror or error}. Where this process has too many "
        "files open, close sessions, or raise its limit (`ulimit -n`)."
    )
