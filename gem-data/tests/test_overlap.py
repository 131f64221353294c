from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gem.data import Overlap, RowKind, Table, contamination, load_table
from gem.errors import BadArguments

ASKED = RowKind("question", read=dict, needs=("question",))


def table(*questions: object) -> Table[Mapping[str, Any]]:
    return load_table(ASKED, data=[{"question": question} for question in questions])


def pairs(a: Sequence[object], b: Sequence[object]) -> tuple[object, object]:
    overlap = contamination(table(*a), table(*b))
    return overlap.exact, overlap.normalised


def test_equal_texts_are_pairs_of_rows() -> None:
    assert pairs(["x?", "y?", "z?"], ["w?", "z?", "x?"]) == (((2, 1), (0, 2)), ())


def test_tables_without_a_common_row_share_nothing() -> None:
    overlap = contamination(table("x?", "y?"), table("z?"))
    assert overlap == Overlap((2, 1), (), ())
    assert overlap.share == 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How many  apples?", "how many apples"),
        ("How many apples?\n", "How many apples?"),
        ("It costs $5.", "It costs 5"),
        ("Tom\u2019s \u201cbook\u201d", 'Tom\'s "book"'),
        ("\uff11 + 1", "1 + 1"),
        ("First, add.", "First add"),
        ("STRASSE", "stra\u00dfe"),
    ],
)
def test_texts_that_differ_in_looks_alone_are_normalised_pairs(one: str, other: str) -> None:
    assert pairs([one], [other]) == ((), ((0, 0),))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 + 1?", "1 - 1?"),
        ("What is 3.5?", "What is 35?"),
        ("1,000 apples", "1000 apples"),
        ("at 5:30", "at 530"),
        ("5!", "5"),
        ("x^2", "x2"),
        ("(a+b)c", "a+bc"),
    ],
)
def test_texts_that_say_something_else_are_no_pair(one: str, other: str) -> None:
    assert pairs([one], [other]) == ((), ())


def test_each_row_of_the_second_is_in_one_pair_with_the_first_that_equals_it() -> None:
    assert pairs(["X", "x", "x"], ["x", "x", "X"]) == (((1, 0), (1, 1), (0, 2)), ())


def test_the_share_is_of_the_second_table() -> None:
    overlap = contamination(table("a", "b", "c"), table("a", "B", "x", "y"))
    assert (overlap.rows, overlap.share) == ((3, 4), 0.5)


def test_values_that_are_no_texts_are_compared_as_data() -> None:
    assert pairs([{"a": 1, "b": [2]}], [{"b": [2], "a": 1}, {"b": [2], "a": 2}]) == (((0, 0),), ())


def test_text_without_an_encoding_is_compared() -> None:
    assert pairs(["\ud800"], ["\ud800", "\ud801"]) == (((0, 0),), ())


def test_another_field_is_compared() -> None:
    kind = RowKind("fact", read=dict, needs=("claim",))
    facts = load_table(kind, data=[{"claim": "x"}])
    assert contamination(facts, facts, of="claim").exact == ((0, 0),)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_field_that_one_lacks_is_refused(swapped: bool) -> None:
    kind = RowKind("fact", read=dict, needs=("claim",))
    tables = [load_table(kind, data=[{"claim": "x"}]), table("x")]
    a, b = reversed(tables) if swapped else tables
    with pytest.raises(BadArguments, match="a fact has 'claim'"):
        contamination(a, b)
