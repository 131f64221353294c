"""How the tree is written gets no worse: the bounds go down as tools/counting.py finds less."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import counting

AT_MOST = {
    "packed assignments in all sources": 39,
    "lines of the longest file of core": 350,
    "rooms in the layers block": 22,
    "floors in the layers block": 9,
}
AT_LEAST = {"comment lines in 1,000 of core": 25}


@pytest.fixture(scope="module")
def figures() -> dict[str, float]:
    return {goal.name: goal.now for goal in counting.goals()}


@pytest.mark.parametrize("name", AT_MOST)
def test_a_figure_is_no_higher_than_it_was(figures: dict[str, float], name: str) -> None:
    assert figures[name] <= AT_MOST[name]


@pytest.mark.parametrize("name", AT_LEAST)
def test_a_figure_is_no_lower_than_it_was(figures: dict[str, float], name: str) -> None:
    assert figures[name] >= AT_LEAST[name]


def test_a_swap_is_not_packed_and_a_mark_for_a_tool_is_no_comment(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "# Why this is so.\n"
        "a, b = 1, 2\n"
        "a, b = b, a  # the other way round\n"
        "self.a, self.b = c = a, b  # noqa: E1 - a mark\n"
        "a, b = pair()\n",
        "utf-8",
    )

    code = counting.counted([file])

    assert (code.lines, code.packed, code.swaps, code.comment_lines) == (5, 2, 1, 2)
    assert code.packed_in_1000 == 400.0
