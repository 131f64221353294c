from __future__ import annotations

import json
from typing import Any

import pytest

from gem_envs_code.comparing import Uncomparable, as_json, same_text, same_value
from gem_envs_code.inside.values import encoded


@pytest.mark.parametrize(
    ("output", "expected"),
    [("1 2\n", "1 2"), ("1\n2", "1 2"), ("  1\t2\r\n\n", "1 2\n"), ("", "\n"), ("é", "é")],
)
def test_words_are_compared_without_the_space_between(output: str, expected: str) -> None:
    assert same_text(output, expected)


@pytest.mark.parametrize(
    ("output", "expected"),
    [("1 2 3", "1 2"), ("1", "1 2"), ("", "0"), ("12", "1 2"), ("yes", "YES"), ("1.0", "1")],
)
def test_other_words_are_wrong(output: str, expected: str) -> None:
    assert not same_text(output, expected)


@pytest.mark.parametrize(("output", "is_same"), [("1  2\r\n\n", True), ("1 2", False)])
def test_an_exact_comparison_spares_line_ends_at_the_end_alone(output: str, is_same: bool) -> None:
    assert same_text(output, "1  2\n", "exact") is is_same


@pytest.mark.parametrize(
    ("output", "is_same"),
    [
        ("x 0.3334", True),
        ("x 3.333e-1", True),
        ("x .333", True),
        ("x 0.34", False),
        ("y 0.3333", False),
        ("x nan", False),
        ("x inf", False),
        ("x 0_3", False),
        ("x 1/3", False),
        ("x 0.3333 0", False),
        (f"x {'9' * 1000}", False),
    ],
)
def test_a_tolerance_is_for_numbers(output: str, is_same: bool) -> None:
    assert same_text(output, "x 0.33333", tolerance=1e-3) is is_same


def test_a_tolerance_is_relative_to_large_numbers() -> None:
    assert same_text("1000000.5", "1000000", tolerance=1e-6)
    assert not same_text("1000002", "1000000", tolerance=1e-6)


@pytest.mark.parametrize(
    ("answer", "expected", "is_same"),
    [
        ([1, [2.0, "x"]], [1, [2, "x"]], True),
        ({"a": [1]}, {"a": [1]}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1, 2], [1], False),
        ([1], 1, False),
        ("1", 1, False),
        (None, 0, False),
        (0.1 + 0.2, 0.3, False),
    ],
)
def test_values_are_equal_as_python_compares_them(
    answer: Any, expected: Any, is_same: bool
) -> None:
    assert same_value(answer, expected) is is_same


def test_a_tolerance_holds_for_floats_within_values() -> None:
    assert same_value({"a": [0.1 + 0.2]}, {"a": [0.3]}, 1e-9)
    assert not same_value([3], [4], 10.0)  # integers are exact
    assert not same_value(10**400, 0.5, 1.0)


@pytest.mark.parametrize(
    ("value", "json"),
    [
        ((1, (2,)), [1, [2]]),
        ({1: "a", None: "b", False: 0.5}, {"1": "a", "null": "b", "false": 0.5}),
        ({"a": {2.5: []}}, {"a": {"2.5": []}}),
        (10**3000, 10**3000),
    ],
)
def test_values_of_python_become_the_json_that_they_are_written_as(value: Any, json: Any) -> None:
    assert crossed(value) == json


@pytest.mark.parametrize("value", [{1}, b"1", 1j, range(2), {(1, 2): 3}, [[{1}]], {1: 2, "1": 3}])
def test_what_json_has_not_is_refused(value: Any) -> None:
    with pytest.raises(Uncomparable):
        crossed(value)


@pytest.mark.parametrize("held", [{}, {"a": 1, "b": 2}, {"module": "os"}])
def test_objects_that_no_value_is_written_as_are_refused(held: Any) -> None:
    with pytest.raises(Uncomparable):
        as_json(held)


def test_deep_nesting_is_refused_and_not_followed() -> None:
    held: Any = 0
    for _ in range(500):
        held = [held]

    with pytest.raises(Uncomparable):
        as_json(held)


def crossed(value: Any) -> Any:
    return as_json(json.loads(encoded(value)))
