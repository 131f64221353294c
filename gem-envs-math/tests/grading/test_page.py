"""The page on grading is true: every answer in its tables has the verdict of its column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gem_envs_math.grading import decide, verify

PAGE = Path(__file__).parents[3] / "docs" / "grading.md"
CODE = re.compile(r"`([^`]+)`")


def claims(verdict: str) -> Iterator[tuple[str, str]]:
    """Return the gold and the answer of each claim in a table with columns for both verdicts."""
    column = ("right", "wrong").index(verdict) + 1
    for line in PAGE.read_text("utf-8").splitlines():
        cells = line.strip("|").split(" | ")
        gold = CODE.fullmatch(cells[0].strip())
        if gold and len(cells) > 2:
            yield from ((gold[1], answer) for answer in CODE.findall(cells[column]))


@pytest.mark.parametrize("verdict", ["right", "wrong"])
def test_every_answer_has_the_verdict_of_its_column(verdict: str) -> None:
    pytest.importorskip("math_verify", reason="the extra `verify` is not installed")
    pairs = [(answer, gold) for gold, answer in claims(verdict)]
    outcomes = {pair: (decide(*pair) or verify(*pair)).outcome for pair in pairs}
    assert len(pairs) > 40
    assert {pair for pair in pairs if outcomes[pair] != verdict} == set()
