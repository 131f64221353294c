"""The answers that every package is given in the cheap game."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.execution_parts.side import ROOT

GAME = "game:GuessTheNumber-v0-hard"
WELL_FORMED = re.compile(r"\\boxed\{\d+\}")


def recorded_actions(*, is_all: bool) -> list[str]:
    """Return answers as `benchmarks/games.py` gives them, or the well-formed ones among them.

    The others, 2 in 100, end their episode.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "actions.json"
        script = ROOT / "benchmarks" / "game_parts" / "actions.py"
        subprocess.run([sys.executable, str(script), str(file)], check=True)
        actions: list[str] = json.loads(file.read_text(encoding="utf-8"))[GAME]
    return [action for action in actions if is_all or WELL_FORMED.fullmatch(action)]
