from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_envs_math.answers import LONGEST, boxed, grade, last_boxed, read_number

MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (r"\boxed{18}", "18"),
        (r"First \boxed{7}, then \boxed{18}.", "18"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{18} and \boxed{7", "18"),
        (r"\boxed{18} and \boxed{7 {3}", "18"),
        (r"{ { \boxed{18}", "18"),
        (r"} \boxed{18} }", "18"),
        (r"\boxed {18}", "18"),
        (r"\\boxed{18}", "18"),
        (r"\boxed{\boxed{18}}", "18"),
        (r"\boxed{a\}b}", r"a\}b"),
        (r"\boxed{}", ""),
        (r"\boxed{7", None),
        (r"boxed{7}", None),
        (r"\boxed 7", None),
        ("18", None),
        ("", None),
    ],
)
def test_the_last_balanced_box_counts(text: str, inside: str | None) -> None:
    assert last_boxed(text) == inside


@pytest.mark.parametrize(
    "text",
    [
        *("1234", "1,234", "1{,}234", r"1\,234", r"1,\!234", "+1234", " 1234 ", "01234"),
        *("1234.", "1234.0", "1,234.00", "1.234e3", "12.34E+02", "123400e-2"),
        *("$1,234", r"\$1234", "$1234$", "$ 1234", r"$\$1234$", "+$1234"),
        *("1234%", r"1234\%", "1234 %"),
        *("2468/2", r"\frac{2468}{2}", r"\dfrac{2468}{2}", r"\tfrac {2468} { 2 }"),
        r"-\frac{-1234}{1}",
    ],
)
def test_odd_spellings_of_a_number_are_read(text: str) -> None:
    assert read_number(text) == 1234


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", ".", "-", "$", "%", "$$", "e5", ".e5", "1e", "/", "1/", "/2", "1/0"),
        *("18 or 20", "18, 20", "18 20", "18;20", "[18]", "(18)", "{18}", "18=18", "x=18"),
        *("18 dollars", "18 thousand", "eighteen", r"18\text{ cm}", "18k", "~18", "≈18", "18+0"),
        *("--18", "+-18", "1,8", "1,2345", "1234,567", ",234", "1,,234", "1.2.3", "1 1/2", "1/2/3"),
        *(
            "1e999999999",
            "1e100",
            "9e-999",
            "inf",
            "nan",
            "0x12",
            "0b1",
            "1_000",
            "1j",
            "2**3",
            "√4",
        ),
        *("\N{FULLWIDTH DIGIT ONE}", "\N{ARABIC-INDIC DIGIT THREE}", "\N{SUPERSCRIPT TWO}"),
        *("1\x008", "1.5/2", r"\frac{1}{0}", r"\frac12", r"\frac{1.5}{2}"),
        *("9" * (LONGEST + 1), "9" * MEGABYTE, "{" * MEGABYTE, "-" * MEGABYTE),
    ],
)
def test_what_only_looks_like_a_number_is_not_read(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("-3", Fraction(-3)),
        ("\N{MINUS SIGN}3", Fraction(-3)),
        ("-$3.50", Fraction(-7, 2)),
        (".5", Fraction(1, 2)),
        ("-.5", Fraction(-1, 2)),
        (r"-\frac{1}{3}", Fraction(-1, 3)),
        ("1/3", Fraction(1, 3)),
        ("50%", Fraction(50)),
        ("-0", Fraction(0)),
        ("9" * LONGEST, Fraction(10**LONGEST - 1)),
    ],
)
def test_numbers_are_exact(text: str, number: Fraction) -> None:
    assert read_number(text) == number


def test_a_close_decimal_is_not_a_fraction() -> None:
    assert grade(boxed("0.3333333333333333333333"), Fraction(1, 3)) == "wrong"


def test_an_answer_without_a_box_is_unreadable() -> None:
    assert grade("The answer is 18.", Fraction(18)) == "unreadable"


def test_a_box_without_a_number_is_unreadable() -> None:
    assert grade(boxed("eighteen"), Fraction(18)) == "unreadable"


def test_only_the_last_box_is_graded() -> None:
    assert grade(boxed("18") + boxed("19"), Fraction(18)) == "wrong"


@given(st.integers(-(10**140), 10**140))
def test_every_whole_number_is_right_with_and_without_commas(number: int) -> None:
    spellings = [f"{number}", f"{number:,}", f"{number}.0", f"{number}/1"]
    verdicts = [grade(f"So {boxed(text)}.", Fraction(number)) for text in spellings]
    assert verdicts == ["right"] * len(spellings)


@given(st.decimals(-(10**9), 10**9, places=4))
def test_every_decimal_is_itself(number: object) -> None:
    assert read_number(str(number)) == Fraction(str(number))


@given(st.fractions(max_denominator=10**9))
def test_every_fraction_is_right_in_each_notation(number: Fraction) -> None:
    over = number.numerator
    under = number.denominator
    spellings = [
        f"{over}/{under}",
        rf"\frac{{{over}}}{{{under}}}",
        rf"$\dfrac{{{over}}}{{{under}}}$",
    ]
    assert [grade(boxed(text), number) for text in spellings] == ["right"] * 3


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6).filter(bool))
def test_another_number_is_wrong(number: int, distance: int) -> None:
    assert grade(boxed(str(number + distance)), Fraction(number)) == "wrong"


@given(st.text())
def test_no_text_raises(text: str) -> None:
    grade(text, Fraction(18))
    grade(boxed(text), Fraction(18))


@given(st.text(alphabet="0123456789.,-+$%/eE{}\\ frac"))
def test_no_text_of_numbers_raises(text: str) -> None:
    read_number(text)


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "}",
        "\\",
        "\\boxed{",
        "\\boxed{}",
        "\\boxed",
        "\\boxed ",
        "{}",
        "9",
        " ",
        "\0",
        "\ud800",
    ],
)
def test_a_megabyte_of_anything_is_no_right_answer(piece: str) -> None:
    text = piece * (MEGABYTE // len(piece))
    assert grade(text, Fraction(18)) == "unreadable"
    assert grade(boxed(text), Fraction(18)) == "unreadable"


def test_a_megabyte_of_thought_before_the_box_is_read() -> None:
    assert grade("{thought} " * 100_000 + boxed("18"), Fraction(18)) == "right"
