"""Turn a `"module:attribute"` string into the object it names, once its requirements are met.

Knows nothing about what the object is.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import threading
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from packaging.requirements import Requirement

from gem.errors import MissingRequirement, TargetError, in_one_line
from gem.installing import forget_sources, pip_command

__all__ = [
    "check_requirements",
    "forget_installed",
    "load_target",
    "missing_of",
    "name_and_version",
    "target_of",
]


def check_requirements(requirements: Iterable[str], *, subject: str, of: str | None = None) -> None:
    """Raise MissingRequirement, with the pip command, unless all are installed. Imports none.

    `of` is the distribution whose extra brings them: see `gem.installing.pip_command`.
    """
    missing = missing_of(requirements)
    if not missing:
        return
    command = pip_command(missing, of=of)
    raise MissingRequirement(
        f"{subject} needs {', '.join(missing)}, not installed here. Run: {command}",
        requirements=missing,
        command=command,
    )


def missing_of(requirements: Iterable[str]) -> tuple[str, ...]:
    """Return the requirements that what is installed does not meet. Imports none."""
    return tuple(text for text in requirements if not _is_met(text))


def name_and_version(distribution: importlib.metadata.Distribution) -> tuple[str, str]:
    """Return both as a distribution states them, "?" for what its metadata lacks."""
    stated = dict(distribution.metadata.items())  # type: ignore[attr-defined]  # a Message
    return stated.get("Name", "?"), stated.get("Version", "?")


@functools.lru_cache(maxsize=1024)
def _is_met(text: str) -> bool:
    try:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate():
            return True
        _, version = name_and_version(importlib.metadata.distribution(requirement.name))
        return requirement.specifier.contains(version, prereleases=True)
    except (importlib.metadata.PackageNotFoundError, ValueError):  # absent, or not readable
        return False


def forget_installed() -> None:
    """Look again at what is installed when it is next asked for."""
    _is_met.cache_clear()
    forget_sources()


class _Underway(threading.local):
    """The modules that this thread is importing for a target."""

    def __init__(self) -> None:
        self.modules = set[str]()


_underway = _Underway()


def _import(module: str) -> ModuleType:
    """Import a module, unless this thread is in the middle of importing it for a target.

    That happens where a script names itself as the target and works with it at its top level. As
    each process that imports the target runs the script again, a check or a pool of workers there
    would start processes without end.
    """
    if module in _underway.modules:
        raise ImportError(
            f"{module} asks for its own environment while it is being imported. Put what it runs "
            "under `if __name__ == '__main__':`"
        )
    _underway.modules.add(module)
    try:
        return importlib.import_module(module)
    finally:
        _underway.modules.discard(module)


@functools.lru_cache(maxsize=4096)
def load_target(target: str) -> Any:
    """Import what `target` names. Raises TargetError, with the cause, where that fails."""
    module, _, path = target.partition(":")
    try:
        found: Any = _import(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # a module may raise anything at import, SystemExit too
        raise TargetError(
            f"{target!r} cannot be imported ({in_one_line(error)}). Check the spelling, "
            "`module:attribute`, and that its package is installed and whole.",
            target=target,
        ) from error
    return found


def target_of(named: Any) -> str:
    """Return the target of a class, a function or an instance: of the last, that of its class.

    A string is a target already. What no import finds has one too, as `__main__:<lambda>`.

    >>> target_of(Requirement)
    'packaging.requirements:Requirement'
    """
    if isinstance(named, str):
        return named
    return f"{named.__module__}:{getattr(named, '__qualname__', type(named).__qualname__)}"
