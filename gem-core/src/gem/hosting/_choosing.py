"""Build the host that a word names: what `backend=` was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem._python.signatures import parameters
from gem.errors import BadArguments
from gem.hosting._port import Host
from gem.registry._catalogue import executor_spec, provider
from gem.registry._importing import check_requirements, load_target

__all__ = ["host_of"]

_OURS = ("num_envs", "num_workers", "step_timeout_s")
"""What every factory takes. Its other parameters are the user's options."""


def host_of(
    backend: str,
    *,
    num_envs: int | None = None,
    num_workers: int | None = None,
    step_timeout_s: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Host:
    """Return a new host. Nothing runs in it before its first environment is opened.

    Raises BadArguments on a word that is not installed, and on options and values that the
    backend does not take; MissingRequirement.
    """
    executor = executor_spec(backend)
    distribution = provider("executors", executor.id)
    check_requirements(executor.requires, subject=f"The backend {backend!r}", of=distribution)
    factory = load_target(executor.target)
    chosen = options or {}
    own = [parameter for parameter in parameters(factory) if parameter.name not in _OURS]
    known = {parameter.name for parameter in own}
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise BadArguments(
            f"The backend {backend!r} was given the options {', '.join(map(repr, unknown))}. It "
            f"takes {', '.join(map(str, own)) or 'none'}.",
            subject="backend_options",
        )
    host: Host = factory(
        num_envs=num_envs, num_workers=num_workers, step_timeout_s=step_timeout_s, **chosen
    )
    return host
