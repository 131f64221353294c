"""Read an expanded polynomial exactly. Knows nothing about which task it is an answer of."""

from __future__ import annotations

import ast
from fractions import Fraction

from gem_envs_reasoning.arithmetic import UnreadableError, parsed

__all__ = ["Polynomial", "expanded"]

Monomial = tuple[tuple[str, int], ...]
Polynomial = dict[Monomial, Fraction]

_MOST_DEGREE = 10_000


def expanded(text: str) -> Polynomial:
    """Return the coefficient of each monomial of a polynomial that is written expanded.

    `2*(x + 1)` is taken; `x*(x + 1)` is not, for expanding it is the task. Raises
    UnreadableError.

    >>> expanded("2*x**2 - 3*x*y") == expanded("-3*y*x + 2*x*x")
    True
    """
    try:
        return {term: number for term, number in _read(parsed(text)).items() if number}
    except (ZeroDivisionError, RecursionError) as error:
        raise UnreadableError(str(error)) from error


def _read(node: ast.expr) -> Polynomial:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return {(): Fraction(node.value)}
    if isinstance(node, ast.Name) and len(node.id) == 1:
        return {((node.id, 1),): Fraction(1)}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _product({(): Fraction(-1)}, _read(node.operand))
    if isinstance(node, ast.BinOp):
        return _joined(node)
    raise UnreadableError(f"{type(node).__name__} is no part of a polynomial")


def _joined(node: ast.BinOp) -> Polynomial:
    if isinstance(node.op, (ast.Add, ast.Sub)):
        return _summed(node)
    left = _read(node.left)
    right = _read(node.right)
    if isinstance(node.op, ast.Mult):
        return _product(left, right)
    if isinstance(node.op, ast.Div) and set(right) == {()}:
        return _product(left, {(): 1 / right[()]})
    if isinstance(node.op, ast.Pow) and set(right) == {()}:
        return _power(left, right[()])
    raise UnreadableError(f"{type(node.op).__name__} does not lead to a polynomial")


def _summed(node: ast.expr) -> Polynomial:
    """Add a chain of terms up. It nests as deep as it is long, so no call per term."""
    terms = list[tuple[int, ast.expr]]()
    total = Polynomial()
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        terms.append((1 if isinstance(node.op, ast.Add) else -1, node.right))
        node = node.left
    for sign, addend in [(1, node), *reversed(terms)]:
        for term, number in _read(addend).items():
            total[term] = total.get(term, Fraction(0)) + sign * number
    return total


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    if set(left) == {()} or set(right) == {()}:
        scale, other = (left, right) if set(left) == {()} else (right, left)
        return {term: number * scale[()] for term, number in other.items()}
    if len(left) > 1 or len(right) > 1:
        raise UnreadableError("a product of sums is not expanded")
    [(one, by)] = left.items()
    [(other_one, other_by)] = right.items()
    powers = dict(one)
    for name, degree in other_one:
        powers[name] = powers.get(name, 0) + degree
    return {tuple(sorted(powers.items())): by * other_by}


def _power(base: Polynomial, exponent: Fraction) -> Polynomial:
    if exponent.denominator != 1 or not 0 <= exponent <= _MOST_DEGREE or len(base) != 1:
        raise UnreadableError("only a variable has a power here")
    [(term, number)] = base.items()
    if number != 1:
        raise UnreadableError("only a variable has a power here")
    return {tuple((name, degree * int(exponent)) for name, degree in term if exponent): number}
