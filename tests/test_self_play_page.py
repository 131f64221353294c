"""The page docs/self-play.md says what the results say, and the rule judges as the page has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks import self_play

from gem.conversation import Request
from gem.parsing import boxed
from gem_baselines.tabular import TabularPolicy

ROOT = Path(__file__).parents[1]
ROWS = json.loads(self_play.RESULTS.read_text())


def course(*looks: tuple[float, float], **changes: Any) -> dict[str, Any]:
    """Return a training with a look each 60 updates: what the best opponent earns, both ways."""
    seen = [
        {"update": 60 * place, "best_drawn": drawn, "best_greedy": greedy}
        for place, (drawn, greedy) in enumerate(looks, start=1)
    ]
    return {"arm": "alone", "updates": 60 * len(looks), "looks": seen, **changes}


def test_the_tables_of_the_page_are_those_of_the_results() -> None:
    page = (ROOT / "docs" / "self-play.md").read_text()

    assert self_play.page_tables(ROWS) in page


def test_a_training_needs_as_long_as_its_most_probable_actions_can_be_beaten() -> None:
    row = course((0.5, 0.5), (0.3, 0.0), (0.2, 0.0))

    assert self_play.need_of(row) == 120
    assert not self_play.is_long_enough(row)


def test_a_training_degrades_where_it_falls_in_both_ways() -> None:
    row = course((0.2, 0.0), (0.2, 0.0), (0.3, 0.5))

    assert self_play.is_long_enough(row)
    assert self_play.fall_of(row) == pytest.approx({"drawn": 0.1, "greedy": 0.5})
    assert self_play.has_degraded(row)


def test_a_training_that_falls_in_one_way_alone_has_not_degraded() -> None:
    assert not self_play.has_degraded(course((0.2, 0.0), (0.2, 0.0), (0.2, 0.5)))
    assert not self_play.has_degraded(course((0.2, 0.0), (0.2, 0.0), (0.9, 0.0)))


def test_the_end_is_the_mean_over_the_last_third() -> None:
    row = course((0.2, 0.0), *[(0.2, 0.0)] * 3, (0.4, 0.5), (0.2, 0.0))

    assert self_play.late_of(row) == pytest.approx({"drawn": 0.3, "greedy": 0.25})


def test_the_end_is_of_the_copy_that_would_have_been_kept() -> None:
    row = course((0.2, 0.0), (0.2, 0.0), (0.9, 1.0))
    row["looks"][-1]["kept"] = {"best_drawn": 0.2, "best_greedy": 0.0}

    assert not self_play.has_degraded(row)


def test_what_was_never_learnt_cannot_degrade() -> None:
    row = course((0.2, 0.5), (0.2, 0.5), (0.9, 1.0))

    assert self_play.need_of(row) is None
    assert not self_play.has_degraded(row)


class Perfect:
    """Plays the first of the moves that are worth most."""

    is_greedy = False

    def probabilities(self, request: Request) -> dict[str, float]:
        board = "".join(request.messages[-1].text.split())
        marks = "".join("." if mark.isdigit() else mark for mark in board)
        return {boxed(self_play._best_moves()[marks][0]): 1.0}

    def __call__(self, request: Request) -> str:
        return next(iter(self.probabilities(request)))


def test_nobody_beats_perfect_play() -> None:
    policy: Any = Perfect()

    assert set(self_play.tic_tac_toe_figures(policy).values()) == {0.0}


def test_a_policy_that_knows_nothing_is_beaten() -> None:
    policy = TabularPolicy(view="tic_tac_toe", actions=[boxed(str(cell)) for cell in range(9)])

    figures = self_play.tic_tac_toe_figures(policy)

    # Who plays the first free cell loses every game to one that knows it.
    assert figures["best_greedy"] == 1.0
    assert 0.9 < figures["best_drawn"] < 1.0
    # Perfect play does not know it, and draws some of the games.
    assert figures["share_drawn"] < figures["best_drawn"]
