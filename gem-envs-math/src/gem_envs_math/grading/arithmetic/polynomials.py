"""Polynomials in one unknown over the finite field: found from values, and their roots compared.

Knows nothing about equations.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.arithmetic.field import Element, Field

__all__ = ["Polynomial", "numerator", "same_roots"]

Polynomial = list[Element]
"""Coefficients from the constant one on; the last is not zero. [] is zero."""

_SPARE = 3  # values beyond those that fix a quotient: it is a chance of 2^-300 that they fit


def numerator(values: Sequence[Element]) -> Polynomial | None:
    """Return the numerator, in lowest terms, of the rational function with these values.

    They are its values at 0, 1, 2, ... None where no quotient has them whose degrees are, in sum,
    below the number of values by more than a few: the function is none, or of too high a degree.
    """
    p = Field().p
    below, remainder = _interpolated(values, p)
    # Euclid's algorithm meets every quotient of polynomials that has the values.
    over = remainder
    under = [(1, 0)]
    last_over = below
    last_under = list[Element]()
    best = over
    degrees = len(over) - 1
    while over:
        if len(over) + len(under) - 2 < degrees:
            best = over
            degrees = len(over) + len(under) - 2
        if degrees < len(values) - _SPARE:
            return best
        factor, rest = _divided(last_over, over, p)
        last_over = over
        over = rest
        next_under = _minus(last_under, _product(factor, under, p), p)
        last_under = under
        under = next_under
    return None


def same_roots(a: Polynomial, b: Polynomial) -> bool:
    """Whether two polynomials that are not zero have the same roots, however often each."""
    return _has_roots_of(a, b) and _has_roots_of(b, a)


def _has_roots_of(a: Polynomial, b: Polynomial) -> bool:
    """Whether every root of `b` is one of `a`."""
    p = Field().p
    while len(b) > 1:
        common = _common_divisor(a, b, p)
        if len(common) == 1:
            return False
        b, _ = _divided(b, common, p)
    return True


def _common_divisor(a: Polynomial, b: Polynomial, p: int) -> Polynomial:
    while b:
        _, rest = _divided(a, b, p)
        a = b
        b = rest
    return a


def _interpolated(values: Sequence[Element], p: int) -> tuple[Polynomial, Polynomial]:
    """Return the product of all X - t, and the polynomial with the values at t = 0, 1, 2, ..."""
    product: Polynomial = [(1, 0)]
    polynomial: Polynomial = []
    for place, value in enumerate(values):
        # `polynomial` has the earlier values. A multiple of `product`, which is zero at all of
        # them, adds this one.
        has = _at(polynomial, place, p)
        lacking = (has[0] - value[0], has[1] - value[1])
        factor = _times(lacking, _inverse(_at(product, place, p), p), p)
        polynomial = _minus(polynomial, _product([factor], product, p), p)
        product = _product([(-place % p, 0), (1, 0)], product, p)
    return product, polynomial


def _at(a: Polynomial, place: int, p: int) -> Element:
    real = 0
    imaginary = 0
    for coefficient in reversed(a):
        real = (real * place + coefficient[0]) % p
        imaginary = (imaginary * place + coefficient[1]) % p
    return real, imaginary


def _minus(a: Polynomial, b: Polynomial, p: int) -> Polynomial:
    longest = max(len(a), len(b))
    first, second = (part + [(0, 0)] * (longest - len(part)) for part in (a, b))
    pairs = zip(first, second, strict=True)
    return _trimmed([((x[0] - y[0]) % p, (x[1] - y[1]) % p) for x, y in pairs])


def _product(a: Polynomial, b: Polynomial, p: int) -> Polynomial:
    if not a or not b:
        return []
    product: Polynomial = [(0, 0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b, i):
            term = _times(x, y, p)
            has = product[j]
            product[j] = (has[0] + term[0]) % p, (has[1] + term[1]) % p
    return _trimmed(product)


def _divided(a: Polynomial, b: Polynomial, p: int) -> tuple[Polynomial, Polynomial]:
    """Return quotient and remainder."""
    rest = list(a)
    quotient: Polynomial = [(0, 0)] * max(0, len(a) - len(b) + 1)
    inverse = _inverse(b[-1], p)
    for shift in reversed(range(len(quotient))):
        factor = _times(rest[shift + len(b) - 1], inverse, p)
        quotient[shift] = factor
        for at, coefficient in enumerate(b, shift):
            term = _times(factor, coefficient, p)
            has = rest[at]
            rest[at] = (has[0] - term[0]) % p, (has[1] - term[1]) % p
    return _trimmed(quotient), _trimmed(rest)


# Not by Field's methods, which take whole numbers and fractions too, and twice the time.
def _times(x: Element, y: Element, p: int) -> Element:
    return (x[0] * y[0] - x[1] * y[1]) % p, (x[0] * y[1] + x[1] * y[0]) % p


def _inverse(x: Element, p: int) -> Element:
    size = pow(x[0] * x[0] + x[1] * x[1], -1, p)
    return x[0] * size % p, -x[1] * size % p


def _trimmed(a: Polynomial) -> Polynomial:
    end = len(a)
    while end and not any(a[end - 1]):
        end -= 1
    return a[:end]
