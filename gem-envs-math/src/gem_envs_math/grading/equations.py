"""Say whether two equations or inequalities have the same solutions, where algebra tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gem_envs_math.grading.field import CONSTANTS, Element, Field, Value
from gem_envs_math.grading.grammar import Arithmetic, T, compute
from gem_envs_math.grading.limits import Undefined
from gem_envs_math.grading.names import split_letters
from gem_envs_math.grading.numeric import At
from gem_envs_math.grading.tokens import Token

__all__ = ["Sides", "same_equation", "same_inequality"]

Sides = tuple[Sequence[Token], Sequence[Token]]
"""The tokens on the left and on the right of an equation's sign."""

_POINTS = (1, 2)
_TRIES = range(1, 33)  # points; at every second one a square root is known


def same_equation(a: Sides, b: Sides) -> bool | None:
    """Whether two equations have the same solutions; None where no rule here tells.

    They have if one is a multiple of the other. They have not if their symbols differ, or if a
    solution of one that is linear or quadratic in some symbol does not solve the other.
    """
    ratios = [_ratio(a, b, point) for point in _POINTS]
    if ratios[0] == ratios[1]:
        return True
    symbols = _symbols(a)
    if symbols != _symbols(b):
        return False
    return False if _is_unsolved(a, b, symbols) or _is_unsolved(b, a, symbols) else None


def same_inequality(a: Sides, b: Sides) -> bool | None:
    """Whether `a[0] < a[1]` says what `b[0] < b[1]` does: if it is a positive multiple.

    None where it is no multiple, yet has the same symbols.
    """
    ratios = [_ratio(a, b, point) for point in _POINTS]
    if ratios[0] != ratios[1]:
        return None if _symbols(a) == _symbols(b) else False
    at = At(0)
    ratio = at.divide(_difference(at, a), _difference(at, b))
    return None if abs(ratio.number.real) <= ratio.error else bool(ratio.number.real > 0)


def _ratio(a: Sides, b: Sides, point: int) -> Element:
    field = Field(point)
    ratio = field.element(field.divide(_difference(field, a), _difference(field, b)))
    if not any(ratio):
        raise Undefined("a relation that holds for all values")
    return ratio


def _difference(does: Arithmetic[T], sides: Sides) -> T:
    return does.add(compute(sides[0], does), does.negate(compute(sides[1], does)))


def _symbols(sides: Sides) -> set[str]:
    tokens = split_letters([*sides[0], *sides[1]])
    names = {token.text for token in tokens if token.kind == "symbol"}
    return names - CONSTANTS - {"i"}


def _is_unsolved(a: Sides, b: Sides, symbols: set[str]) -> bool:
    """Whether a solution of `a` at a random point does not solve `b`."""
    for symbol in sorted(symbols):
        for point in _TRIES:
            solutions = _solutions(a, symbol, point)
            if solutions:
                left = [_at(b, point, {symbol: solution}) for solution in solutions]
                return any(any(value) and not is_opaque for value, is_opaque in left)
    return False


def _solutions(sides: Sides, symbol: str, point: int) -> list[Value]:
    """Return the symbol's values in all solutions, [] where the equation has a higher degree in it.

    [] also where the field lacks the square root of a quadratic's discriminant.
    """
    field = Field(point)
    values = [_at(sides, point, {symbol: x}) for x in range(4)]
    y0, y1, y2, y3 = (value for value, _ in values)
    first = _minus(field, y1, y0)
    second = _minus(field, _minus(field, y2, y1), first)
    third = _minus(field, _minus(field, _minus(field, y3, y2), _minus(field, y2, y1)), second)
    if any(is_opaque for _, is_opaque in values) or any(field.element(third)):
        return []  # a quadratic has constant second differences
    square = field.divide(second, 2)
    linear = _minus(field, first, square)
    if not any(field.element(square)):
        has_slope = any(field.element(linear))
        return [field.negate(field.divide(y0, linear))] if has_slope else []
    product = field.multiply(4, field.multiply(square, y0))
    root = field.square_root(field.element(_minus(field, field.multiply(linear, linear), product)))
    if root is None:
        return []
    return [field.divide(_minus(field, r, linear), second) for r in (root, field.negate(root))]


def _minus(field: Field, a: Value, b: Value) -> Value:
    return field.add(a, field.negate(b))


def _at(sides: Sides, point: int, symbols: Mapping[str, Value]) -> tuple[Element, bool]:
    field = Field(point, symbols)
    return field.element(_difference(field, sides)), field.is_opaque
