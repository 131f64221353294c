"""Say whether an adapter's contract was last passed by the code that is here.

`python content.py trl` ends with 0 where it was, with 1 where it has to run again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORE = ROOT / "gem-core" / "src" / "gem"
ADAPTERS = HERE.parent / "src" / "gem_integrations"


def content(name: str) -> Iterator[Path]:
    """Yield the files that a contract is about: if one changes, it has to run again."""
    yield from sorted((CORE / "tokens").glob("*.py"))
    yield from (CORE / each for each in ("episode.py", "player.py", "rollouts.py"))
    yield from (ADAPTERS / each for each in ("episodes.py", "frameworks.py", "stepping.py"))
    yield from sorted(ADAPTERS.glob(f"{name}*.py"))
    yield ADAPTERS / "recorded" / f"{name}.json"
    yield from (HERE / each for each in ("conftest.py", "harness.py"))
    yield from sorted(each for each in (HERE / name).iterdir() if each.suffix in (".py", ".txt"))


def content_hash(name: str) -> str:
    """Return the SHA-256 of those files, their names included."""
    found = hashlib.sha256()
    for path in content(name):
        found.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def is_current(name: str) -> bool:
    """Whether the committed result was written by this content."""
    path = HERE / name / "result.json"
    if not path.is_file():
        return False
    return bool(json.loads(path.read_text(encoding="utf-8"))["content"] == content_hash(name))


if __name__ == "__main__":
    sys.exit(not is_current(sys.argv[1]))
