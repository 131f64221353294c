"""Puzzles are judged by their rules: any right answer earns, and what is near one does not."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import gem
from gem_envs_reasoning.answers import answer_in, tagged
from gem_envs_reasoning.puzzles import captured, fewest_presses, fills, pressed
from gem_envs_reasoning.verdicts import judge

pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")


def scored(name: str, text: str, question: str = "", *, answer: str = "", **metadata: Any) -> float:
    """Return the score of a text by our own scorer."""
    entry = {"question": question, "answer": answer, "metadata": metadata}
    return judge(name, text, entry, "1", lambda *_: 0.0).score


BOARD = [list(row) for row in ("XXO..", "OOX.X", ".X.XO", "....X", ".....")]
"""Black takes two stones at A3, and one at D5."""


def test_stones_are_taken_that_have_one_liberty_left() -> None:
    assert captured(BOARD) == {(2, 0): 2, (0, 3): 1}
    assert captured(["O.", ".."]) == {}
    assert captured(["OX", ".."]) == {(1, 0): 1}
    assert captured(["O.O", "XOX", ".X."]) == {(0, 1): 3}


def test_any_move_that_takes_stones_earns_and_as_many_as_can_be_where_asked() -> None:
    some = "Black moves next - can you capture some of the white stones?"
    many = "Playing as Black, how can you capture as many white stones as possible?"

    assert [scored("tsumego", move, some, board=BOARD) for move in ("A3", "d5", "B3")] == [
        1,
        1,
        0.05,
    ]
    assert [scored("tsumego", move, many, board=BOARD) for move in ("a3", "D5", "E1")] == [
        *(1, 0.05, 0.05)
    ]
    for odd in ("A33", "Z9", "A0", "3A", "A3 or D5", "", "A\u0663", "T5", "A"):
        assert scored("tsumego", odd, some, board=BOARD) < 0.1


@pytest.mark.parametrize("seed", range(60))
def test_the_move_on_record_takes_white_stones(seed: int) -> None:
    with gem.make("rg:tsumego") as env:
        question = str(env.reset(seed=seed)[0])
        move = str(answer_in(str(env.solve())))
    lines = question.split("```")[1].strip("\n").splitlines()
    board = [line.split()[1:] for line in lines[1:]]
    place = (len(board) - int(move[1:]), ord(move[0]) - ord("A"))
    assert place in captured(board)


LOCK: Mapping[str, Any] = {
    "buttons": [
        {"name": "A", "type": "add", "value": 1, "active_state": "green"},
        {"name": "B", "type": "multiply", "value": 2, "active_state": "red"},
        {"name": "C", "type": "subtract", "value": 1, "active_state": "any"},
    ],
    "initial_state": "red",
    "initial_value": 0,
    "target_value": 8,
    "solution_path": list("BABABCBCC"),
}


def test_a_button_that_does_nothing_still_toggles_the_light() -> None:
    assert pressed(LOCK, "AA") == 1
    assert fewest_presses(LOCK, at_most=9) == 7
    assert fewest_presses(LOCK, at_most=6) is None


def test_the_fewest_presses_earn_all_and_more_a_half() -> None:
    shortest = next(
        "".join(buttons)
        for buttons in itertools.product("ABC", repeat=7)
        if pressed(LOCK, buttons) == 8
    )

    assert scored("quantum_lock", " → ".join(shortest), **LOCK) == 1.0
    assert scored("quantum_lock", "B → A → B → A → B → C → B → C → C", **LOCK) == 0.5
    assert scored("quantum_lock", "B → A", **LOCK) == 0.0


PUZZLE = [
    *([0, 0, 2, 6, 13], [7, 7, 9, 5, 28], [5, 0, 2, 6, 19]),
    *([0, 0, 1, 2, 12], [19, 20, 14, 19, 72]),
]
NUMBERS = [3, 4, 1, 6, 6]


def test_every_grid_that_fits_is_right() -> None:
    places = [(0, 0), (0, 1), (2, 1), (3, 0), (3, 1)]
    fitting = set()
    for numbers in itertools.permutations(NUMBERS):
        grid = [list(row) for row in PUZZLE]
        for (row, column), number in zip(places, numbers, strict=True):
            grid[row][column] = number
        text = "\n".join(" ".join(map(str, row)) for row in grid)
        score = scored("survo", text, puzzle=PUZZLE, candidate_numbers=NUMBERS)
        assert score == float(fills(grid, PUZZLE, NUMBERS))
        if score == 1.0:
            fitting.add(text)

    assert len(fitting) == 2


def test_a_grid_that_keeps_no_rule_is_wrong() -> None:
    puzzle = [[1, 0, 3], [0, 1, 4], [4, 3, 7]]

    assert fills([[1, 2, 3], [3, 1, 4], [4, 3, 7]], puzzle, [2, 3])
    assert not fills([[1, 2, 3], [3, 1, 4], [4, 3, 7]], puzzle, [2, 4])
    assert not fills([[2, 1, 3], [2, 2, 4], [4, 3, 7]], puzzle, [1, 2])
    assert not fills([[1, 2, 3], [3, 1, 4]], puzzle, [2, 3])
    assert not fills([], puzzle, [2, 3])
    assert not fills([[1, 2, 3], [3, 1, 5], [4, 3, 7]], puzzle, [2, 3])


@pytest.mark.parametrize("level", [None, 0, 1, 2, 3])
def test_no_other_number_than_the_one_asked_for_is_picked(level: int | None) -> None:
    for seed in range(8):
        with gem.make("rg:number_format", level=level) as env:
            question = str(env.reset(seed=seed)[0])
            known = Fraction(str(answer_in(str(env.solve()))))
            texts = re.findall(r"\d\S*", question.split("candidates: ")[1].splitlines()[0])
            for text in texts:
                is_known = abs(Fraction(text.replace(",", "")) - known) < Fraction(1, 2000)
                with env.fork() as twin:
                    assert twin.step(tagged(text)).info["success"] == is_known, (text, known)


def test_a_candidate_a_thousandth_away_is_another() -> None:
    assert scored("number_format", "1,234.567", solution=1234.567) == 1.0
    assert scored("number_format", "1.234567e3", solution=1234.567) == 1.0
    for other in ("1234.568", "1234.57", "1234.566", "1234", "zzz", "nan", ""):
        assert scored("number_format", other, solution=1234.567) == 0.0


def test_a_decimal_is_right_to_six_digits() -> None:
    for right in ("0.06549790636", "0.0654979064", "6.549790636e-2", "0.06549791"):
        assert scored("decimal_arithmetic", right, answer="0.06549790636") == 1.0
    for wrong in ("0.0655", "0.0659790636", "0.0649790636", "-0.06549790636", "0", "", "1e999999"):
        assert scored("decimal_arithmetic", wrong, answer="0.06549790636") == 0.0
    assert scored("decimal_arithmetic", "0.0003", answer="0.0004") == 0.0
    assert scored("decimal_arithmetic", "0.0", answer=str(Decimal(0))) == 1.0


def test_sorted_numbers_are_those_that_were_given() -> None:
    known = "['18.0', '15.6', '-9.5']"
    for right in (
        known,
        '["18.0", "15.6", "-9.5"]',
        "[18, 15.60, -9.5]",
        "['18.', '+15.6', '-9.5']",
    ):
        assert scored("number_sorting", right, answer=known) == 1.0, right
    for wrong in (
        *("['18', '15', '-9']", "['18.0', '15.7', '-9.5']", "['15.6', '18.0', '-9.5']", "[]", "{}"),
        *("['18.0', '15.6']", "['18.0', '15.6', '-9.5', '-9.5']", "18.0, 15.6, -9.5", "[[18.0]]"),
        *("[true, 15.6, -9.5]", "['18.0', '15.6', '\u0669.5']", "[18.0, 15.6, 1e999999999]", ""),
        *("[18.0, 15.6, NaN]", "[" * 1_900, "[" + "9" * 1_900 + "]", "['18_0', '15.6', '-9.5']"),
    ):
        assert scored("number_sorting", wrong, answer=known) == 0.0, wrong
