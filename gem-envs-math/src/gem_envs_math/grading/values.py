"""Say whether two expressions are equal: exactly in the field, else by floats that they are not."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from gem_envs_math.grading.field import Field
from gem_envs_math.grading.floats import POINTS, Floats
from gem_envs_math.grading.grammar import Arithmetic, T, compute
from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.shapes import Scalar
from gem_envs_math.grading.tokens import Token
from gem_envs_math.grading.units import LABEL, Unit

__all__ = ["same_scalar"]

_ONE = Fraction(1)
_DEGREE = "degree"
Factor = Fraction | str


def same_scalar(a: Scalar, b: Scalar) -> bool | None:
    """Whether two expressions with units are the same amount; None where that is not known."""
    pairs = _factors(a.unit, b.unit)
    verdicts = [_equal(a, b, first, second) for first, second in pairs]
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


def _equal(a: Scalar, b: Scalar, first: Factor, second: Factor) -> bool | None:
    field = Field()
    if field.equal(
        _scaled(field, a.value, a.scale, first), _scaled(field, b.value, b.scale, second)
    ):
        return True
    if not (a.is_opaque or b.is_opaque):
        return False
    return False if _differ(a, b, first, second) else None


def _scaled(does: Arithmetic[T], value: T, scale: int, factor: Factor) -> T:
    if scale != 1:
        value = does.multiply(value, does.number(scale))
    if isinstance(factor, str):
        straight = does.divide(does.symbol("\\pi"), does.number(180))
        return does.multiply(value, straight)
    return value if factor == 1 else does.multiply(value, does.number(factor))


def _differ(a: Scalar, b: Scalar, first: Factor, second: Factor) -> bool:
    """Whether floats prove, at one point at least, that two expressions are not equal."""
    for point in range(POINTS):
        x, y = _float(tuple(a.tokens), point), _float(tuple(b.tokens), point)
        if x is None or y is None:
            continue
        floats = Floats(point)
        scale = max(x[1], y[1], a.scale, b.scale)
        distance = _scaled(floats, x[0], a.scale, first) - _scaled(floats, y[0], b.scale, second)
        if abs(distance) > 1e-12 * scale**3:
            return True
    return False


@lru_cache(maxsize=512)
def _float(tokens: tuple[Token, ...], point: int) -> tuple[complex, float] | None:
    """Return an expression's value at a point and the scale of its error, None without one."""
    floats = Floats(point)
    try:
        return compute(tokens, floats), floats.scale
    except (Unread, ArithmeticError, ValueError):
        return None
