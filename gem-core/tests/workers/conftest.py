"""What the tests of worker processes share."""

from __future__ import annotations

from pathlib import Path

import pytest

import gem


@pytest.fixture(autouse=True)
def _troubled_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    for name in (
        "Walk",
        "Slow",
        "Kin",
        "Unsaved",
        "Wandering",
        "BadCloser",
        "StuckCloser",
        "ReplayHarm",
        "NoMemory",
        "Unnamed",
        "Tasks",
        "Refusing",
        "Once",
        "Huge",
        "Odd",
        "Helpless",
    ):
        gem.register(f"trouble:{name}", f"troubled:{name}")
