"""Choose a sandbox by name. Nothing is chosen silently that is no boundary."""

from __future__ import annotations

from typing import Any, cast

from gem.errors import BadArguments
from gem.registry import load_target
from gem_tools.sandbox.request import Sandbox

__all__ = ["BACKENDS", "DEFAULT_BACKEND", "make_sandbox"]

DEFAULT_BACKEND = "bwrap"

BACKENDS = {
    "bwrap": "gem_tools.sandbox.bwrap:BwrapSandbox",
    "process": "gem_tools.sandbox.process:ProcessSandbox",
    "sandboxfusion": "gem_tools.sandbox.sandboxfusion:SandboxFusion",
}


def make_sandbox(backend: str = DEFAULT_BACKEND, **options: Any) -> Sandbox:
    """Make a sandbox: one of `BACKENDS`, or a class of yours, `"module:Class"`.

    Raises SandboxUnavailable, with what to install, where this machine cannot provide it;
    BadArguments on an unknown name; TypeError on options that the backend does not take.
    """
    target = BACKENDS.get(backend, backend)
    if ":" not in target:
        raise BadArguments(
            f"There is no sandbox {backend!r}. There are {', '.join(BACKENDS)}, and any class "
            "of yours as 'module:Class'.",
            subject="backend",
        )
    return cast("Sandbox", load_target(target)(**options))
