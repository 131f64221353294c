"""Find what a door of core shows of another distribution. Knows nothing about what that holds."""

from __future__ import annotations

import importlib
from types import ModuleType

from gem.errors import MissingRequirement
from gem.registry._installing import pip_command

__all__ = ["package_behind"]


def package_behind(door: str, distribution: str) -> ModuleType:
    """Import and return the package of a distribution that a module of core is the door of.

    `gem-words` has the package `gem_words`. Raises MissingRequirement, with the pip command, where
    the distribution is not installed, and whatever the import of one that is raises.
    """
    package = distribution.replace("-", "_")
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        # A package that is there and misses one of its own dependencies says that by itself.
        if error.name != package:
            raise
        command = pip_command([distribution])
        raise MissingRequirement(
            f"{door} was asked for, and {distribution}, which holds it, is not installed here. "
            f"Run: {command}",
            requirements=[distribution],
            command=command,
        ) from error
