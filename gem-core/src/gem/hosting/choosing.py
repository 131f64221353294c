"""Build what runs environments, by the word that `backend=` was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from gem.arguments import parameters
from gem.errors import BadArguments
from gem.registry import executor_spec, executors, provider
from gem.targets import check_requirements, load_target

__all__ = ["build"]


def build(
    backend: str,
    part: Literal["target", "stage"],
    *args: Any,
    options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Call what the backend's manifest names as this part of it, with the user's `options` too.

    Raises BadArguments on a word that is not installed, a backend without that part, and options
    that it does not take; MissingRequirement.
    """
    executor = executor_spec(backend)
    path = getattr(executor, part)
    if path is None:
        able = [repr(each.id) for each in executors() if getattr(each, part) is not None]
        raise BadArguments(
            f"backend={backend!r} was asked for, and it runs no rollouts. These do: "
            f"{', '.join(able)}.",
            subject="backend",
        )
    distribution = provider("executors", executor.id)
    check_requirements(executor.requires, subject=f"The backend {backend!r}", of=distribution)
    factory = load_target(path)
    taken = [each for each in parameters(factory) if not (each.is_required or each.name in kwargs)]
    unknown = [name for name in options or {} if name not in {each.name for each in taken}]
    if unknown:
        raise BadArguments(
            f"The backend {backend!r} was given the options {', '.join(map(repr, unknown))}. It "
            f"takes {', '.join(map(str, taken)) or 'none'}.",
            subject="backend_options",
        )
    return factory(*args, **kwargs, **(options or {}))
