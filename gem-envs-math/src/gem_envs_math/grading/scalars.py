"""Read one number or expression with its unit."""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.field import Field
from gem_envs_math.grading.grammar import compute
from gem_envs_math.grading.shapes import Scalar
from gem_envs_math.grading.sums import read_sum
from gem_envs_math.grading.tokens import Token
from gem_envs_math.grading.units import split_unit

__all__ = ["read_scalar"]


def read_scalar(tokens: Sequence[Token]) -> Scalar:
    """Return the value of an expression with or without a unit."""
    number, unit, scale = split_unit(tokens)
    amount = read_sum(number, unit) if unit is not None else None
    if amount is not None:
        return amount
    field = Field()
    value = compute(number, field)
    return Scalar(value, field.is_opaque, unit, scale, number)
