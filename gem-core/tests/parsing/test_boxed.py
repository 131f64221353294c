from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.parsing import boxed, find_boxed, last_boxed


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (r"\boxed{7}", "7"),
        (r"\boxed {7}", "7"),
        (r"\boxed{7} or \boxed{8}", "8"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\boxed{7}}", "7"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{7} and \boxed{8", "7"),
        (r"} \boxed{7}}", "7"),
        (r"{ \boxed{7}", "7"),
        (r"\boxed{}", ""),
        (r"\boxed{7\\}", r"7\\"),
        (r"\boxed{a\\{-2}b}", r"a\\{-2}b"),
        (r"\boxed{a\\\{b}", r"a\\\{b"),
        (r"\boxed{7} or \\boxed{8}", "8"),
        (r"\\boxed{\\{1, 2\\}}", r"\\{1, 2\\}"),
        (r"\boxed{7", None),
        (r"\boxed 7", None),
        ("7", None),
        ("", None),
    ],
)
def test_the_last_balanced_box_is_found(text: str, inside: str | None) -> None:
    assert last_boxed(text) == inside


@given(st.text(st.characters(exclude_characters="\\{}")))
def test_what_is_boxed_is_found_again(answer: str) -> None:
    text = f"So {boxed(answer)}."

    assert last_boxed(text) == answer
    assert find_boxed(text) == (len(r"So \boxed{"), len(text) - 2)


@pytest.mark.parametrize("unit", ["\\", "\\\\", "\\boxed", "\\boxed{", "\\boxed ", "\\\\{", "}"])
def test_a_megabyte_is_searched(unit: str) -> None:
    text = r"\boxed{7}" + unit * (1_000_000 // len(unit))

    assert last_boxed(text) == "7"


@given(st.lists(st.sampled_from(["\\boxed{", "\\", "{", "}", " ", "7"])).map("".join))
def test_no_text_raises(text: str) -> None:
    assert (find_boxed(text) is None) == (last_boxed(text) is None)
