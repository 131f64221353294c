"""What can go wrong with a sandbox itself. What a program does is a result, never an error."""

from __future__ import annotations

from gem.errors import GemError

__all__ = ["SandboxError", "SandboxUnavailable", "SandboxWarning"]


class SandboxError(GemError):
    """The sandbox failed, not the program: its process ended, or its server does not answer."""


class SandboxUnavailable(SandboxError):
    """This machine cannot provide the `backend`; `reason` says what is missing."""

    def __init__(self, message: str, *, backend: str, reason: str) -> None:
        super().__init__(message)
        self.backend = backend
        self.reason = reason


class SandboxWarning(UserWarning):
    """Programs run with less protection than a sandbox gives."""
