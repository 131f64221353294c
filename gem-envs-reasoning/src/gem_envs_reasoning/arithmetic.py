"""Read arithmetic that a model wrote, exactly and without evaluating it as Python.

Knows nothing about which task it is an answer of.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from gem.parsing import syntax_tree

__all__ = ["MOST_CHARACTERS", "UnreadableError", "only_number", "parsed", "value_and_numbers"]

MOST_CHARACTERS = 20_000
"""The longest expression that is read; Python's own parser bounds how deep it nests."""

_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class UnreadableError(ValueError):
    """Text that is no expression of the kind that is asked for."""


def parsed(text: str) -> ast.expr:
    """Parse an expression in Python's notation. Raises UnreadableError; evaluates nothing."""
    if len(text) > MOST_CHARACTERS or "\0" in text:
        raise UnreadableError("too long, or no text")
    try:
        return syntax_tree(text.strip(), "eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise UnreadableError(str(error)) from error


def value_and_numbers(text: str) -> tuple[Fraction, list[int]]:
    """Return the value of whole numbers joined by + - * /, and these numbers in order.

    Raises UnreadableError on anything else, also where it divides by zero.

    >>> value_and_numbers("(1 + 2) / 2")
    (Fraction(3, 2), [1, 2, 2])
    """
    numbers: list[int] = []
    try:
        return _value(parsed(text), numbers), numbers
    except (ZeroDivisionError, RecursionError) as error:
        raise UnreadableError(str(error)) from error


def _value(node: ast.expr, numbers: list[int]) -> Fraction:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left = _value(node.left, numbers)
        return _OPERATIONS[type(node.op)](left, _value(node.right, numbers))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = _value(node.operand, numbers)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        numbers.append(node.value)
        return Fraction(node.value)
    raise UnreadableError(f"{type(node).__name__} is not arithmetic")


# Digits of ASCII, in thousands or not; no part of a word, of an exponent or of a longer number.
# Both ends say so: the expression would otherwise go back to 84 in `84.7k`, or begin at its 7.
_NUMBER = re.compile(
    r"(?<!\w)(?<![0-9][.,])"
    r"(?:(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    r"(?!\w|[.,][0-9]|\.[eE][+-]?[0-9])"
)
_MINUS = r"[-\u2010-\u2013\u207b\u2212\ufe63\uff0d]"  # hyphens, an en dash, minus signs
_SIGNED = re.compile(rf"{_MINUS}\s?$")
_NEGATIVE = re.compile(rf"(?<!\w){_MINUS}|{_MINUS}(?!\w)|\b(?:minus|negative)\b", re.IGNORECASE)


def only_number(text: str) -> Fraction | None:
    """Return the one number that a text holds, with its sign; None where none or several are.

    Words and units may stand around it. A minus sign that is neither at the number nor a hyphen
    within a word is not understood, and the answer is None.

    >>> only_number("It is -1,200.5 dollars."), only_number("84/2"), only_number("-(84)")
    (Fraction(-2401, 2), None, None)
    """
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1:
        return None
    [number] = numbers
    before = text[: number.start()]
    value = Fraction(number[0].replace(",", ""))
    sign = _SIGNED.search(before[-2:])
    if sign is not None:
        before = before[: len(before) - len(sign[0])]
        value = -value
    return None if _NEGATIVE.search(before) else value
