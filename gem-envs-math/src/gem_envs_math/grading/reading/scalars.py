"""Read one number or expression with its unit."""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.arithmetic.field import Field
from gem_envs_math.grading.arithmetic.grammar import compute
from gem_envs_math.grading.limits import Undefined
from gem_envs_math.grading.reading.shapes import Scalar
from gem_envs_math.grading.reading.sums import read_sum
from gem_envs_math.grading.text.tokens import Token
from gem_envs_math.grading.units.ending import split_unit
from gem_envs_math.grading.units.measures import known

__all__ = ["read_scalar"]

_INFINITIES = frozenset(("\\infty", "infty", "infinity", "Infinity"))
_AROUND = frozenset("+-(){}")


def read_scalar(tokens: Sequence[Token]) -> Scalar:
    """Return the value of an expression with or without a unit. Raises Unread and its kin."""
    number, unit, scale = split_unit(tokens)
    amount = read_sum(number, unit) if unit is not None else None
    if amount is not None:
        return amount
    field = Field()
    value = compute(number, field)
    if not _INFINITIES.isdisjoint(token.text for token in number) and not _is_infinity(number):
        raise Undefined("arithmetic with infinity")
    label = "" if unit is None else _words(tokens[len(number) :])
    return Scalar(value, field.is_opaque, unit, scale, number, label)


def _words(tokens: Sequence[Token]) -> str:
    """Return the words that are no unit."""
    words = (token.text for token in tokens if token.kind in ("word", "letters"))
    return " ".join(word for word in words if known(word) is None).casefold()


def _is_infinity(tokens: Sequence[Token]) -> bool:
    """Whether tokens are infinity with its sign, and nothing that is reckoned with it."""
    return len([token for token in tokens if token.text not in _AROUND]) == 1
