"""What a run of a contract did, and the result that it may write.

A result says that the whole contract passed, with the code that is in the checkout. A run that
does not show that writes nothing, and says why. Knows nothing about pytest or any framework.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from content import ROOT, digest, own
from packaging.requirements import Requirement

_SITE = "/site-packages/"


@dataclass
class Run:
    """What is known of a run by its end.

    `passed` counts tests by file, `not_passed` names tests that failed or were skipped, and
    `chosen` says in what way whoever ran it left something out.
    """

    name: str
    folder: Path
    shown: Counter[str] = field(default_factory=Counter)
    trajectories: list[str] = field(default_factory=list)
    passed: Counter[str] = field(default_factory=Counter)
    not_passed: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)

    def choices(self) -> Iterator[str]:
        """Yield what makes this a run of a part, by the choice of whoever ran it."""
        yield from self.chosen
        for path in sorted(self.folder.glob("test_*.py")):
            if path.name not in self.passed and not self._touches(path.name):
                yield f"nothing of {path.name} was run"

    def _touches(self, file: str) -> bool:
        return any(f"{file}::" in each for each in self.not_passed)

    def faults(self) -> Iterator[str]:
        """Yield what did not go as it should have."""
        yield from (f"{each} did not pass" for each in self.not_passed)
        if not self.trajectories:
            yield "no test gave the episodes that all adapters play alike"


def ours(root: Path = ROOT) -> dict[str, str]:
    """Return where in the checkout the sources of each of our packages lie."""
    return {
        each.name: each.parent.relative_to(root).as_posix()
        for each in root.glob("gem-*/src/gem*")
        if each.is_dir()
    }


def source(path: str, packages: Mapping[str, str], root: Path = ROOT) -> str | None:
    """Return the file in the checkout that a file which was read should be a copy of."""
    _, is_installed, inside = path.rpartition(_SITE)
    if is_installed:
        package = inside.partition("/")[0]
        return f"{packages[package]}/{inside}" if package in packages else None
    file = Path(path)
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else None


def files_read(reads: Path, name: str, root: Path = ROOT) -> tuple[dict[str, str], list[str]]:
    """Return the digest of each file that the run read of ours, and what is wrong with them.

    The contract's own files and the metadata of our distributions are among them, read or not.
    """
    packages = ours(root)
    found: dict[str, str] = {}
    faults: list[str] = []
    for line in sorted(
        {line for each in reads.iterdir() for line in each.read_text().splitlines()}
    ):
        known, _, path = line.partition(" ")
        at = source(path, packages, root)
        if at is None or at.endswith("/result.json"):
            continue
        found.setdefault(at, known)
        if known != found[at]:
            faults.append(f"{at} was read in two versions")
    distributions = {each.partition("/")[0] for each in found if "/src/" in each}
    for at in [*own(name, root), *(f"{each}/pyproject.toml" for each in distributions)]:
        found.setdefault(at, digest(root / at))
    for at, known in found.items():
        if not (root / at).is_file() or digest(root / at) != known:
            faults.append(f"{at} is not what was read: install the checkout, and leave it alone")
    faults += unseen(found, packages, root)
    return dict(sorted(found.items())), faults


def unseen(found: Iterable[str], packages: Mapping[str, str], root: Path) -> Iterator[str]:
    """Yield the modules of ours in this process that nobody saw being read, or that are foreign."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] not in packages or file is None:
            continue
        at = source(file, packages, root)
        if at is None:
            yield f"{name} was imported from {file}, which is not of this checkout"
        elif at not in found:
            yield f"{name} was imported, and nothing saw it being read"


def checkout_faults(checkout: Path, module: str, known_commit: str) -> Iterator[str]:
    """Yield why a framework's checkout is not the commit whose signatures are recorded."""
    commit = commit_of(checkout)
    if commit != known_commit:
        yield (
            f"the checkout is at {commit}, and the signatures are of {known_commit}: check that "
            "out, or run with --record"
        )
    asked = ["status", "--porcelain", "--", ".", ":(exclude,glob)**/__pycache__/**"]
    changed = _git(checkout, *asked).splitlines()
    if changed:
        yield (
            f"files of the checkout are not as committed ({len(changed)}, of them "
            f"{', '.join(each[3:] for each in changed[:3])}): commit or remove them"
        )
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is not None and not Path(file).resolve().is_relative_to(checkout.resolve()):
        yield f"{module} was imported from {file}, and not from the checkout"


def commit_of(checkout: Path) -> str:
    """Return the first 12 digits of the commit that is checked out."""
    return _git(checkout, "rev-parse", "--short=12", "HEAD").strip()


def _git(checkout: Path, *asked: str) -> str:
    command = ["git", "-C", str(checkout), *asked]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def resolved(folder: Path) -> dict[str, str]:
    """Return the version here of each distribution that the contract's requirements name."""
    lines = [
        line
        for name in ("requirements.txt", "unresolved.txt")
        if (folder / name).is_file()
        for line in (folder / name).read_text(encoding="utf-8").splitlines()
    ]
    stated = [line.partition(" #")[0] for line in lines if line and line[0] not in "#.-"]
    names = [Requirement(line).name for line in stated]
    return {each: importlib.metadata.version(each) for each in sorted(names, key=str.lower)}


def write(run: Run, files: Mapping[str, str], version: str, **more: Any) -> None:
    """Write the result of a run that showed all of its contract."""
    result = {
        "framework": run.name,
        "version": version,
        "python": platform.python_version(),
        "resolved": resolved(run.folder),
        **more,
        "trajectories": run.trajectories[-1],
        "selection": dict(sorted(run.passed.items())),
        "asserted": dict(sorted({**run.shown, "tests": run.passed.total()}.items())),
        "files": files,
    }
    path = run.folder / "result.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
