r"""Compute sums without end whose terms have a rational ratio: `\sum x^n/n!`, in milliseconds.

sympy's own way may take seconds for each. Knows nothing about where symbols are put.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

__all__ = ["with_sums_computed"]

# Any: sympy has no types of its own.

_GUARD = 20  # digits beyond those that are asked for
_STEEPEST = 0.97  # of the ratios of far terms: above it a sum takes too long to converge
_MOST_TERMS = 8_000
_MOST_TERMS_BY_THEMSELVES = 12  # beside zeros and poles of the ratio
_MOST_SUMS = 12


class _Ratio(NamedTuple):
    """The ratio of a term and the one before: two polynomials in the index, highest power first."""

    above: Sequence[Any]
    below: Sequence[Any]

    def at(self, place: Mapping[Any, Any]) -> _Ratio:
        """Return the ratio with numbers of mpmath for coefficients."""
        above = [_number(coefficient.subs(place)) for coefficient in self.above]
        below = [_number(coefficient.subs(place)) for coefficient in self.below]
        return _Ratio(above, below)


def with_sums_computed(expression: Any, place: Mapping[Any, Any], digits: int) -> Any | None:
    """Return an expression with its sums without end as numbers, where symbols are at a place.

    None where one of them diverges there. A sum whose terms have no rational ratio, or one that
    converges too slowly, stays as it is.
    """
    import mpmath
    from sympy import Float, I, Sum

    numbers = {}
    with mpmath.workdps(digits + _GUARD):
        for total in sorted(expression.atoms(Sum), key=str)[:_MOST_SUMS]:
            value = _value(total, place)
            if value is None:
                continue
            if not mpmath.isfinite(value):
                return None
            real, imaginary = (Float(part, digits + _GUARD) for part in (value.real, value.imag))
            numbers[total] = real + I * imaginary if value.imag else real
    return expression.xreplace(numbers) if numbers else expression


def _value(total: Any, place: Mapping[Any, Any]) -> Any | None:
    """Return a sum's value, infinity where it diverges, None where it is not known."""
    import mpmath
    from sympy import Add, Sum, oo

    if len(total.limits) > 1 or len(total.limits[0]) < 3 or total.function.has(Sum):
        return None
    index, low, high = total.limits[0]
    if high != oo or not low.is_Integer:
        return None
    value = mpmath.mpc(0)
    for part in Add.make_args(total.function):
        symbolic = _ratio(part, index)
        if symbolic is None:
            return None
        ratio = symbolic.at(place)
        limit = _limit(ratio)
        if limit > 1:
            return mpmath.mpc(mpmath.inf)
        summed = _summed(part.subs(place), index, int(low), ratio) if limit < 1 else None
        if summed is None:
            return None
        value += summed
    return value


@lru_cache(maxsize=64)  # for the points at which one sum is computed
def _ratio(term: Any, index: Any) -> _Ratio | None:
    from sympy import Poly, PolynomialError
    from sympy.simplify.simplify import hypersimp

    ratio = hypersimp(term, index)
    if ratio is None or not ratio.is_rational_function(index):
        return None
    try:
        above, below = (Poly(part, index).all_coeffs() for part in ratio.as_numer_denom())
    except PolynomialError:
        return None
    return _Ratio(above, below)


def _number(expression: Any) -> Any:
    """Return a number of mpmath at its present precision. Raises ValueError for what is none."""
    import mpmath

    real, imaginary = expression.evalf(mpmath.mp.dps + 5).as_real_imag()
    number = mpmath.mpc(str(real), str(imaginary))
    if not mpmath.isfinite(number):
        raise ValueError("a term that has no value")
    return number


def _limit(ratio: _Ratio) -> float:
    """Return the size that ratios of far terms come near."""
    if len(ratio.above) != len(ratio.below):
        return 0.0 if len(ratio.above) < len(ratio.below) else float("inf")
    return float(abs(ratio.above[0] / ratio.below[0]))


def _summed(term: Any, index: Any, start: int, ratio: _Ratio) -> Any | None:
    """Return the sum of all terms from one index on; None where that takes too many of them."""
    import mpmath

    last = _number(term.subs(index, start))
    if len(ratio.above) == len(ratio.below) == 1:
        return last / (1 - ratio.above[0] / ratio.below[0])
    if _limit(ratio) > _STEEPEST:
        return None
    small = mpmath.mpf(10) ** -mpmath.mp.dps
    total = last
    by_themselves = 0
    for at in range(start, start + _MOST_TERMS):
        below = mpmath.polyval(ratio.below, at)
        if below and last:
            factor = mpmath.polyval(ratio.above, at) / below
            last *= factor
            if abs(factor) < (1 + _STEEPEST) / 2 and abs(last) < small * max(1, abs(total)):
                return total
        else:
            # The ratio says nothing beside a term that is zero.
            by_themselves += 1
            if by_themselves > _MOST_TERMS_BY_THEMSELVES:
                return None
            last = _number(term.subs(index, at + 1))
        total += last
    return None
