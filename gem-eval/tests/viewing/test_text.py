"""Text is shown as text: what acts or hides is named, what is long is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.parsing import last_boxed
from gem_eval.viewing.text import (
    answer_pieces,
    cut,
    duration,
    family,
    first_line,
    hidden_apart,
    hidden_named,
    pieces,
)


@pytest.mark.parametrize(
    "character",
    ["\x00", "\x1b", "\r", "\x7f", "\u200b", "\u202e", "\u2066", "\ufeff", "\ud800", "\U000e0041"],
)
def test_a_character_that_acts_or_hides_is_named(character: str) -> None:
    assert hidden_named(f"a{character}b") == f"aU+{ord(character):04X}b"


@given(st.text())
def test_what_is_named_can_be_written(text: str) -> None:
    hidden_named(text).encode("utf-8")


@given(st.text())
def test_taken_apart_it_has_every_character(text: str) -> None:
    apart = [*hidden_apart(text)]

    assert "".join(plain + hidden for plain, hidden in apart) == text
    assert "".join(plain + hidden_named(hidden) for plain, hidden in apart) == hidden_named(text)


def test_hidden_characters_in_a_row_stay_together() -> None:
    assert [*hidden_apart("a\u200b\u200c\x00b")] == [("a", "\u200b\u200c\x00"), ("b", "")]


@given(st.text(alphabet="ab .\n|-+"))
def test_pieces_have_every_line(text: str) -> None:
    assert "\n".join(piece.text for piece in pieces(text)) == text


def test_a_board_stands_apart() -> None:
    kinds = [piece.kind for piece in pieces("You see:\n. X O\n. O X\nAnd now?\n1 2 3")]

    assert kinds == ["prose", "board", "prose"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no box",
        "\\boxed{}",
        "a \\boxed{1} b \\boxed{2} c",
        "\\boxed {\\frac{1}{2}} or \\boxed{",
        "\\boxed{a \\boxed{b} c}",
    ],
)
def test_pieces_of_an_answer_are_the_answer(text: str) -> None:
    assert "".join(piece.text for piece in answer_pieces(text)) == text


def test_the_last_box_counts() -> None:
    boxed = [
        each.text for each in answer_pieces("\\boxed{1} or \\boxed{2}.") if each.kind == "boxed"
    ]

    assert boxed == ["\\boxed{2}"]


def test_the_box_that_stands_alone_is_the_one_that_environments_read() -> None:
    text = r"Not \boxed{3} but \boxed{\frac{1}{2}}, as \boxed{ shows."

    [box] = [piece.text for piece in answer_pieces(text) if piece.kind == "boxed"]

    assert box == r"\boxed{\frac{1}{2}}"
    assert last_boxed(box) == last_boxed(text)


def test_megabytes_are_cut_at_once() -> None:
    assert cut(" " * 10_000_000, 10) == "…"
    assert first_line("\n" * 10_000_000, 10) == ""
    assert len(cut("x" * 10_000_000, 10)) == 10


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "-"), (float("inf"), "-"), (0.0, "0 µs"), (0.5, "500 ms"), (600.0, "10 min 0 s")],
)
def test_times_have_the_unit_that_fits(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.00099999, "1.0 ms"),
        (0.9999, "1.0 s"),
        (119.99, "2 min 0 s"),
        (179.7, "3 min 0 s"),
        (7199.6, "2 h 0 min"),
        (10799.9, "3 h 0 min"),
    ],
)
def test_what_rounds_to_a_whole_unit_has_that_unit(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_name_without_a_namespace_is_its_own_family() -> None:
    assert family("./try.py") == "./try.py"
