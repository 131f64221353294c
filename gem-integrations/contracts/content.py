"""Say whether an adapter's contract was last passed by the code that is here.

`python content.py trl` ends with 0 where it was, and with 1 where it has to run again, saying why;
without a name it looks at all of them. It needs nothing but Python: a result lists the files that
the run read of ours, with a digest of each as it was installed, and a wheel of ours holds its
sources unchanged.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = ROOT / "gem-integrations" / "contracts"
MOST_TOLD = 3
"""Differences that the command line tells, of each result."""


def digest(path: Path) -> str:
    """Return the first 64 bits of a file's SHA-256, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def own(name: str, root: Path = ROOT) -> Iterator[str]:
    """Yield the contract's own files, relative to the checkout, in order.

    Those count whether the run read them or not: a test that is new was never run.
    """
    ours = root / "gem-integrations"
    contracts = ours / "contracts"
    shared = [*contracts.glob("*.py"), *contracts.glob("watch/*.py"), contracts / "pytest.ini"]
    about = (contracts / name).rglob("*")
    files = [each for each in about if each.is_file() and "__pycache__" not in each.parts]
    signatures = ours / "src" / "gem_integrations" / "recorded" / f"{name}.json"
    found = {*shared, *files, signatures} - {contracts / name / "result.json"}
    yield from sorted(each.relative_to(root).as_posix() for each in found)


def changes(name: str, root: Path = ROOT) -> Iterator[str]:
    """Yield, in a line each, how the checkout differs from what the result was written by."""
    path = root / "gem-integrations" / "contracts" / name / "result.json"
    result = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    known = result.get("files")
    if not known:
        yield "no result lists the files that it was written by"
        return
    for each, before in known.items():
        file = root / each
        if not file.is_file():
            yield f"{each} is gone"
        elif digest(file) != before:
            yield f"{each} has changed"
    yield from (f"{each} is new" for each in own(name, root) if each not in known)


def main(*names: str) -> int:
    """Tell how results differ, all of them without names. Returns the status to end with."""
    known = sorted(each.parent.name for each in CONTRACTS.glob("*/requirements.txt"))
    unknown = set(names).difference(known)
    if unknown:
        print(f"{min(unknown)!r} is no contract. They are {', '.join(known)}.", file=sys.stderr)
        return 2
    found = {name: list(changes(name)) for name in names or known}
    for name, lines in found.items():
        for each in lines[:MOST_TOLD]:
            print(f"{name}: {each}")
        if len(lines) > MOST_TOLD:
            print(f"{name}: and {len(lines) - MOST_TOLD} more")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
