from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_envs_games.parsing import (
    integers,
    move_reader,
    one_integer,
    read_boxed,
    read_boxed_text,
)

MEGABYTE = 2**20


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("\\boxed{25}", 25),
        ("\\boxed{ 25 }", 25),
        ("\\boxed{(25)}", 25),
        ("\\boxed{[25]}", 25),
        ("\\boxed{25,}", 25),
        ("\\boxed{\n25\t}", 25),
        ("\\boxed{0}", 0),
        ("\\boxed{-3}", -3),
        ("\\boxed{+3}", 3),
        ("\\boxed{007}", 7),
        ("I think $\\boxed{25}$.", 25),
        ("\\boxed{\\boxed{25}}", 25),
        ("\\boxed{{25}}", 25),
        ("\\boxed{\\text{25}}", 25),
        ("\\boxed{ \\mathbf{25} }", 25),
        ("\\boxed{\\textbf {25}}", 25),
        ("\\boxed{" + "0" * 998 + "25}", 25),
    ],
)
def test_a_number_is_read_in_odd_spellings(text: str, number: int) -> None:
    assert read_boxed(text, one_integer) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "25",
        "boxed{25}",
        "\\boxed25",
        "\\boxed{}",
        "\\boxed{ }",
        "\\boxed{25",
        "\\boxed{twenty}",
        "\\boxed{2 5}",
        "\\boxed{1,000}",
        "\\boxed{25.0}",
        "\\boxed{1e1}",
        "\\boxed{1_0}",
        "\\boxed{--3}",
        "\\boxed{-}",
        "\\boxed{\u0663}",
        "\\boxed{\u00b2}",
        "\\boxed{\uff12\uff15}",
        "\\boxed{\u2212" + "3}",
        "\\boxed{25\x00}",
        "\\boxed{" + "9" * 1001 + "}",
        "\\boxed{10^{2}}",
        "\\boxed{x_{2}}",
        "\\boxed{\\sqrt{25}}",
        "\\boxed{\\frac{2}{5}}",
        "\\boxed{1 \\text{2}}",
        "\\Boxed{25}",
    ],
)
def test_what_is_not_a_number_in_a_box_is_not_read(text: str) -> None:
    assert read_boxed(text, one_integer) is None


def test_the_last_box_counts() -> None:
    assert read_boxed("\\boxed{1} or \\boxed{2}, no, \\boxed{3}!", one_integer) == 3


def test_a_box_that_cannot_be_read_does_not_hide_one_before_it() -> None:
    assert read_boxed("\\boxed{7} as in \\boxed{your guess} and \\boxed{", one_integer) == 7


def test_an_open_box_does_not_swallow_the_next_one() -> None:
    assert read_boxed("\\boxed{1 \\boxed{2}", one_integer) == 2


def test_several_numbers_are_read_with_any_separators() -> None:
    assert read_boxed("\\boxed{[1, (2);3],4}", integers) == (1, 2, 3, 4)


@given(st.integers(-(10**300), 10**300), st.text(), st.text(alphabet=" ,;()[]\n\t"))
def test_every_number_is_read_back_whatever_stands_around_it(
    number: int, before: str, padding: str
) -> None:
    text = f"{before} \\boxed{{{padding[:400]}{number}{padding[:400]}}} done."

    assert read_boxed(text, one_integer) == number


@given(
    st.lists(st.integers(-99, 99), min_size=1, max_size=20),
    st.sampled_from([" ", ", ", ",", ";", "\n", ") (", "] ["]),
)
def test_every_list_of_numbers_is_read_back(numbers: list[int], separator: str) -> None:
    text = "\\boxed{" + separator.join(map(str, numbers)) + "}"

    assert read_boxed(text, integers) == tuple(numbers)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_no_text_raises(text: str) -> None:
    read_boxed(text, one_integer)
    read_boxed(f"\\boxed{{{text}}}", integers)


@pytest.mark.parametrize(
    "piece",
    ["1", " ", "\\boxed{", "\\boxed{1", "\\boxed", "{", "}", "\\boxed{1,}", "\x00"],
)
def test_a_megabyte_of_junk_hides_no_answer(piece: str) -> None:
    junk = piece * (MEGABYTE // len(piece))

    assert read_boxed(f"{junk} \\boxed{{25}} {junk.replace('}', '')}", one_integer) == 25


def test_no_part_of_a_text_is_read_by_two_boxes() -> None:
    lengths: list[int] = []

    def read(words: list[str]) -> None:
        lengths.append(sum(map(len, words)))

    read_boxed("\\boxed{" * 1000 + "1" * 900 + "}" * 1000, read)

    assert sum(lengths) == 900


def whole(inside: str) -> str | None:
    return inside.strip() or None


@pytest.mark.parametrize(
    "title", ["Washington, D.C.", "Mercury (planet)", "A [b]; c", "50% \\ $", "\u00c9mile {Zola"]
)
def test_a_whole_text_is_read_with_its_separators(title: str) -> None:
    assert read_boxed_text(f"\\boxed{{First}} no, \\boxed{{ {title} }}.", whole) == title


def test_an_empty_box_does_not_hide_a_text_before_it() -> None:
    assert read_boxed_text("\\boxed{Nile} in \\boxed{ }", whole) == "Nile"


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_no_text_raises_where_whole_texts_are_read(text: str) -> None:
    read_boxed_text(text, whole)
    read_boxed_text(f"\\boxed{{{text}}}", whole)


def test_a_move_may_stand_in_square_brackets_where_no_box_can_be_read() -> None:
    number = move_reader(one_integer)

    assert number("First [1], then [2].") == 2
    assert number("\\boxed{3} and then [4]") == 3
    assert number("\\boxed{three} and then [4]") == 4
    assert number("[[5]]") == 5
    assert number("[6") is None
