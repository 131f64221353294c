r"""Which golds can be graded, and what decides their answers."""

from __future__ import annotations

import json

import pytest

from gem.cli._main import main
from gem.data import check_golds, load_table
from gem_envs_math.grading.golds import standing
from gem_envs_math.rows import PROBLEMS


@pytest.mark.parametrize(
    "gold",
    [
        *("0", "-3", "1,234", r"\frac{1}{2}", r"2\sqrt{3}", "x^2+1", "(1,2)", "x=5", "x>1"),
        *(r"15\text{ cm}^2", "$17$", "$x=1$ or $x=2$", r"\begin{pmatrix}1\\2\end{pmatrix}", "1=0"),
    ],
)
def test_mathematics_is_decided_by_rules(gold: str) -> None:
    assert standing(gold) == ("rules", "")


@pytest.mark.parametrize("gold", [r"\text{Evelyn}", "see the solution", r"\text{does not exist}"])
def test_words_are_decided_as_words(gold: str) -> None:
    assert standing(gold) == ("words", "")


def test_what_only_math_verify_evaluates_is_left_to_it() -> None:
    assert standing(r"\sum_{i=1}^{n} i") == ("math-verify", "")


@pytest.mark.parametrize(
    ("gold", "trouble"),
    [
        ("1/0", "it is undefined"),
        ("9^{9^{9^9}}", "too large"),
        ("(" * 60 + "1" + ")" * 60, "nested too deeply"),
        ("1+" * 1_000 + "x", "more than 2,000 characters"),
        ("?", "nothing in it is an answer"),
        ("4\u200b2", "characters that are not seen"),
    ],
)
def test_what_nothing_can_be_compared_with_says_why(gold: str, trouble: str) -> None:
    found = standing(gold)
    assert found.by == "nothing"
    assert trouble in found.trouble


@pytest.mark.parametrize(
    "gold", ["(a) $3$ (b) $4$", r"(a) \(3\) (b) \(4\)", r"$x$ \nabla $y$ \nabla $z$"]
)
def test_prose_of_which_a_formula_may_not_count_cannot_be_graded(gold: str) -> None:
    assert standing(gold).by == "nothing"


def test_a_gold_of_a_megabyte_takes_no_longer() -> None:
    for gold in (
        "$x$" * 300_000,
        "$" * 1_000_000,
        "(" * 1_000_000,
        r"\(" * 500_000,
        "word " * 200_000,
    ):
        assert standing(gold).by == "nothing"


def test_a_table_says_how_its_rows_are_graded() -> None:
    rows = [{"question": "?", "answer": gold} for gold in ("2", "1/0", r"\text{east}", "3")]

    golds = check_golds(load_table(PROBLEMS["math"], data=rows))

    assert list(golds.by.values()) == [2, 1, 1]
    assert [(row.task, row.gold) for row in golds.ungradable] == [(1, "1/0")]
    numbers = load_table(PROBLEMS["number"], data=rows[:1])
    assert check_golds(numbers).by == {"its number": 1}


@pytest.mark.usefixtures("math_verify")  # eval:MATH500 needs it
def test_the_command_lists_what_cannot_be_graded(capsys: pytest.CaptureFixture[str]) -> None:
    data = [{"problem": "?", "answer": "1/0"}, {"problem": "?", "answer": "7"}]
    kwargs = json.dumps({"data": data})

    assert main(["data", "eval:MATH500", "--env-kwargs", kwargs, "--golds"]) == 1

    shown = capsys.readouterr().out
    assert "1/0: it is undefined" in shown
    assert "by the rules of docs/grading.md  1" in shown
