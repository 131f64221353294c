"""What holds for every answer: the laws of equality, exactness, and that nothing raises."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_envs_math.grading import Verdict, decide, extract, verify

SMALL = st.integers(-30, 30)
COEFFICIENTS = st.lists(SMALL, min_size=2, max_size=5)
LATEX = st.text(alphabet=r"0123456789xyi.,+-*/^_(){}[]|\ !$%=<>&':;", max_size=60)
PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "\\frac",
                "\\sqrt",
                "\\pi",
                "\\infty",
                "\\pm",
                "\\cup",
                "\\in",
                "\\le",
                "\\text{",
                "\\{",
            ),
            *("\\}", "{", "}", "(", ")", "[", "]", "^", "_", "|", "!", "%", "$", "\\circ", "\\sin"),
            *("\\begin{pmatrix}", "\\end{pmatrix}", "\\\\", "&", " ", ",", "=", "<", "x", "i", "e"),
            *(
                "1",
                "2",
                "10",
                "0.5",
                "1,000",
                "and",
                "or",
                "cm",
                "apples",
                "+",
                "-",
                "*",
                "/",
                "\\ln",
            ),
            *(
                "\\mathrm{",
                "m",
                "kg",
                " per ",
                "\\mu ",
                "\\Omega",
                " square ",
                " of ",
                " million ",
                "\\rm ",
            ),
        ]
    ),
    max_size=25,
).map("".join)
WORST = ["(", "{", "[", "\\{", "\\frac", "\\sqrt", "\\text{", "1", "1,", "1 ", "-", "x", "x^", "|"]
WORST += [
    "$",
    "\\",
    "\\boxed{",
    "\\begin{pmatrix}",
    "&",
    "\\\\",
    " ",
    "\n",
    "!",
    "'",
    "_",
    "\\pm",
    "a ",
]
WORST += [
    "0.",
    "\\overline{1}",
    "1e",
    "\u221a",
    "\u00bd",
    "\u0301",
    "\ud800",
    "\0",
    ",\\!",
    "^\\circ",
]


def outcome(answer: str, gold: str) -> str | None:
    verdict = decide(answer, gold)
    return verdict.outcome if verdict else None


def polynomial(coefficients: Sequence[int]) -> str:
    return " + ".join(f"{c} x^{{{power}}}" for power, c in enumerate(coefficients)).replace(
        "+ -", "- "
    )


@given(SMALL, st.integers(1, 30), SMALL, st.integers(1, 30))
def test_fractions_are_equal_as_numbers_are(a: int, b: int, c: int, d: int) -> None:
    expected = "right" if Fraction(a, b) == Fraction(c, d) else "wrong"
    assert outcome(rf"\frac{{{a}}}{{{b}}}", f"{c}/{d}") == expected


@given(st.integers(1, 99), st.integers(1, 40), st.integers(2, 41))
def test_a_mixed_number_is_a_sum(whole: int, over: int, more: int) -> None:
    under = over + more
    value = whole + Fraction(over, under)
    spelled = [rf"{whole}\frac{{{over}}}{{{under}}}", f"{whole} {over}/{under}"]
    assert {outcome(text, f"{value.numerator}/{value.denominator}") for text in spelled} == {
        "right"
    }


@given(st.integers(0, 10**12))
def test_thousands_are_grouped_as_one_likes(number: int) -> None:
    spelled = [f"{number:,}".replace(",", sign) for sign in (",", "{,}", r",\!", r"\,", " ")]
    assert {outcome(text, str(number)) for text in spelled} == {"right"}


@given(COEFFICIENTS, st.randoms())
def test_the_terms_of_a_polynomial_have_no_order(coefficients: list[int], rng: object) -> None:
    terms = [f"({c}) x^{power}" for power, c in enumerate(coefficients)]
    rng.shuffle(terms)  # type: ignore[attr-defined]  # hypothesis names no type
    assert outcome(" + ".join(terms), polynomial(coefficients)) == "right"


@given(SMALL, SMALL, SMALL, SMALL)
def test_a_product_is_what_it_expands_to(a: int, b: int, c: int, d: int) -> None:
    product = f"({a} x + {b})({c} x + {d})".replace("+ -", "- ")
    expanded = polynomial([b * d, a * d + b * c, a * c])
    assert outcome(product, expanded) == "right"
    assert outcome(f"{product} + 1", expanded) == "wrong"


@given(st.integers(1, 200), st.integers(1, 200))
def test_the_root_of_a_product_is_a_product_of_roots(a: int, b: int) -> None:
    assert outcome(rf"\sqrt{{{a}}} \sqrt{{{b}}}", rf"\sqrt{{{a * b}}}") == "right"
    assert outcome(rf"-\sqrt{{{a}}} \sqrt{{{b}}}", rf"\sqrt{{{a * b}}}") == "wrong"


@given(st.integers(2, 300), st.integers(2, 300))
def test_roots_are_equal_as_their_squares_are(a: int, b: int) -> None:
    expected = "right" if a == b else "wrong"
    assert outcome(rf"\sqrt{{{a}}}", rf"\frac{{{b}}}{{\sqrt{{{b}}}}}") == expected


@given(SMALL, SMALL, SMALL, SMALL)
def test_complex_numbers_multiply(a: int, b: int, c: int, d: int) -> None:
    product = f"({a} + {b}i)({c} + {d}i)"
    assert outcome(product, f"{a * c - b * d} + {a * d + b * c}i") == "right"


@given(st.lists(SMALL, min_size=2, max_size=8), st.randoms())
def test_a_list_has_no_order_and_a_tuple_has_one(items: list[int], rng: object) -> None:
    shuffled = list(items)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis names no type
    first, second = (", ".join(map(str, numbers)) for numbers in (items, shuffled))
    assert outcome(first, second) == "right"
    assert outcome(f"({first})", f"({second})") == ("right" if items == shuffled else "wrong")


@given(SMALL, SMALL)
def test_a_multiple_of_an_equation_is_the_equation(a: int, b: int) -> None:
    assert outcome(f"3y - {3 * a}x = {3 * b}".replace("- -", "+ "), f"y = {a}x + {b}") == "right"
    assert (
        outcome(f"3y - {3 * a}x = {3 * b + 1}".replace("- -", "+ "), f"y = {a}x + {b}") == "wrong"
    )


ROOTS = st.lists(st.integers(-2, 2), min_size=1, max_size=3)
POLYNOMIALS = ("x", "y", "2x", "x^2", "xy", "x-1", "(x-1)^2", "x+y", "0", "3", "-4", "i")
FUNCTIONS = (r"\sin x", r"2\sin x\cos x", r"\sin 2x", r"\pi", "e^x", "|x|", "f(1)", "f(x)")
SIDES = st.sampled_from((*POLYNOMIALS, *FUNCTIONS, r"\frac{1}{x}", r"\sqrt{x}"))
SIGNS = st.sampled_from(["=", "=", "<", r"\le", ">", r"\ne"])
RELATIONS = st.builds(lambda a, sign, b: f"{a} {sign} {b}", SIDES, SIGNS, SIDES)
RELATIONS |= st.builds(
    lambda a, sign, b, c: f"{a} {sign} {b} {sign} {c}", SIDES, SIGNS, SIDES, SIDES
)


def vanishing(roots: Sequence[int]) -> str:
    return "".join(f"(x-({root}))" for root in roots) + "=0"


@given(ROOTS, ROOTS)
def test_equations_are_the_same_as_their_roots_are(a: list[int], b: list[int]) -> None:
    expected = "right" if set(a) == set(b) else "wrong"
    assert outcome(vanishing(a), vanishing(b)) == expected


@given(st.integers(-9, 9), st.integers(-9, 9))
def test_equations_without_a_real_root_are_the_same_as_their_constants_are(a: int, b: int) -> None:
    expected = "right" if a == b else "wrong"
    assert outcome(f"x^2+{10 + a}=0", f"x^2=-{10 + b}") == expected


@given(RELATIONS, RELATIONS | SIDES)
@settings(max_examples=150, deadline=None)
def test_a_relation_and_another_may_be_exchanged(first: str, second: str) -> None:
    pytest.importorskip("mpmath", reason="the extra `verify` is not installed")
    verdicts = [decide(*pair) or verify(*pair) for pair in ((first, second), (second, first))]
    if {verdict.outcome for verdict in verdicts} <= {"right", "wrong"}:
        assert verdicts[0].outcome == verdicts[1].outcome


@given(st.integers(1, 10**6), st.integers(1, 12))
def test_a_decimal_that_was_cut_is_not_the_fraction(number: int, places: int) -> None:
    cut = number * 10**places // 7
    is_exact = number % 7 == 0
    decimal = f"{cut // 10**places}.{cut % 10**places:0{places}}"
    assert outcome(decimal, f"{number}/7") == ("right" if is_exact else "wrong")


@given(PIECES | LATEX | st.text(max_size=40), PIECES | LATEX | st.text(max_size=40))
@settings(max_examples=400)
def test_no_text_raises_and_equality_is_symmetric(first: str, second: str) -> None:
    one = decide(first, second)
    other = decide(second, first)
    if one is not None and one.outcome == "right":
        assert other is not None
        assert other.outcome == "right"


@given((PIECES | LATEX).filter(lambda text: text.strip()))
@settings(max_examples=200)
def test_every_text_equals_itself_in_odd_spellings(text: str) -> None:
    assert outcome(text, text) == "right"
    assert outcome(f" {text} ", text) == "right"


@pytest.mark.parametrize("piece", WORST)
def test_200_000_characters_of_anything_are_wrong(piece: str) -> None:
    assert outcome(piece * (200_000 // len(piece)) + "x", "5") in {"wrong", "unreadable"}


@pytest.mark.parametrize("piece", WORST)
@pytest.mark.parametrize("end", ["", "1", "x"])
def test_as_much_of_anything_as_is_read_is_not_right(piece: str, end: str) -> None:
    assert outcome(piece * (1_990 // len(piece)) + end, "5") in {"wrong", "unreadable", None}


def test_the_answer_is_what_the_last_box_holds() -> None:
    assert extract(r"Not \boxed{1}, but \boxed{ \frac{1}{2} }.") == r"\frac{1}{2}"
    assert extract("1/2") is None


def test_an_empty_box_is_unreadable() -> None:
    assert decide(extract(r"\boxed{}") or "", "5") == Verdict("unreadable", "empty")


PREFIXES = {"p": -12, "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12}
SYMBOLS = ["m", "s", "eV", "J", "W", "Pa", "N", "V", "A", "Hz", "F", "C", "mol", "T", "H", "K"]


@given(
    st.integers(1, 10**6),
    st.sampled_from(SYMBOLS),
    st.sampled_from(sorted(PREFIXES)),
    st.sampled_from(sorted(PREFIXES)),
    st.sampled_from([-2, -1, 1, 2, 3]),
)
def test_a_prefix_is_a_power_of_ten(
    number: int, symbol: str, prefix: str, other: str, exponent: int
) -> None:
    shift = (PREFIXES[prefix] - PREFIXES[other]) * exponent
    measured = rf"{number} \text{{ {prefix}{symbol}}}^{{{exponent}}}"
    unit = rf"\text{{ {other}{symbol}}}^{{{exponent}}}"
    assert outcome(measured, rf"{number} \times 10^{{{shift}}} {unit}") == "right"
    assert outcome(measured, f"{number} {unit}") == ("right" if prefix == other else "wrong")


@given(st.integers(1, 1000), st.sampled_from(SYMBOLS), st.sampled_from(SYMBOLS))
def test_two_units_of_different_dimensions_are_never_equal(number: int, a: str, b: str) -> None:
    pair = rf"{number} \text{{ {a}}}", rf"{number} \text{{ {b}}}"
    assert outcome(*pair) == ("right" if a == b else "wrong")
