from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from gem.data import Misfit, load_table
from gem.errors import DataError
from gem_envs_math.rows import FIGURES, PROBLEMS


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        *((18, "18"), (-18, "-18"), (18.0, "18.0"), (0.5, "0.5"), (Decimal("1.50"), "1.50")),
        *(("1,234", "1,234"), (" 18 ", "18"), ("1/2", "1/2"), (["18"], "18")),
        ("He has 9 + 9 = <<9+9=18>>18.\n#### 18", "18"),
    ],
)
def test_answers_are_numbers_or_texts_of_numbers(answer: object, text: str) -> None:
    assert PROBLEMS["number"].read({"question": "?", "answer": answer}) == ("?", text, ())


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        (r"\frac{\pi}{2}", r"\frac{\pi}{2}"),
        ("east", "east"),
        (["2x"], "2x"),
        (r"Thus \boxed{x^2}.", "x^2"),
        (7, "7"),
    ],
)
def test_any_answer_is_kept_as_it_is_written(answer: object, gold: str) -> None:
    assert PROBLEMS["math"].read({"question": "?", "answer": answer}) == ("?", gold, ())


@pytest.mark.parametrize("answer", [None, "", " ", "}", "{", "a}{b", True, ["a", "b"], {"a": 1}])
def test_an_answer_that_no_box_can_hold_is_refused(answer: object) -> None:
    with pytest.raises(Misfit, match="'answer'"):
        PROBLEMS["math"].read({"question": "?", "answer": answer})


@pytest.mark.parametrize("answer", ["nan", "NaN", "#### nan", "<NA>", "NaT"])
def test_what_a_table_writes_for_no_answer_is_none(answer: str) -> None:
    with pytest.raises(Misfit, match="must be an answer"):
        PROBLEMS["math"].read({"question": "?", "answer": answer})


@pytest.mark.parametrize("images", [None, [], [None], ["a.png", None]])
def test_a_question_about_no_image_is_refused(images: object) -> None:
    with pytest.raises(Misfit, match="'images'"):
        FIGURES["math"].read({"question": "?", "answer": "1", "images": images})


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"question": "?", "answer": None}, "answer"),
        ({"question": "?", "answer": True}, "answer"),
        ({"question": "?", "answer": ["18", "19"]}, "answer"),
        ({"question": "?", "answer": []}, "answer"),
        ({"question": "?", "answer": ""}, "answer"),
        ({"question": "?", "answer": "eighteen"}, "answer"),
        ({"question": "?", "answer": "18 #### "}, "answer"),
        ({"question": "?", "answer": float("nan")}, "answer"),
        ({"question": "?", "answer": 10**300}, "answer"),
        ({"question": None, "answer": 18}, "question"),
        ({"question": 7, "answer": 18}, "question"),
        ({"question": " ", "answer": 18}, "question"),
        ({"question": "\ud800", "answer": 18}, "question"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_its_field(row: Any, field: str) -> None:
    with pytest.raises(Misfit) as caught:
        PROBLEMS["number"].read(row)
    assert caught.value.field == field


def test_a_row_that_does_not_fit_is_named_by_its_number() -> None:
    rows = [{"question": "1 + 1?", "answer": 2}, {"question": "1 + 2?", "answer": "three"}]
    with pytest.raises(DataError, match=r"row 2: the field 'answer' is 'three'.* a number"):
        load_table(PROBLEMS["number"], data=rows)
