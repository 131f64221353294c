"""Say whether two equations or inequalities have the same solutions, where algebra tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gem_envs_math.grading.arithmetic.field import CONSTANTS, Element, Field, Value
from gem_envs_math.grading.arithmetic.grammar import Arithmetic, T, compute
from gem_envs_math.grading.arithmetic.numeric import FLOATS, POINTS, At, Kit, Measured
from gem_envs_math.grading.arithmetic.polynomials import Polynomial, numerator, same_roots
from gem_envs_math.grading.limits import Undefined, Unread
from gem_envs_math.grading.text.names import split_letters
from gem_envs_math.grading.text.splitting import levels
from gem_envs_math.grading.text.tokens import Token

__all__ = ["Sides", "same_equation", "same_inequality", "without_fractions"]

Sides = tuple[Sequence[Token], Sequence[Token]]
"""The tokens on the left and on the right of an equation's sign."""

_LEFT = Token("sign", "(")
_RIGHT = Token("sign", ")")
_TIMES = Token("sign", "*")
_ONE = Token("number", "1")
_POINTS = (1, 2)
# The two points that a line in the space of all symbols is made of.
_ORIGIN = 1
_DIRECTION = 3
_PLACES = (5, 8, 24)  # how many places on that line are looked at: for small degrees, and for large
_CLOSE = 1e-100  # the error of ratios that prove by agreeing
_ENOUGH = 3  # ratios that agree


def same_equation(a: Sides, b: Sides, kit: Kit = FLOATS) -> bool | None:
    """Whether two equations have the same solutions; None where no rule here tells.

    They have if one is a multiple of the other. Else two that are rational have if the same
    complex numbers solve both, however often. Where functions without an exact rule stand, they
    have not; that takes a `kit` that proves. What holds for all values of its symbols, or has
    none, says nothing about them, and is no other equation.
    """
    try:
        first = _differences(a)
        second = _differences(b)
        if _says_nothing(first) or _says_nothing(second):
            return False
        if _have_one_ratio(first, second):
            return True
        return _have_same_solutions(a, b, kit)
    except Undefined:
        return False


def same_inequality(a: Sides, b: Sides, kit: Kit = FLOATS) -> bool | None:
    """Whether `a[0] < a[1]` says what `b[0] < b[1]` does: if it is a positive multiple.

    None where a function without an exact rule stands, and `kit` does not prove.
    """
    try:
        first = _differences(a)
        second = _differences(b)
        if _says_nothing(first) or _says_nothing(second):
            return False
        if first == second:
            return True
        if first[0] == Field().negate(second[0]):
            return False
        if _have_one_ratio(first, second):
            at = At(0)
            return _is_positive(at.divide(_difference(at, a), _difference(at, b)))
        if not (_on_line(a, 0).is_opaque or _on_line(b, 0).is_opaque):
            return False
        ratio = _ratio_in_digits(a, b, kit) if kit.proves else None
    except Undefined:
        return False
    return None if not kit.proves else ratio is not None and _is_positive(ratio)


def without_fractions(sides: Sequence[Sequence[Token]]) -> Sides | None:
    r"""Return `p s = r q` of `\frac{p}{q} = \frac{r}{s}`: the same where both are defined.

    None where no side is a fraction, or no function stands in them: what is rational is compared
    by its solutions. None also where one is divided by zero, and so never defined.
    """
    parts = [_fraction(side) for side in sides]
    if any(part is not None and not _is_anywhere_nonzero(part[1]) for part in parts):
        return None
    has_function = any(token.kind == "function" for side in sides for token in split_letters(side))
    if not has_function or all(part is None for part in parts):
        return None
    (p, q), (r, s) = (part or (side, [_ONE]) for part, side in zip(parts, sides, strict=True))
    return [_LEFT, *p, _RIGHT, _TIMES, _LEFT, *s, _RIGHT], [
        *(_LEFT, *r, _RIGHT, _TIMES),
        *(_LEFT, *q, _RIGHT),
    ]


