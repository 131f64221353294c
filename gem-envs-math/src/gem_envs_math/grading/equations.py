"""Say whether two equations have the same solutions: exactly, where a rule of algebra tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gem_envs_math.grading.field import CONSTANTS, Element, Field, Value
from gem_envs_math.grading.grammar import compute
from gem_envs_math.grading.limits import Undefined
from gem_envs_math.grading.names import split_letters
from gem_envs_math.grading.tokens import Token

__all__ = ["Sides", "same_equation"]

Sides = tuple[Sequence[Token], Sequence[Token]]
"""The tokens on the left and on the right of an equation's sign."""

_POINTS = (1, 2)


def same_equation(a: Sides, b: Sides) -> bool | None:
    """Whether two equations have the same solutions; None where no rule here tells.

    They have if one is a multiple of the other. They have not if their symbols differ, or if a
    solution of one that is linear in some symbol does not solve the other.
    """
    ratios = [_ratio(a, b, point) for point in _POINTS]
    if ratios[0] == ratios[1]:
        return True
    symbols = _symbols(a)
    if symbols != _symbols(b):
        return False
    return False if _is_unsolved(a, b, symbols) or _is_unsolved(b, a, symbols) else None


def _ratio(a: Sides, b: Sides, point: int) -> Element:
    field = Field(point)
    ratio = field.divide(_difference(field, a), _difference(field, b))
    if not any(field.element(ratio)):
        raise Undefined("an equation that is always true")
    return field.element(ratio)


def _difference(field: Field, sides: Sides) -> Value:
    return field.add(compute(sides[0], field), field.negate(compute(sides[1], field)))


def _symbols(sides: Sides) -> set[str]:
    tokens = split_letters([*sides[0], *sides[1]])
    names = {token.text for token in tokens if token.kind == "symbol"}
    return names - CONSTANTS - {"i"}


def _is_unsolved(a: Sides, b: Sides, symbols: set[str]) -> bool:
    """Whether a solution of `a` at a random point, found by linearity, does not solve `b`."""
    for symbol in sorted(symbols):
        solution = _solution(a, symbol)
        if solution is not None:
            value, is_opaque = _at(b, {symbol: solution})
            return any(value) and not is_opaque
    return False


def _solution(sides: Sides, symbol: str) -> Value | None:
    """Return the symbol's value in a solution, None where the equation is not linear in it."""
    field = Field(_POINTS[0])
    (y0, _), (y1, _), (y2, is_opaque) = (_at(sides, {symbol: x}) for x in (0, 1, 2))
    slope = field.add(y1, field.negate(y0))
    is_linear = field.equal(field.add(y2, field.negate(y1)), slope) and any(field.element(slope))
    return field.negate(field.divide(y0, slope)) if is_linear and not is_opaque else None


def _at(sides: Sides, symbols: Mapping[str, Value]) -> tuple[Element, bool]:
    field = Field(_POINTS[0], symbols)
    return field.element(_difference(field, sides)), field.is_opaque
