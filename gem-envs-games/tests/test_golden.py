"""Episodes kept word for word: a change of rules, texts or seeding shows here first.

After a change that is meant, write them anew, all or some families, and read the difference:

    python gem-envs-games/tests/test_golden.py --write [FAMILY ...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import gem

FILES = sorted((Path(__file__).parent / "golden").glob("*.json"))


def episodes(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def played(episode: dict[str, Any]) -> dict[str, Any]:
    """Play the episode's seed and actions afresh, and return it with what came of them."""
    env = gem.make(episode["id"], **episode["kwargs"])
    start = env.reset(seed=episode["seed"])
    steps = [env.step(action)._asdict() for action in episode["actions"]]
    given = {name: episode[name] for name in ("id", "kwargs", "seed", "actions")}
    plain: dict[str, Any] = json.loads(json.dumps({**given, "start": start, "steps": steps}))
    return plain


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_kept_episodes_play_as_they_did(file: Path) -> None:
    kept = episodes(file)

    assert len(kept) > 3
    assert [played(episode) for episode in kept] == kept


def write(families: list[str]) -> None:
    """Play the kept episodes of these families, or of all, afresh, and keep what comes of it."""
    for file in (file for file in FILES if not families or file.stem in families):
        anew = [played(episode) for episode in episodes(file)]
        file.write_text(json.dumps(anew, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit(
            "To write the golden episodes anew, pass --write, and families to write only these."
        )
    write(sys.argv[2:])
