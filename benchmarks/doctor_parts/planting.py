"""Bugs that are planted in the shipped trainer: each a few words of its source, and their change.

A bug is planted before its module is imported, in a process of its own. Knows nothing about what
finds it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

__all__ = ["Bug", "Change", "plant", "unplantable"]


class Change(NamedTuple):
    """Words of a module of `gem_baselines`, and what stands in their place.

    The words have to be there as often as `times` says.
    """

    module: str
    old: str
    new: str
    times: int = 1


class Bug(NamedTuple):
    """A bug by its name: what is wrong, which checks name it, on which experiment, and the changes.

    `task` is a name of `doctor_parts.tasks.TASKS`, `settings` are those that differ from it.
    """

    name: str
    words: str
    checks: tuple[str, ...]
    task: str
    settings: Mapping[str, Any]
    changes: Sequence[Change]


def plant(changes: Sequence[Change]) -> None:
    """Have modules that were not imported yet run a changed source.

    As one is imported that has not the words as often as it should, ValueError is raised.
    """
    sys.meta_path.insert(0, _Planter(changes))


def unplantable(bugs: Sequence[Bug], folder: Path) -> list[str]:
    """Say which bugs have words that the source in a folder no longer has as often as they say."""
    problems = []
    for bug in bugs:
        for change in bug.changes:
            source = (folder / f"{change.module.replace('.', '/')}.py").read_text(encoding="utf-8")
            if source.count(change.old) != change.times:
                problems.append(f"{bug.name}: {change.module} has changed, write the bug anew.")
    return problems


class _Planter:
    """Finds the modules that are to be changed, and leaves all others to who comes next."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes: dict[str, list[Change]] = {}
        for change in changes:
            self._changes.setdefault(f"gem_baselines.{change.module}", []).append(change)

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a module that is to be changed, None of any other."""
        if name not in self._changes:
            return None
        spec = PathFinder.find_spec(name, path)
        assert spec is not None, name
        assert spec.origin is not None, name
        spec.loader = _ChangedSource(name, spec.origin, self._changes[name])
        return spec


class _ChangedSource(SourceFileLoader):
    """Loads a module from its source with some words changed."""

    def __init__(self, name: str, path: str, changes: Sequence[Change]) -> None:
        super().__init__(name, path)
        self._changes = changes

    def get_code(self, fullname: str) -> CodeType:
        """Compile the changed source; a cache of the unchanged one is not looked at."""
        source = self.get_data(self.path).decode("utf-8")
        for change in self._changes:
            if source.count(change.old) != change.times:
                raise ValueError(f"{fullname} has not {change.times} times: {change.old!r}")
            source = source.replace(change.old, change.new)
        return compile(source, self.path, "exec")
