"""Say whether a distribution last passed alone as it is here: what `nox -s isolation` goes by.

Whether it passes depends on its sources and tests, on the sources of those of ours that it is
installed with, and on what says how they are installed and run. `tools/isolated` keeps a digest of
all that for each distribution, which a run that passes writes. All its tests but those that need
torch run in `nox -s tests` in any case. It needs nothing but Python.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["content", "record", "recorded"]

ROOT = Path(__file__).resolve().parents[1]
COMMON = ("conftest.py", "constraints.txt", "pyproject.toml")


def content(name: str, others: Iterable[str], how: str, root: Path = ROOT) -> str:
    """Return the version of Python and a digest of what decides whether a distribution passes.

    `others` are the distributions of ours that it is installed with, and `how` says how it is
    installed and run.
    """
    found = hashlib.sha256(how.encode())
    for path in _files(name, others, root):
        found.update(f"{path.relative_to(root).as_posix()}\0".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{sys.version_info[0]}.{sys.version_info[1]} {found.hexdigest()[:32]}"


def recorded(name: str, root: Path = ROOT) -> str | None:
    """Return the content with which it last passed alone; None where it never did."""
    path = _record(name, root)
    return path.read_text(encoding="utf-8").strip() if path.is_file() else None


def record(name: str, passed: str, root: Path = ROOT) -> None:
    """Write the content with which it passed alone: that of before its run, not of after."""
    path = _record(name, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(passed + "\n", encoding="utf-8")


def _record(name: str, root: Path) -> Path:
    return root / "tools" / "isolated" / f"{name}.txt"


def _files(name: str, others: Iterable[str], root: Path) -> Iterator[Path]:
    yield from (root / each for each in COMMON)
    for each in sorted({name, *others}):
        yield root / each / "pyproject.toml"
        yield from _below(root / each / "src")
    yield from _below(root / name / "tests")


def _below(folder: Path) -> list[Path]:
    """Return the files of a folder, without what Python keeps of them."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in files if "__pycache__" not in path.parts)
