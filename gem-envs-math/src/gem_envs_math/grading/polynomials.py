"""Polynomials in one unknown over the finite field: found from values, and their roots compared.

Knows nothing about equations.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.field import Element, Field

__all__ = ["Polynomial", "numerator", "same_roots"]

Polynomial = list[Element]
"""Coefficients from the constant one on; the last is not zero. [] is zero."""

_SPARE = 3  # values beyond those that fix a quotient: it is a chance of 2^-300 that they fit


def numerator(values: Sequence[Element]) -> Polynomial | None:
    """Return the numerator, in lowest terms, of the rational function with these values.

    They are its values at 0, 1, 2, ... None where no quotient has them whose degrees are, in sum,
    below the number of values by more than a few: the function is none, or of too high a degree.
    """
    field = Field()
    below, remainder = _interpolated(values, field)
    # Euclid's algorithm meets every quotient of polynomials that has the values.
    over, under = remainder, [(1, 0)]
    last_over, last_under = below, list[Element]()
    best, degrees = over, len(over) - 1
    while over:
        if len(over) + len(under) - 2 < degrees:
            best, degrees = over, len(over) + len(under) - 2
        factor, rest = _divided(last_over, over, field)
        last_over, over = over, rest
        last_under, under = under, _minus(last_under, _product(factor, under, field), field)
    return best if degrees < len(values) - _SPARE else None


def same_roots(a: Polynomial, b: Polynomial) -> bool:
    """Whether two polynomials that are not zero have the same roots, however often each."""
    return _has_roots_of(a, b) and _has_roots_of(b, a)


def _has_roots_of(a: Polynomial, b: Polynomial) -> bool:
    """Whether every root of `b` is one of `a`."""
    field = Field()
    while len(b) > 1:
        common = _common_divisor(a, b, field)
        if len(common) == 1:
            return False
        b, _ = _divided(b, common, field)
    return True


def _common_divisor(a: Polynomial, b: Polynomial, field: Field) -> Polynomial:
    while b:
        _, rest = _divided(a, b, field)
        a, b = b, rest
    return a


def _interpolated(values: Sequence[Element], field: Field) -> tuple[Polynomial, Polynomial]:
    """Return the product of all X - t, and the polynomial with the values at t = 0, 1, 2, ..."""
    product: Polynomial = [(1, 0)]
    found: Polynomial = []
    for place, value in enumerate(values):
        # `found` has the earlier values; a multiple of `product`, which has none, adds this one.
        missing = field.add(value, field.negate(_at(found, place, field)))
        factor = field.element(field.divide(missing, _at(product, place, field)))
        found = _minus(
            found, _product([field.element(field.negate(factor))], product, field), field
        )
        product = _product([field.element(-place), (1, 0)], product, field)
    return product, found


def _at(a: Polynomial, place: int, field: Field) -> Element:
    value: Element = (0, 0)
    for coefficient in reversed(a):
        value = field.element(field.add(field.multiply(value, place), coefficient))
    return value


def _minus(a: Polynomial, b: Polynomial, field: Field) -> Polynomial:
    longest = max(len(a), len(b))
    first, second = (part + [(0, 0)] * (longest - len(part)) for part in (a, b))
    pairs = zip(first, second, strict=True)
    return _trimmed([field.element(field.add(x, field.negate(y))) for x, y in pairs])


def _product(a: Polynomial, b: Polynomial, field: Field) -> Polynomial:
    if not a or not b:
        return []
    product: Polynomial = [(0, 0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            product[i + j] = field.element(field.add(product[i + j], field.multiply(x, y)))
    return _trimmed(product)


def _divided(a: Polynomial, b: Polynomial, field: Field) -> tuple[Polynomial, Polynomial]:
    """Return quotient and remainder."""
    rest = list(a)
    quotient: Polynomial = [(0, 0)] * max(0, len(a) - len(b) + 1)
    for shift in reversed(range(len(quotient))):
        factor = field.element(field.divide(rest[shift + len(b) - 1], b[-1]))
        quotient[shift] = factor
        for index, coefficient in enumerate(b):
            lost = field.negate(field.multiply(factor, coefficient))
            rest[shift + index] = field.element(field.add(rest[shift + index], lost))
    return _trimmed(quotient), _trimmed(rest)


def _trimmed(a: Polynomial) -> Polynomial:
    end = len(a)
    while end and not any(a[end - 1]):
        end -= 1
    return a[:end]
