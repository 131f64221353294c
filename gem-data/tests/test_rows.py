from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from gem.data import Misfit, RowKind, load_table
from gem.errors import BadArguments, DataError


def read(row: Mapping[str, Any]) -> tuple[str, list[str]]:
    if not isinstance(row["question"], str):
        raise Misfit("question", row["question"], "text")
    return row["question"], row["hints"]


ASKED = RowKind("riddle", read=read, needs=("question",), optional={"hints": []})


def refused(row: object, **fields: str) -> DataError:
    """Return the one-line error that a row, the second of a list, ends with."""
    good = {fields.get("question", "question"): "?"}
    with pytest.raises(DataError) as caught:
        load_table(ASKED, data=[good, row], fields=fields)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_row_has_what_its_kind_needs_and_nothing_else() -> None:
    table = load_table(ASKED, data=[{"question": "?", "hints": ["a"], "other": 1}])
    assert table[0] == ("?", ["a"])
    assert table.record(0) == {"question": "?", "hints": ["a"]}


@pytest.mark.parametrize("row", [{"question": "?"}, {"question": "?", "hints": None}])
def test_a_field_that_a_row_may_lack_has_its_default(row: dict[str, Any]) -> None:
    assert load_table(ASKED, data=[row])[0] == ("?", [])


def test_nan_is_no_value_of_a_field_that_a_row_may_lack() -> None:
    assert load_table(ASKED, data=[{"question": "?", "hints": math.nan}])[0] == ("?", [])


@pytest.mark.parametrize(
    "hints", [math.inf, [1.0, math.nan], [{"deep": (2, -math.inf)}]], ids=["alone", "list", "deep"]
)
def test_a_number_that_is_none_is_refused_by_its_field(hints: object) -> None:
    error = refused({"question": "?", "hints": hints})
    assert (error.row, error.field) == (2, "hints")


@pytest.mark.parametrize(("value", "what"), [(None, "is null"), ("", "is empty")])
def test_a_field_that_every_row_needs_has_a_value(value: object, what: str) -> None:
    kind: RowKind[Any] = RowKind("riddle", needs=("question",))
    with pytest.raises(DataError) as caught:
        load_table(kind, data=[{"text": "?"}, {"text": value}], fields={"question": "text"})
    assert f"row 2: the field 'text' {what}, and must be a value. Correct" in str(caught.value)
    assert (caught.value.row, caught.value.field) == (2, "text")


def test_a_kind_that_says_what_a_field_must_be_is_heard_first() -> None:
    assert "the field 'question' is None, and must be text" in str(refused({"question": None}))


def test_a_field_that_a_row_may_lack_may_be_empty() -> None:
    table = load_table(ASKED, data=[{"question": "?", "hints": ""}])
    assert table.record(0)["hints"] == ""


def test_a_row_that_holds_itself_is_looked_through_once() -> None:
    hints: list[Any] = ["a"]
    hints.append(hints)
    assert load_table(ASKED, data=[{"question": "?", "hints": hints}])[0] == ("?", hints)


def test_fields_are_read_under_their_own_names() -> None:
    rows = [{"problem": "?", "tips": ["a"]}]
    table = load_table(ASKED, data=rows, fields={"question": "problem", "hints": "tips"})
    assert table[0] == ("?", ["a"])
    assert table.fields == {"question": "problem", "hints": "tips"}


def test_a_field_that_no_row_of_the_kind_has_is_refused() -> None:
    with pytest.raises(BadArguments, match="a riddle has the fields 'question', 'hints'"):
        load_table(ASKED, data=[{"question": "?"}], fields={"qestion": "problem"})


def test_a_missing_field_is_answered_by_those_that_exist() -> None:
    error = refused({"text": "?", "id": 1}, question="problem")
    assert "row 2: there is no field 'problem'; its fields are 'text', 'id'" in str(error)
    assert 'fields={"question": "..."}' in str(error)
    assert (error.row, error.field) == (2, "problem")


def test_a_row_without_fields_is_answered() -> None:
    assert "its fields are none" in str(refused({}))


def test_a_value_that_does_not_fit_is_named_as_the_data_names_it() -> None:
    error = refused({"problem": 7}, question="problem")
    assert "row 2: the field 'problem' is 7, and must be text" in str(error)
    assert (error.row, error.field) == (2, "problem")


@pytest.mark.parametrize("value", [["x"] * 10_000, b"x" * 10_000, {"x" * 10_000: 1}, "\x1b[2J"])
def test_a_hostile_value_is_shown_short_and_in_ascii(value: object) -> None:
    with pytest.raises(DataError) as caught:
        load_table(RowKind("x", read=_refuse, needs=("x",)), data=[{"x": value}])
    assert len(str(caught.value)) < 250
    assert str(caught.value).isprintable()


def _refuse(row: Mapping[str, Any]) -> None:
    raise Misfit("x", row["x"], "nothing")


@pytest.mark.parametrize(("row", "kind"), [(7, "an int"), (None, "null"), (["a"], "a list")])
def test_what_is_no_row_is_refused(row: object, kind: str) -> None:
    assert f"row 2: it is {kind}, not an object" in str(refused(row))


def test_a_value_that_is_nested_too_deeply_to_be_shown_is_named() -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    assert "the field 'question' is a list nested too deeply" in str(refused({"question": nested}))


def test_a_misfit_says_what_is_wrong_by_itself() -> None:
    assert str(Misfit("answer", None, "a number")) == "'answer' is None, and must be a number"