def _fraction(side: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]] | None:
    """Return what stands above and below, where a side is one fraction."""
    if len(side) < 7 or side[0].text != "\\frac" or side[1].text != "{" or side[-1].text != "}":
        return None
    depths = levels(side)
    closing = [at for at in range(2, len(side)) if side[at].text == "}" and not depths[at]]
    if len(closing) != 2 or side[closing[0] + 1].text != "{" or closing[1] != len(side) - 1:
        return None
    return side[2 : closing[0]], side[closing[0] + 2 : -1]


def _is_anywhere_nonzero(tokens: Sequence[Token]) -> bool:
    for point in range(POINTS):
        try:
            value = compute(tokens, At(point))
        except (Unread, ArithmeticError, ValueError):
            continue
        if abs(value.number) > 2 * value.error:
            return True
    return False


def _is_positive(a: Measured) -> bool:
    return bool(a.number.real > a.error >= abs(a.number.imag))


def _difference(does: Arithmetic[T], sides: Sides) -> T:
    return does.add(compute(sides[0], does), does.negate(compute(sides[1], does)))


def _differences(sides: Sides) -> list[Element]:
    """Return what one side is more than the other, at two points."""
    fields = [Field(point) for point in _POINTS]
    return [field.element(_difference(field, sides)) for field in fields]


def _says_nothing(differences: list[Element]) -> bool:
    """Whether an equation holds for all values of its symbols or, by the same amount, for none."""
    return differences[0] == differences[1]


def _have_one_ratio(first: list[Element], second: list[Element]) -> bool:
    field = Field()
    return field.multiply(first[0], second[1]) == field.multiply(first[1], second[0])


class _Line(Field):
    """The field's arithmetic with all symbols on one random line, at place `t` of it."""

    def __init__(self, t: int) -> None:
        super().__init__(_ORIGIN)
        self.t = t
        self.names: set[str] = set()

    def symbol(self, name: str) -> Value:
        origin = super().symbol(name)
        if name in CONSTANTS or name == "i":
            return origin
        self.names.add(name)
        return self.add(origin, self.multiply(self.t, Field(_DIRECTION).symbol(name)))


class _Place(NamedTuple):
    """What an equation is at a place of the line."""

    difference: Element
    names: set[str]
    is_opaque: bool


def _on_line(sides: Sides, t: int) -> _Place:
    line = _Line(t)
    difference = line.element(_difference(line, sides))
    return _Place(difference, line.names, line.is_opaque)


def _have_same_solutions(a: Sides, b: Sides, kit: Kit) -> bool | None:
    first = _on_line(a, 0)
    second = _on_line(b, 0)
    if first.names != second.names:
        return False
    is_opaque = first.is_opaque or second.is_opaque
    places = _PLACES[:2] if is_opaque else _PLACES  # it is hardly ever rational
    one = _numerator(a, places)
    other = None if one is None else _numerator(b, places)
    if one is not None and other is not None:
        # A line meets different curves in different points, but for a chance below 2^-90.
        is_same = len(one) > 1 and same_roots(one, other)
        if is_same or not is_opaque:
            return is_same
    elif not is_opaque:
        return False  # of too high a degree, where only a multiple counts
    if not kit.proves:
        return None
    return _ratio_in_digits(a, b, kit) is not None


def _numerator(sides: Sides, all_places: Sequence[int]) -> Polynomial | None:
    """Return what must be zero at a place of the line that solves an equation; None if unknown."""
    values: list[Element] = []
    for places in all_places:
        values += [_on_line(sides, t).difference for t in range(len(values), places)]
        polynomial = numerator(values)
        if polynomial is not None:
            return polynomial
    return None


def _ratio_in_digits(a: Sides, b: Sides, kit: Kit) -> Measured | None:
    """Return the constant that makes one difference the other; None where none is found."""
    ratios: list[Measured] = []
    for point in range(POINTS):
        at = At(point, kit)
        try:
            ratio = at.divide(_difference(at, a), _difference(at, b))
        except (Unread, ArithmeticError, ValueError):
            continue
        if abs(ratio.number) <= ratio.error or ratio.error > _CLOSE:
            return None
        ratios.append(ratio)
    are_same = all(
        abs(ratio.number - ratios[0].number) <= 2 * (ratio.error + ratios[0].error)
        for ratio in ratios
    )
    return ratios[0] if are_same and len(ratios) >= _ENOUGH else None
