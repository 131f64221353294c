"""Turn a `"module:attribute"` string into the object it names, once its requirements are met.

`"./file.py:attribute"` names one of a file that is in no package. Knows nothing about what the
object is.
"""

from __future__ import annotations

import ast
import difflib
import functools
import importlib
import importlib.metadata
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from packaging.requirements import Requirement

from gem.errors import MissingRequirement, TargetError, in_one_line
from gem.registry._installing import forget_sources, pip_command
from gem.registry._source_files import absolute, import_file, is_file, path_of, shortest

__all__ = [
    "UnderwayError",
    "absolute_target",
    "check_requirements",
    "classes_written_in",
    "forget_installed",
    "load_target",
    "missing_of",
    "name_and_version",
    "refuse_while_importing",
    "split_target",
    "target_of",
]


def check_requirements(requirements: Iterable[str], *, subject: str, of: str | None = None) -> None:
    """Raise MissingRequirement, with the pip command, unless all are installed. Imports none.

    `of` is the distribution whose extra brings them: see `gem.registry._installing.pip_command`.
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


class UnderwayError(ImportError):
    """A module asks for its own target while it is being imported."""


class _Underway(threading.local):
    """The modules that this thread is importing for a target.

    Of this thread alone: another one that wants the same module waits for Python's own lock.
    """

    def __init__(self) -> None:
        self.modules = set[str]()


_underway = _Underway()


def refuse_while_importing(what: str) -> None:
    """Raise UnderwayError if this thread is importing a module for a target.

    That module works at its top level. What it starts would import it too, and start the same.
    """
    for module in _underway.modules:
        raise UnderwayError(
            f"{module} starts {what} while it is being imported. Put what it runs under "
            "`if __name__ == '__main__':`"
        )


def _import(module: str) -> ModuleType:
    """Import a module, unless this thread is in the middle of importing it for a target.

    That happens where a script names itself as the target and works with it at its top level. As
    each process that imports the target runs the script again, a check or a pool of workers there
    would start processes without end.
    """
    if module in _underway.modules:
        raise UnderwayError(
            f"{module} asks for its own environment while it is being imported. Put what it runs "
            "under `if __name__ == '__main__':`"
        )
    _underway.modules.add(module)
    try:
        return import_file(module) if is_file(module) else importlib.import_module(module)
    finally:
        _underway.modules.discard(module)


def split_target(target: str) -> tuple[str, str]:
    """Return the module, or the path of a file, and the attribute that a target names.

    >>> split_target("acme.words:Spell"), split_target("./a:b/try.py:Parity")
    (('acme.words', 'Spell'), ('./a:b/try.py', 'Parity'))
    """
    if ".py:" in target:  # a path may have colons of its own
        module, _, attribute = target.rpartition(":")
    else:
        module, _, attribute = target.partition(":")
    return module, attribute


def absolute_target(target: str) -> str:
    """Return a target that means the same in any folder: that of a file by its whole path."""
    module, attribute = split_target(target)
    return f"{absolute(module)}:{attribute}" if is_file(module) else target


# An error is not kept: what failed is tried again, for its cause may be mended meanwhile.
@functools.lru_cache(maxsize=4096)
def load_target(target: str) -> Any:
    """Import what `target` names. Raises TargetError, with the cause, where that fails."""
    module, path = split_target(target)
    if is_file(module):
        return _load_from_file(target, module, path)
    try:
        value: Any = _import(module)
        for name in path.split("."):
            value = getattr(value, name)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # a module may raise anything at import, SystemExit too
        raise TargetError(
            f"{target!r} cannot be imported ({in_one_line(error)}). Check the spelling, "
            "`module:attribute`, and that its package is installed and whole.",
            target=target,
        ) from error
    return value


def _load_from_file(target: str, path: str, names: str) -> Any:
    """Return what a file has under a dotted name. Raises TargetError with the names that it has."""
    value: Any = _module_of_file(target, path)
    for name in names.split("."):
        try:
            value = getattr(value, name)
        except Exception as error:  # a module's own `__getattr__` may raise anything
            raise TargetError(
                f"{names!r} of {shortest(path)} was asked for, and the file has no such name. "
                f"It has {', '.join(_names_in(path)) or 'no class and no function of its own'}.",
                target=target,
            ) from error
    return value


def _module_of_file(target: str, path: str) -> ModuleType:
    """Import a file. Raises TargetError where there is none, and where it cannot be imported."""
    whole = _existing(target, path)
    try:
        return _import(str(whole))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # as any module
        if isinstance(error.__cause__, UnderwayError):
            raise  # it came back to itself, and says what to do
        raise TargetError(
            f"{shortest(str(whole))} cannot be imported ({in_one_line(error)}"
            f"{_line_in(whole, error)}). Mend it, so that Python can run it.",
            target=target,
        ) from error


def _existing(target: str, path: str) -> Path:
    """Return the whole path of a file. Raises TargetError where there is none."""
    whole = Path(absolute(path))
    if not whole.is_file():
        raise TargetError(
            f"{whole} was asked for, and there is no such file. {_files_beside(whole)}Check "
            "the path; a relative one begins at the current folder.",
            target=target,
        )
    return whole


def classes_written_in(target: str, path: str) -> list[str]:
    """Return the public classes with a base that the text of a file defines at its top level.

    The file is read and not run: it may be one that a stranger's log names. Raises TargetError
    where there is none, and where it is no Python.
    """
    whole = _existing(target, path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is odd in the text, and is nobody's concern
            tree = ast.parse(whole.read_bytes(), whole.name)
    except (MemoryError, OSError, RecursionError, SyntaxError, ValueError) as error:
        raise TargetError(
            f"{shortest(str(whole))} cannot be read as Python ({in_one_line(error)}). Mend it.",
            target=target,
        ) from error
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.bases and not node.name.startswith("_")
    ]


def _files_beside(path: Path) -> str:
    try:
        files = [neighbour.name for neighbour in path.parent.iterdir() if is_file(neighbour.name)]
    except (OSError, ValueError):  # the folder is missing too, or is no path at all
        return ""
    alike = difflib.get_close_matches(path.name, files, n=1)
    return f"Did you mean {alike[0]}? " if alike else ""


def _line_in(path: Path, error: BaseException) -> str:
    """Say which line of a file an error came through; nothing where the error says it itself."""
    name = str(path.resolve())  # as its code has it
    steps = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in steps if frame.f_code.co_filename == name]
    return f", line {lines[-1]}" if lines else ""


def _names_in(path: str) -> list[str]:
    """Return the public names of what a file makes that may be a target, as it does.

    The file is imported; raises what that raises.
    """
    module = _import(absolute(path))
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and _is_made_in(value, module)
    ]


def _is_made_in(value: Any, module: ModuleType) -> bool:
    """Say whether a module defines a class or a function, or holds an instance to be used as one.

    That is a function with `@gem.tool` above it, or a policy of a class defined there or elsewhere.
    """
    if hasattr(value, "__qualname__"):
        return getattr(value, "__module__", None) == module.__name__
    return callable(value) or type(value).__module__ == module.__name__


def target_of(named: Any) -> str:
    """Return the target of a class, a function or an instance: of the last, that of its class.

    A string is a target already. What no import finds has one too, as `__main__:<lambda>`.

    Of a private module's class or function it is the path by which a package above shows it, if
    one does: what is on record goes on being found when the module moves.

    >>> target_of(Requirement)
    'packaging.requirements:Requirement'
    """
    if isinstance(named, str):
        return named
    owner = named if hasattr(named, "__qualname__") else type(named)
    return f"{path_of(owner.__module__) or _shown_by(owner)}:{owner.__qualname__}"


def _shown_by(owner: Any) -> str:
    """Return the module to name a class or a function by: its own, or the package that shows it."""
    module: str = owner.__module__
    if not re.search(r"\b_[a-z]", module):
        return module
    name = owner.__qualname__
    parts = module.split(".")
    for length in range(len(parts) - 1, 0, -1):
        package = sys.modules.get(".".join(parts[:length]))
        # Not the name alone: a package may show another thing by the same one.
        if name in getattr(package, "__all__", ()) and getattr(package, name) is owner:
            return ".".join(parts[:length])
    return module
