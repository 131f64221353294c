"""What the tests of worker processes share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import gem
from gem.hosting._processes import ProcessHost


@pytest.fixture(autouse=True)
def _troubled_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    for name in (
        "Walk",
        "Slow",
        "Talking",
        "Kin",
        "Misstated",
        "Unsaved",
        "Wandering",
        "BadCloser",
        "StuckCloser",
        "HangingCloser",
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


@pytest.fixture
def pool() -> Iterator[ProcessHost]:
    with ProcessHost(2, start_method="fork") as pool:
        yield pool
