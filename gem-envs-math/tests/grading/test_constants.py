"""An answer that says nothing earns nothing, whatever was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gem_envs_math.grading import decide, verify

FOLDER = Path(__file__).parent
NOTHING = json.loads((FOLDER / "constants.json").read_text("utf-8"))["nothing"]


def golds() -> list[str]:
    paths = sorted((FOLDER / "cases").glob("*.jsonl"))
    lines = (line for path in paths for line in path.read_text("utf-8").splitlines())
    return list(dict.fromkeys(json.loads(line)["gold"] for line in lines))


@pytest.mark.slow
@pytest.mark.parametrize("answer", NOTHING)
def test_an_answer_that_says_nothing_earns_no_gold_but_itself(answer: str) -> None:
    pytest.importorskip("math_verify", reason="the extra `verify` is not installed")
    pairs = [(answer, gold) for gold in golds() if gold != answer]
    earned = [pair for pair in pairs if (decide(*pair) or verify(*pair)).outcome == "right"]
    assert earned == []
