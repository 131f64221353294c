"""Arithmetic, polynomials and antiderivatives are read exactly, and never run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from gem_envs_reasoning.arithmetic import UnreadableError, only_number, value_and_numbers
from gem_envs_reasoning.calculus import is_antiderivative
from gem_envs_reasoning.polynomials import expanded

HOSTILE = [
    "",
    " ",
    "9**9**9**9",
    "(" * 1000,
    "[" * 10_000,
    "-" * 10_000 + "1",
    "1+" * 10_000,
    "1" * 30_000,
    "\0",
    "x" * 100,
    "__import__('os').getcwd()",
    "open('made', 'w')",
    "(lambda: 0)()",
    "[].__class__",
    "f'{x}'",
    "x := 1",
    "1 if x else 2",
    "1j",
    "True",
    "'x' * 10**9",
    "\u0663 +",
]


@pytest.mark.parametrize(
    ("text", "value", "numbers"),
    [
        ("1 + 2 * 3", 7, [1, 2, 3]),
        ("(1 + 2) * 3", 9, [1, 2, 3]),
        ("8 / (3 - 8 / 3)", 24, [8, 3, 8, 3]),
        ("-3 + +4", 1, [3, 4]),
        ("1 / 3", Fraction(1, 3), [1, 3]),
    ],
)
def test_arithmetic_is_exact(text: str, value: Fraction, numbers: list[int]) -> None:
    assert value_and_numbers(text) == (value, numbers)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("84", 84),
        ("It is -1,200.50 dollars.", Fraction(-2401, 2)),
        ("well-known: \u22127", -7),
        ("(.5)", Fraction(1, 2)),
        ("**84**", 84),
    ],
)
def test_one_number_is_read_among_words(text: str, number: Fraction) -> None:
    assert only_number(text) == number


@pytest.mark.parametrize(
    "text",
    ["", "none", "84/2", "-(84)", "- the 84", "minus 84", "1,2345", "84e3", "1.2.3", "\u0668"],
)
def test_what_is_not_one_number_is_none(text: str) -> None:
    assert only_number(text) is None


@pytest.mark.parametrize("text", [*HOSTILE, "1 / 0", "2 ** 3", "7 // 2", "x + 1", "1.5 + 1"])
def test_what_is_no_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        value_and_numbers(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x**2 + 2*x + 1", "1 + 2*x + x**2"),
        ("x*y*3", "3*y*x"),
        ("x*x*x", "x**3"),
        ("x + x", "2*x"),
        ("x - x", "0"),
        ("-(x - 1)", "1 - x"),
        ("2*(x + 1)", "2*x + 2"),
        ("x**2/2", "(1/2)*x**2"),
        ("x**0", "1"),
        ("+".join(["x"] * 900), "900*x"),
    ],
)
def test_one_polynomial_has_many_spellings(one: str, other: str) -> None:
    assert expanded(one) == expanded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("x**2", "x**3"), ("x*y", "x"), ("x", "X"), ("x + 1", "x - 1"), ("2*x", "x*x")],
)
def test_polynomials_that_differ_are_told_apart(one: str, other: str) -> None:
    assert expanded(one) != expanded(other)


@pytest.mark.parametrize("text", ["(x+1)*(x-1)", "x*(x+1)", "(x+1)**2", "1/x", "x**x", "x**(1/2)"])
def test_a_polynomial_that_is_not_expanded_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        expanded(text)


@pytest.mark.parametrize("text", [*(text for text in HOSTILE if "1+" not in text), "sin(x)"])
def test_what_is_no_polynomial_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        expanded(text)


@pytest.mark.parametrize(
    ("answer", "integrand"),
    [
        ("x**2", "2*x"),
        ("x**2 + C", "2*x"),
        ("x**2 + 7", "2*x"),
        ("x**2 + c", "2*x"),
        ("x**2 - k/2 + exp(K)", "2*x"),
        ("log(c*x)", "1/x"),
        ("sin(x)**2/2", "sin(x)*cos(x)"),
        ("-cos(x)**2/2", "sin(x)*cos(x)"),
        ("-cos(2*x)/4 + C", "sin(x)*cos(x)"),
        ("log(x)", "1/x"),
        ("log(Abs(x))", "1/x"),
        ("log(2*x)", "1/x"),
        ("x*exp(x) - exp(x)", "x*exp(x)"),
        ("atan(x)", "1/(x**2 + 1)"),
        ("-acos(x/9)", "1/sqrt(81 - x**2)"),
        ("2*x**(3/2)/3", "sqrt(x)"),
        ("2**x/log(2)", "2**x"),
        ("-log(cos(x))", "tan(x)"),
        ("log(sin(x)) + pi*E", "cot(x)"),
        ("tan(x)", "sec(x)**2"),
        ("-csc(x)", "csc(x)*cot(x)"),
        ("-cot(x)", "csc(x)**2"),
        ("cosh(x) + sinh(x)", "sinh(x) + cosh(x)"),
        ("log(cosh(x))", "tanh(x)"),
        ("tanh(x)", "1/cosh(x)**2"),
        ("x*asin(x/9) + sqrt(81 - x**2)", "asin(x/9)"),
        ("+x*ln(x) - x", "log(x)"),
    ],
)
def test_every_antiderivative_is_right(answer: str, integrand: str) -> None:
    assert is_antiderivative(answer, integrand, "x")


@pytest.mark.parametrize(
    ("answer", "integrand"),
    [
        ("x**2", "x"),
        ("x**2 + x", "2*x"),
        ("2*x", "2*x"),
        ("C", "2*x"),
        ("C*x**2/2", "7*x/10"),
        ("c*x", "sqrt(7/10)"),
        ("x**2 + c*x", "2*x"),
        ("exp(1.000001*x)", "exp(x)"),
        ("1e999*x", "2*x"),
        ("exp(exp(exp(exp(x*9))))", "2*x"),
        ("1/(x - x)", "2*x"),
        ("x**2", "1/(x - x)"),
    ],
)
def test_what_is_no_antiderivative_is_wrong(answer: str, integrand: str) -> None:
    assert not is_antiderivative(answer, integrand, "x")


@pytest.mark.parametrize("text", [*HOSTILE[:-1], "y", "sin(x, x)", "sin", "eval(x)", "x % 2"])
def test_what_is_no_formula_is_never_right(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        is_right = is_antiderivative(text, "2*x", "x")
    except UnreadableError:
        is_right = False

    assert not is_right
    assert not list(tmp_path.iterdir())
