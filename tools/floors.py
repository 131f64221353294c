"""Write pip constraints that pin every dependency of ours to its floor.

`python tools/floors.py FILE` turns each `numpy>=1.26` into `numpy==1.26`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]


def requirements() -> Iterator[Requirement]:
    """Yield what the distributions depend on, extras included, and each other left out."""
    projects = [tomllib.loads(p.read_text())["project"] for p in ROOT.glob("*/pyproject.toml")]
    ours = {project["name"] for project in projects}
    for project in projects:
        extras = project.get("optional-dependencies", {}).values()
        for line in [*project["dependencies"], *(line for extra in extras for line in extra)]:
            if (requirement := Requirement(line)).name not in ours:
                yield requirement


def floor(requirement: Requirement) -> str:
    """Turn one requirement into the constraint that pins its lower bound.

    >>> floor(Requirement("tomli>=2.0.1,<3; python_version < '3.11'"))
    'tomli==2.0.1; python_version < "3.11"'
    """
    [version] = [bound.version for bound in requirement.specifier if bound.operator in (">=", "==")]
    marker = f"; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}=={version}{marker}"


if __name__ == "__main__":
    floors = sorted({floor(requirement) for requirement in requirements()})
    Path(sys.argv[1]).write_text("\n".join(floors) + "\n")
