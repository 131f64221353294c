"""Say whether two expressions are equal: exactly in the field, else by floats that they are not."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from gem_envs_math.grading.arithmetic.field import CONSTANTS, Field
from gem_envs_math.grading.arithmetic.grammar import Arithmetic, T, compute
from gem_envs_math.grading.arithmetic.numeric import (
    FLOATS,
    INTEGERS,
    POINTS,
    POSITIVE,
    SIZES,
    WHOLE,
    At,
    Kit,
    Measured,
)
from gem_envs_math.grading.comparing.labels import are_exclusive
from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.reading.shapes import Scalar
from gem_envs_math.grading.text.names import split_letters
from gem_envs_math.grading.text.tokens import Token
from gem_envs_math.grading.units.ending import split_bare_unit
from gem_envs_math.grading.units.measures import (
    COUNTS,
    DEGREE,
    PERCENT,
    STRANGE,
    Unit,
    is_label,
    is_price_in,
    known,
)

__all__ = ["same_scalar"]

_CLOSE = 1e-100  # the error of values that prove by agreeing
_ENOUGH = 2  # points that agree
_ENOUGH_WHOLE = 6  # of those at which symbols are whole numbers: (-1)^n has but two values
_ROUNDED = ("\\lfloor", "\\lceil")
_BARE = Unit(())
"""A bare number, or one whose unit says nothing: it is 1 times 1."""

_SIGNED = {
    Unit((("'", 1),)): tuple(map(known, ("ft", "min", "arcmin"))),
    Unit((("'", 2),)): tuple(map(known, ("in", "sec", "arcsec"))),
}
"""What the signs `'` and `''` are beside a unit."""

_HUNDREDTH = Unit((), Fraction(1, 100))


def same_scalar(a: Scalar, b: Scalar, kit: Kit = FLOATS) -> bool | None:
    """Whether two expressions with units are the same amount; None where that is not known.

    `kit` are the numbers that compare what no rule does exactly.
    """
    if are_exclusive(a.label, b.label):
        return False
    verdicts = [_equal(x, y, factors, kit) for x, y in _pairs(a, b) for factors in _factors(x, y)]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _pairs(a: Scalar, b: Scalar) -> list[tuple[Scalar, Scalar]]:
    r"""Return the readings to compare: beside `5 \text{ m}`, `5 m` is no product alone."""
    pairs = [(a, b)]
    if a.unit is None and _is_known(b.unit):
        bare = _with_bare_unit(a)
        pairs += [(bare, b)] if bare is not None else []
    if b.unit is None and _is_known(a.unit):
        bare = _with_bare_unit(b)
        pairs += [(a, bare)] if bare is not None else []
    return pairs


def _is_known(unit: Unit | None) -> bool:
    return unit not in (None, STRANGE) and not is_label(unit)


def _with_bare_unit(a: Scalar) -> Scalar | None:
    split = split_bare_unit(a.tokens)
    if split is None:
        return None
    field = Field()
    try:
        value = compute(split.number, field)
    except Unread:
        return None
    return Scalar(value, field.is_opaque, split.unit, a.scale, split.number)


def _factors(a: Scalar, b: Scalar) -> list[tuple[Unit, Unit]]:
    """Return the pairs of factors under which amounts in two units are to be compared."""
    if a.unit != b.unit and min(_power_of_label(a.unit), _power_of_label(b.unit)) > 1:
        return []  # square units are no cubic ones
    if _is_other_power(a.unit, b.unit) or _is_other_power(b.unit, a.unit):
        return []  # and no square metres are cubic units
    first = _measured(a.unit)
    second = _measured(b.unit)
    if first is None or second is None:
        return [(x, y) for x in _readings(first) for y in _readings(second)]
    if _is_convertible(first, second):
        return [(first, second)]
    for sign, measure in ((first, second), (second, first)):
        if measure in _SIGNED.get(sign, ()):
            return [(measure, measure)]
    # `\$15` beside `\$15` per hour: what stands on one side only is left out.
    if is_price_in(first, second) and second.money is not None:
        return [(first, Unit(first.dimension, second.money))]
    if is_price_in(second, first) and first.money is not None:
        return [(Unit(second.dimension, first.money), second)]
    return []


def _is_convertible(a: Unit, b: Unit) -> bool:
    """Whether two units have one dimension; one of them may leave counts out."""
    first = _without_counts(a)
    second = _without_counts(b)
    if first != second or not first:
        return a.dimension == b.dimension
    return a.dimension in (b.dimension, first) or b.dimension == second


def _without_counts(unit: Unit) -> tuple[tuple[str, int], ...]:
    return tuple(power for power in unit.dimension if power[0] not in COUNTS)


def _power_of_label(unit: Unit | None) -> int:
    return unit.dimension[0][1] if unit is not None and is_label(unit) else 0


def _is_other_power(label: Unit | None, unit: Unit | None) -> bool:
    """Whether `units` are squared or cubed, and beside them stands a unit of something else."""
    power = _power_of_label(label)
    if power < 2 or unit is None or not unit.dimension or is_label(unit):
        return False
    return unit.dimension != (("m", power),)


def _measured(unit: Unit | None) -> Unit | None:
    return None if is_label(unit) else unit


def _readings(unit: Unit | None) -> list[Unit]:
    """Return what a sign may mean beside a bare number: 50% is 50 and 1/2."""
    if unit == PERCENT:
        return [_BARE, _HUNDREDTH]
    return [_BARE, DEGREE] if unit == DEGREE else [_BARE]


def _equal(a: Scalar, b: Scalar, factors: tuple[Unit, Unit], kit: Kit) -> bool | None:
    field = Field()
    if factors[0].turns == factors[1].turns:
        factors = (factors[0]._replace(turns=0), factors[1]._replace(turns=0))
    first = _scaled(field, a.value, a.scale, factors[0])
    if field.equal(first, _scaled(field, b.value, b.scale, factors[1])):
        return True
    return _settle(a, b, factors, kit) if a.is_opaque or b.is_opaque else False


def _scaled(does: Arithmetic[T], value: T, scale: int, factor: Unit) -> T:
    if scale != 1:
        value = does.multiply(value, does.number(scale))
    if factor.factor != 1:
        value = does.multiply(value, does.number(factor.factor))
    for _ in range(factor.turns):
        value = does.multiply(value, does.symbol("\\pi"))
    for _ in range(-factor.turns):
        value = does.divide(value, does.symbol("\\pi"))
    return value


def _settle(a: Scalar, b: Scalar, factors: tuple[Unit, Unit], kit: Kit) -> bool | None:
    """Compare two expressions where both are defined, as far as the digits of a kit tell."""
    has_values = _has_values(a, factors[0], kit), _has_values(b, factors[1], kit)
    if not all(has_values):
        return _settle_by_whole_numbers(a, b, factors, kit, is_one_sided=any(has_values))
    agreed = 0
    is_simple = len(_symbols(a) | _symbols(b)) < 2  # the first points have both of its signs
    # Floats tell apart and never prove: where signs alone may differ, digits look.
    for point in range(POINTS if kit.proves else SIZES):
        x = _amount(a, factors[0], point, kit)
        y = _amount(b, factors[1], point, kit)
        if x is None or y is None:
            if kit.proves and point in POSITIVE and x is not y:
                return None  # where symbols are positive, both must be defined
            continue
        error = x.error + y.error
        if abs(x.number - y.number) > 2 * error:
            return False
        agreed += error < _CLOSE
        if agreed == _ENOUGH and kit.proves and is_simple:
            return True
    return True if kit.proves and agreed >= _ENOUGH else None


def _has_values(a: Scalar, factor: Unit, kit: Kit) -> bool:
    """Whether an expression has a value at a point where symbols are no whole numbers."""
    points = range(POINTS if kit.proves else SIZES)
    return any(_amount(a, factor, point, kit) is not None for point in points)


def _settle_by_whole_numbers(
    a: Scalar, b: Scalar, factors: tuple[Unit, Unit], kit: Kit, *, is_one_sided: bool
) -> bool | None:
    r"""Compare two expressions that have values at whole numbers alone: `(-1)^n`, `(2n)!`.

    Where only one of them has no others, the other may be meant for more than whole numbers:
    `\cos n\pi` is `(-1)^n`, as n is whole by custom, and `\cos x\pi` is no `(-1)^x`.
    """
    if is_one_sided and any(token.text in _ROUNDED for token in (*a.tokens, *b.tokens)):
        return None  # what is rounded has values elsewhere, which are not computed
    agreed = 0
    for point in INTEGERS if is_one_sided else WHOLE:
        x = _amount(a, factors[0], point, kit)
        y = _amount(b, factors[1], point, kit)
        if x is None or y is None:
            continue
        error = x.error + y.error
        if abs(x.number - y.number) > 2 * error:
            return False
        agreed += error < _CLOSE
    return True if kit.proves and agreed >= _ENOUGH_WHOLE else None


def _amount(a: Scalar, factor: Unit, point: int, kit: Kit) -> Measured | None:
    """Return an expression's value at a point with its unit's factor, None without a value."""
    value = _value(tuple(a.tokens), point, kit)
    return None if value is None else _scaled(At(point, kit), value, a.scale, factor)


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
