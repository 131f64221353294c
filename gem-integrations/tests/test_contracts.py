"""The committed results of the contracts: of every adapter, and of the same episodes in all."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gem_integrations.frameworks import FRAMEWORKS, recorded

CONTRACTS = Path(__file__).parents[1] / "contracts"
names = pytest.mark.parametrize("name", sorted(FRAMEWORKS))


def module(name: str) -> ModuleType:
    """Import one of the files that stand beside the contracts, as those do."""
    spec = importlib.util.spec_from_file_location(name, CONTRACTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def result(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CONTRACTS / name / "result.json").read_text())
    return found


@names
def test_a_result_says_how_much_was_compared_and_with_what(name: str) -> None:
    found = result(name)

    assert (found["framework"], found["version"]) == (name, recorded(name)["recorded_from"])
    assert all(found["asserted"][each] > 0 for each in ("tests", "episodes", "tokens", "rewards"))


def test_the_same_episodes_are_the_same_tokens_through_every_adapter() -> None:
    pytest.importorskip("transformers")
    harness = module("harness")
    tokenizer = harness.chat_tokenizer()
    rows = [harness.whole(harness.expected(tokenizer, seed)) for seed in harness.SEEDS]

    assert {name: result(name)["trajectories"] for name in FRAMEWORKS} == dict.fromkeys(
        FRAMEWORKS, harness.digest(rows)
    )
