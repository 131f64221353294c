"""Accept a function, or the `module:function` that names one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gem.errors import BadArguments
from gem.registry._importing import load_target

__all__ = ["as_function"]

F = TypeVar("F", bound=Callable[..., Any])


def as_function(function: F | str, *, subject: str) -> F:
    """Return the function. Raises TargetError or BadArguments where a name leads to none."""
    if not isinstance(function, str):
        return function
    loaded = load_target(function)
    if not callable(loaded):
        raise BadArguments(
            f"{subject} was given function={function!r}, which names a "
            f"{type(loaded).__name__}. Name a function: 'module:function'.",
            subject=subject,
        )
    return loaded  # type: ignore[no-any-return]
