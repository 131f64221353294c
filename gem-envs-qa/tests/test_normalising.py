from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_envs_qa.normalising import normal_form

SAME = [
    ("Bonn", "bonn", "case"),
    ("STRASSE", "Straße", "case of all letters"),
    ("the Eiffel Tower", "Eiffel Tower", "articles"),
    ("A man and an ape", "man and ape", "articles within"),
    ("Bonn.", "Bonn", "punctuation at the end"),
    ("U.S.", "US", "points of an abbreviation"),
    ("rock 'n' roll", "rock n roll", "quotes"),
    ("“Emma”", "Emma", "quotes of Unicode"),
    ("1914–1918", "1914-1918", "a dash for a hyphen"),  # noqa: RUF001
    ("  New \t York\n", "New York", "white space"),
    ("New\u00a0York", "New York", "a space that does not break"),
    ("Ｂｏｎｎ", "Bonn", "full width"),  # noqa: RUF001
    ("Beyonce\u0301", "Beyoncé", "two ways to write an accent"),
    ("1,000", "1000", "thousands"),
    ("1,234,567", "1234567", "thousands twice"),
    ("$5", "5", "a currency sign"),
    ("€5", "5", "another currency sign"),
    ("50%", "50", "a percent sign, as in SQuAD"),
    ("−5", "-5", "a minus sign"),  # noqa: RUF001
    ("５", "5", "digits in full width"),  # noqa: RUF001
    ("vitamin A", "vitamin", "articles that are none, as in SQuAD"),
    ("C++", "C", "signs that mean something, as in SQuAD"),
    ("3.5.", "3.5", "a full stop after a number"),
    ("½", "1/2", "a fraction in one character"),
    ("2½", "2 1/2", "a number and a fraction in one character"),
    ("10²", "10^2", "a raised digit"),
    ("10⁻²", "10^-2", "a raised number below zero"),
    ("2^{10}", "2^10", "braces of LaTeX"),
    ("H₂O", "H2O", "a lowered digit behind a letter"),
    ("-$5", "-5", "a minus before a currency sign"),
    ("−€5", "€-5", "a minus before a currency sign or behind it"),  # noqa: RUF001
    ("$5-$10", "$5-10", "two amounts"),
    ("5%–10%", "5-10%", "two shares"),  # noqa: RUF001
    ("$1,000-$2,000", "1000-2000", "two amounts of thousands"),
    ("(5,-6)", "5, -6", "a pair with a minus"),
    ("(5,-$6)", "5, -$6", "a pair with a minus before a currency sign"),
    ("(5,$-6)", "(5,-$6)", "a pair with a minus before a currency sign or behind it"),
    ("($5,-$.6)", "5, -.6", "a pair with a minus, a currency sign and a point"),
    ("$5--$6", "5, -6", "a minus and a currency sign behind a hyphen"),
    ("$5.-$6", "5-6", "two amounts with a point between them"),
    ("5…6", "5-6", "two numbers with an ellipsis between them"),
    ("1.2.3", "1.2.3.", "a version"),
    ("3.5-$4.5", "3.5, 4.5", "two numbers with points"),
    (r"\text{Paris}, \text{France}", "Paris, France", "words of LaTeX"),
    (r"\boxed{\textbf{Paris}}", "Paris", "a box, and words in it"),
    (r"\textit{Emma} and \emph{Persuasion}", "Emma and Persuasion", "slanted words of LaTeX"),
    (r"\text{H}_2\text{O}", "H2O", "a formula of LaTeX"),
    (r"\(x\)-axis", "x-axis", "a formula of LaTeX within words"),
    (r"\(1{,}000\)", "1,000", "thousands of LaTeX"),
    (r"1,\!000", "1,000", "thousands of LaTeX with a narrow comma"),
    (r"5\,\text{km}", "5 km", "a unit of LaTeX"),
    (r"$5\%$", "5%", "a percent sign of LaTeX"),
    ("Hydro\u00adgen", "hydrogen", "a soft hyphen"),
    ("\ufeffNorwegen\u200f", "Norwegen", "a mark of order, and one of direction"),
    ("Bonn\u200b.", "Bonn", "a space without width"),
    ("10\u200b²", "10^2", "a joint before a raised digit"),
    ("\u2665\ufe0f", "\u2665", "a heart as an emoji"),
    ("\u2764\ufe0f\u200d\U0001f525", "\u2764\u200d\U0001f525", "a heart on fire as an emoji"),
    ("Bo\u200dnn\u200d", "Bonn", "joiners that join no emoji"),
    ("Aloha \u02bbOe", "Aloha 'Oe", "an okina"),
    ("Hawai\u02bbi", "Hawaii", "an okina that is left out"),
    ("п\u02bcять", "п'ять", "a letter for an apostrophe"),
]
DIFFERENT = [
    ("Bonn", "Born", "a letter"),
    ("Beyonce", "Beyoncé", "an accent"),
    ("3.5", "35", "a decimal point"),
    (".5", "5", "a decimal point at the beginning"),
    ("2-1", "21", "two numbers"),
    ("10:30", "1030", "a time"),
    ("-5", "5", "a minus"),
    ("-$5", "$5", "a minus before a currency sign"),
    ("−£0.5", "0.5", "a minus before a currency sign and a point"),  # noqa: RUF001
    ("$5-$10", "510", "two amounts"),
    ("$5-$10", "5, -10", "two amounts, none of them below zero"),
    ("5%-10%", "510", "two shares"),
    ("(5,-6)", "(5,6)", "a minus behind a comma"),
    ("(5,-$6)", "(5,$6)", "a minus and a currency sign behind a comma"),
    ("(5,$-6)", "(5,$6)", "a currency sign and a minus behind a comma"),
    ("5--6", "5-6", "a minus behind a hyphen"),
    ("$5.-$6", "56", "two amounts with a point between them"),
    ("5.-6", "56", "two numbers with a point between them"),
    ("5..6", "5.6", "two points between two numbers"),
    ("5…6", "5.6", "an ellipsis between two numbers"),
    ("1969.[2]", "19692", "a reference behind a full stop"),
    ("1.2.3", "1.23", "a version"),
    ("2^{10}", "210", "a power in LaTeX"),
    ("10*.5", "10.5", "a product"),
    ("10²", "102", "a raised digit"),
    ("10⁻²", "10²", "a raised minus"),
    ("10^-2", "10^2", "a minus in a power"),
    ("2½", "21/2", "a fraction behind a number"),
    ("5₁2", "512", "a lowered digit"),
    ("1,5", "15", "a decimal comma"),
    ("1,0000", "10000", "a comma that is none of thousands"),
    ("then", "n", "an article within a word"),
    ("New York", "NewYork", "a space"),
    ("The The", "", "nothing but articles"),
    ("The The", "A", "other articles"),
    ("!!!", "???", "nothing but punctuation"),
    ("five", "5", "a number in words"),
    (r"\mathbb{R}", "R", "a command that names another thing"),
    (r"\frac{1}{2}", "12", "a fraction of LaTeX"),
    (r"10^{2}", "102", "a power of LaTeX"),
    (r"1{,}5", "15", "a decimal comma of LaTeX"),
    (r"5\(6\)", "56", "a number and a formula"),
    (r"\text{5}\text{6}", "5 6", "one number in two pieces"),
    (r"\mathbf{F}=ma", "F=ma", "a vector in bold"),
    (r"\boldsymbol{\beta}", r"\beta", "another vector in bold"),
    (r"\text{Paris", "Paris", "words of LaTeX that are not closed"),
    (r"\text{}", "", "words of LaTeX that hold nothing"),
    ("2_1", "21", "two numbers with an underscore between them"),
    ("2_{10}", "210", "a lowered number in LaTeX"),
    ("5\u200b6", "5 6", "one number, with a joint that nobody sees"),
    ("-\u200b5", "5", "a minus before a joint that nobody sees"),
    ("\u200b", "\u200c", "nothing that is seen"),
    (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f468\U0001f469\U0001f467",
        "a family and three persons",
    ),
    (
        "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\U0001f3f3\U0001f308",
        "a flag, and a flag and a rainbow",
    ),
    (
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
        "the flags of England and Wales",
    ),
    ("Анна", "Anna", "another script"),
]


@pytest.mark.parametrize(("one", "other", "why"), SAME)
def test_these_are_one_answer(one: str, other: str, why: str) -> None:
    assert normal_form(one) == normal_form(other), why


@pytest.mark.parametrize(("one", "other", "why"), DIFFERENT)
def test_these_are_two_answers(one: str, other: str, why: str) -> None:
    assert normal_form(one) != normal_form(other), why


@given(st.lists(st.sampled_from(["Bonn", "3.5", "Élan", "U.S.", "-7", "then"]), min_size=1))
def test_case_articles_and_white_space_never_count(words: list[str]) -> None:
    other = "  the ".join(["", *words]).upper()

    assert normal_form(f"{other}\n") == normal_form(" ".join(words))


@given(st.text(max_size=60))
def test_no_answer_raises_and_none_becomes_empty_unless_it_was(answer: str) -> None:
    assert bool(normal_form(answer)) == bool("".join(answer.split()))
