"""What a training wrote into its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def lines(folder: Path, name: str = "metrics") -> list[dict[str, Any]]:
    text = (folder / f"{name}.jsonl").read_text(encoding="ascii")
    return [json.loads(line) for line in text.splitlines()]


def texts(folder: Path) -> list[bytes]:
    """What two trainings of one experiment have in common, byte for byte."""
    return [(folder / f"{name}.jsonl").read_bytes() for name in ("metrics", "evaluations")]
