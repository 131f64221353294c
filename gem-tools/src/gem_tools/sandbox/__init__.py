"""Run programs that nobody has read: `make_sandbox`, a request, a result.

A sandbox's `run` is awaited: `await make_sandbox().run(ExecRequest("print(1 + 1)"))`.
"""

from __future__ import annotations

from gem_tools.sandbox.backends import BACKENDS, DEFAULT_BACKEND, make_sandbox
from gem_tools.sandbox.errors import SandboxError, SandboxUnavailable, SandboxWarning
from gem_tools.sandbox.request import ExecRequest, ExecResult, Sandbox, Status

__all__ = [
    "BACKENDS",
    "DEFAULT_BACKEND",
    "ExecRequest",
    "ExecResult",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "SandboxWarning",
    "Status",
    "make_sandbox",
]
