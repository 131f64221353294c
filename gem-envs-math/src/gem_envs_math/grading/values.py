"""Say whether two expressions are equal: exactly in the field, else by floats that they are not."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from gem_envs_math.grading.field import CONSTANTS, Field
from gem_envs_math.grading.grammar import Arithmetic, T, compute
from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.names import split_letters
from gem_envs_math.grading.numeric import FLOATS, POINTS, POSITIVE, At, Kit, Measured
from gem_envs_math.grading.shapes import Scalar
from gem_envs_math.grading.tokens import Token
from gem_envs_math.grading.units import LABEL, Unit

__all__ = ["same_scalar"]

_CLOSE = 1e-100  # the error of values that prove by agreeing
_ENOUGH = 2  # points that agree
_ONE = Fraction(1)
_DEGREE = "degree"
Factor = Fraction | str


def same_scalar(a: Scalar, b: Scalar, kit: Kit = FLOATS) -> bool | None:
    """Whether two expressions with units are the same amount; None where that is not known.

    `kit` are the numbers that compare what no rule does exactly.
    """
    verdicts = [_equal(a, b, factors, kit) for factors in _factors(a.unit, b.unit)]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _factors(a: Unit | None, b: Unit | None) -> list[tuple[Factor, Factor]]:
    """Return the pairs of factors under which amounts in two units are to be compared."""
    first, second = _known(a), _known(b)
    if first is None or second is None:
        return [(x, y) for x in _readings(first) for y in _readings(second)]
    if {first.dimension, second.dimension} == {_DEGREE, "radian"}:
        return [
            (
                _DEGREE if first.dimension == _DEGREE else _ONE,
                _DEGREE if second.dimension == _DEGREE else _ONE,
            )
        ]
    if first.dimension != second.dimension:
        return []
    return [(first.factor, second.factor)]


def _known(unit: Unit | None) -> Unit | None:
    return None if unit == LABEL else unit


def _readings(unit: Unit | None) -> list[Factor]:
    """Return what a sign may mean beside a bare number: 50% is 50 and 1/2."""
    if unit is None:
        return [_ONE]
    if unit.dimension == "percent":
        return [_ONE, Fraction(1, 100)]
    return [_ONE, _DEGREE] if unit.dimension == _DEGREE else [_ONE]


def _equal(a: Scalar, b: Scalar, factors: tuple[Factor, Factor], kit: Kit) -> bool | None:
    field = Field()
    first = _scaled(field, a.value, a.scale, factors[0])
    if field.equal(first, _scaled(field, b.value, b.scale, factors[1])):
        return True
    return _settle(a, b, factors, kit) if a.is_opaque or b.is_opaque else False


def _scaled(does: Arithmetic[T], value: T, scale: int, factor: Factor) -> T:
    if scale != 1:
        value = does.multiply(value, does.number(scale))
    if isinstance(factor, str):
        straight = does.divide(does.symbol("\\pi"), does.number(180))
        return does.multiply(value, straight)
    return value if factor == 1 else does.multiply(value, does.number(factor))


def _settle(a: Scalar, b: Scalar, factors: tuple[Factor, Factor], kit: Kit) -> bool | None:
    """Compare two expressions where both are defined, as far as the digits of a kit tell."""
    agreed = 0
    is_simple = len(_symbols(a) | _symbols(b)) < 2  # the first points have both of its signs
    for point in range(POINTS):
        x, y = _value(tuple(a.tokens), point, kit), _value(tuple(b.tokens), point, kit)
        if x is None or y is None:
            if kit.proves and point in POSITIVE and x is not y:
                return None  # where symbols are positive, both must be defined
            continue
        at = At(point, kit)
        first = _scaled(at, x, a.scale, factors[0])
        second = _scaled(at, y, b.scale, factors[1])
        error = first.error + second.error
        if abs(first.number - second.number) > 2 * error:
            return False
        agreed += error < _CLOSE
        if agreed == _ENOUGH and kit.proves and is_simple:
            return True
    return True if kit.proves and agreed >= _ENOUGH else None


def _symbols(a: Scalar) -> set[str]:
    names = {token.text for token in split_letters(a.tokens) if token.kind == "symbol"}
    return names - CONSTANTS


@lru_cache(maxsize=512)
def _value(tokens: tuple[Token, ...], point: int, kit: Kit) -> Measured | None:
    """Return an expression's value at a point, None without one."""
    at = At(point, kit)
    try:
        return compute(tokens, at)
    except (Unread, ArithmeticError, ValueError):
        return None
