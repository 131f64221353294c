"""A tracker whose `begin` fails at first makes one run, by modules that stand in for its own."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gem_eval.tracking.to_trackio import TrackioTracker
from gem_eval.tracking.to_wandb import WandbTracker
from gem_eval.tracking.tracker import Tracker


@pytest.mark.parametrize(
    ("module", "kind", "key"), [("wandb", WandbTracker, "id"), ("trackio", TrackioTracker, "name")]
)
def test_a_run_that_was_refused_at_first_keeps_its_id(
    monkeypatch: pytest.MonkeyPatch, module: str, kind: type[Tracker], key: str
) -> None:
    asked: list[str] = []

    def init(*_: object, **options: Any) -> SimpleNamespace:
        asked.append(options[key])
        if len(asked) < 3:
            raise ConnectionError("refused")
        return SimpleNamespace(id=options[key], name=options[key])

    stand_in: Any = ModuleType(module)
    stand_in.init = init
    stand_in.Settings = dict
    monkeypatch.setitem(sys.modules, module, stand_in)
    tracker = kind()
    for _ in range(2):
        with pytest.raises(ConnectionError):
            tracker.begin("run", {}, None)

    run_id = tracker.begin("run", {}, None)

    assert asked == [run_id] * 3
