"""Judge an antiderivative: differentiate it at fixed points and compare with the integrand.

Values carry their derivative with them (dual numbers, in complex arithmetic), so an answer costs
time in proportion to its length, and none is simplified or evaluated as Python.
"""

from __future__ import annotations

import ast
import cmath
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from gem_envs_reasoning.arithmetic import UnreadableError, parsed

__all__ = ["is_antiderivative"]

_POINTS = (0.371, 0.829, 1.313, 2.071, 3.307, -0.593, -1.777)
_TOLERANCE = 1e-7
_FEWEST = 3

_Function = Callable[[complex], complex]


class _Dual(NamedTuple):
    """A value and its derivative."""

    value: complex
    slope: complex = 0


def is_antiderivative(answer: str, integrand: str, variable: str) -> bool:
    """Say whether the derivative of `answer` in `variable` is the integrand, to seven digits.

    They are compared at seven points, those left out where the integrand has no value. Raises
    UnreadableError where the answer is no expression of numbers, the variable, a constant of
    integration (`C`, `c`, `K` or `k`), `pi`, `E` and the usual functions.

    >>> is_antiderivative("sin(x)**2/2 + C", "sin(x)*cos(x)", "x")
    True
    """
    answer_tree = parsed(answer)
    integrand_tree = parsed(integrand)
    compared = 0
    for number, point in enumerate(_POINTS):
        # another value at each point: an answer whose slope needs one of them never matches
        arbitrary = _Dual(math.sqrt(number + 0.7))
        names = {**dict.fromkeys(_ARBITRARY, arbitrary), **_CONSTANTS, variable: _Dual(point, 1)}
        try:
            target = _dual(integrand_tree, names).value
        except (ArithmeticError, ValueError):
            continue
        try:
            slope = _dual(answer_tree, names).slope
        except (ArithmeticError, ValueError, RecursionError) as error:
            if isinstance(error, UnreadableError):
                raise
            return False
        if not abs(slope - target) <= _TOLERANCE * (1 + abs(target)):  # NaN is no match
            return False
        compared += 1
    return compared >= _FEWEST


_ARBITRARY = ("C", "c", "K", "k")  # what a constant of integration is called
_CONSTANTS = {"pi": _Dual(math.pi), "E": _Dual(math.e)}


def _dual(node: ast.expr, names: Mapping[str, _Dual]) -> _Dual:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return _Dual(complex(node.value))
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = _dual(node.operand, names)
        return inner if isinstance(node.op, ast.UAdd) else _Dual(-inner.value, -inner.slope)
    if isinstance(node, ast.BinOp):
        return _joined(node.op, _dual(node.left, names), _dual(node.right, names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _called(node.func.id, [_dual(argument, names) for argument in node.args])
    raise UnreadableError(f"{type(node).__name__} is no part of a formula")


def _joined(op: ast.operator, one: _Dual, other: _Dual) -> _Dual:
    if isinstance(op, ast.Add):
        return _Dual(one.value + other.value, one.slope + other.slope)
    if isinstance(op, ast.Sub):
        return _Dual(one.value - other.value, one.slope - other.slope)
    if isinstance(op, ast.Mult):
        return _Dual(one.value * other.value, one.slope * other.value + one.value * other.slope)
    if isinstance(op, ast.Div):
        value = one.value / other.value
        return _Dual(value, (one.slope - value * other.slope) / other.value)
    if isinstance(op, ast.Pow):
        return _power(one, other)
    raise UnreadableError(f"{type(op).__name__} is no operator of a formula")


def _power(base: _Dual, exponent: _Dual) -> _Dual:
    value = base.value**exponent.value
    slope = 0j
    if base.slope and exponent.value:
        slope += exponent.value * base.value ** (exponent.value - 1) * base.slope
    if exponent.slope:
        slope += value * cmath.log(base.value) * exponent.slope
    return _Dual(value, slope)


def _called(name: str, arguments: list[_Dual]) -> _Dual:
    if name not in _FUNCTIONS or len(arguments) != 1:
        raise UnreadableError(f"{name} with {len(arguments)} arguments is no function of a formula")
    function, slope = _FUNCTIONS[name]
    [inner] = arguments
    return _Dual(function(inner.value), slope(inner.value) * inner.slope)


def _sign(number: complex) -> complex:
    return number / abs(number)


_FUNCTIONS: Mapping[str, tuple[_Function, _Function]] = {
    "sin": (cmath.sin, cmath.cos),
    "cos": (cmath.cos, lambda x: -cmath.sin(x)),
    "tan": (cmath.tan, lambda x: 1 / cmath.cos(x) ** 2),
    "sec": (lambda x: 1 / cmath.cos(x), lambda x: cmath.sin(x) / cmath.cos(x) ** 2),
    "csc": (lambda x: 1 / cmath.sin(x), lambda x: -cmath.cos(x) / cmath.sin(x) ** 2),
    "cot": (lambda x: 1 / cmath.tan(x), lambda x: -1 / cmath.sin(x) ** 2),
    "exp": (cmath.exp, cmath.exp),
    "log": (cmath.log, lambda x: 1 / x),
    "ln": (cmath.log, lambda x: 1 / x),
    "sqrt": (cmath.sqrt, lambda x: 0.5 / cmath.sqrt(x)),
    "asin": (cmath.asin, lambda x: 1 / cmath.sqrt(1 - x * x)),
    "acos": (cmath.acos, lambda x: -1 / cmath.sqrt(1 - x * x)),
    "atan": (cmath.atan, lambda x: 1 / (1 + x * x)),
    "sinh": (cmath.sinh, cmath.cosh),
    "cosh": (cmath.cosh, cmath.sinh),
    "tanh": (cmath.tanh, lambda x: 1 / cmath.cosh(x) ** 2),
    "abs": (abs, _sign),
    "Abs": (abs, _sign),
}
