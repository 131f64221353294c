"""Run programs that nobody has read: `make_sandbox`, a request, a result.

A sandbox's `run` is awaited: `await make_sandbox().run(ExecRequest("print(1 + 1)"))`. A program
that stays is a session: `async with await sandbox.open(request) as session`, and `session.ask`.
"""

from __future__ import annotations

from gem_tools.sandbox.backends import BACKENDS, DEFAULT_BACKEND, make_sandbox
from gem_tools.sandbox.errors import (
    SandboxError,
    SandboxUnavailable,
    SandboxWarning,
    SessionEnded,
    SessionTimeout,
)
from gem_tools.sandbox.request import ExecRequest, ExecResult, Sandbox, Session, Status

__all__ = [
    "BACKENDS",
    "DEFAULT_BACKEND",
    "ExecRequest",
    "ExecResult",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "SandboxWarning",
    "Session",
    "SessionEnded",
    "SessionTimeout",
    "Status",
    "make_sandbox",
]
