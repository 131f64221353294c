"""Which files of Python and of its packages a program may see. Knows nothing about jails.

A program sees the standard library and the packages that were named, and not the rest of what is
installed: that may hold the answers which the program is to find.
"""

from __future__ import annotations

import importlib.metadata
import re
import site
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["DEFAULT_PACKAGES", "installed_files", "installed_folders"]

DEFAULT_PACKAGES = ("numpy", "sympy", "scipy", "pandas")


def installed_files(names: Iterable[str]) -> dict[str, Path]:
    """Return the top-level files and folders of these distributions and of all that they need.

    Those that are not installed are left out. Keys are names within a folder of packages.
    """
    paths: dict[str, Path] = {}
    for distribution in _closure(names):
        for file in distribution.files or ():
            top = file.parts[0]
            if top not in ("..", "__pycache__") and top not in paths:
                path = Path(str(distribution.locate_file(top)))
                if path.exists() and path.suffix != ".pth":
                    paths[top] = path.resolve()
    return paths


def _closure(names: Iterable[str]) -> Iterator[importlib.metadata.Distribution]:
    waiting = list(names)
    visited = set()
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in visited:
            continue
        visited.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        waiting += _needs(distribution)
        yield distribution


def _needs(distribution: importlib.metadata.Distribution) -> Iterator[str]:
    """Return the names that it requires; one that only another platform needs does no harm."""
    for text in distribution.requires or ():
        name = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", text)
        if name is not None and not re.search(r";.*\bextra\b", text):
            yield name[0]


def installed_folders() -> list[Path]:
    """Return the folders in which the interpreter itself looks for packages."""
    folders = [Path(folder) for folder in site.getsitepackages([sys.base_prefix])]
    folders += Path("/usr/lib").glob("python3*/dist-packages")
    return sorted({folder for folder in folders if folder.is_dir()})
