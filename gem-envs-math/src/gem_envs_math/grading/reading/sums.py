r"""Read an amount in several units as one in the last of them: `2 \text{ h } 30 \text{ min}`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gem_envs_math.grading.arithmetic.field import Field
from gem_envs_math.grading.arithmetic.grammar import compute
from gem_envs_math.grading.reading.shapes import Scalar
from gem_envs_math.grading.text.tokens import Token
from gem_envs_math.grading.units.ending import split_unit
from gem_envs_math.grading.units.measures import Unit

__all__ = ["read_sum"]

_MOST_PARTS = 4


def read_sum(number: Sequence[Token], unit: Unit) -> Scalar | None:
    r"""Return the amount whose last unit is `unit` and what stands before it `number`.

    `number` is `5\text{ ft }3` in `5\text{ ft }3\text{ in}`: plain numbers, each with a smaller
    unit of one dimension than the one before, and nothing between them. None for anything else.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> amount = read_sum(*split_unit(tokenize(r"1 \text{ h } 30 \text{ min}"))[:2])
    >>> amount.value, str(amount.unit.factor)
    (Fraction(90, 1), '60')
    """
    if len(number) < 3 or not any(token.kind == "word" for token in number):
        return None
    total = Fraction(0)
    smaller = unit
    for _ in range(_MOST_PARTS):
        last = number[-1]
        if last.kind != "number":
            return None
        size = compute([last], Field())
        assert not isinstance(size, tuple)  # it is a number
        total += size * smaller.factor / unit.factor
        number = number[:-1]
        if not number:
            return Scalar(total, False, unit, 1, [Token("number", str(total))])
        number, larger, scale = split_unit(number)
        if larger is None or scale != 1 or not _is_part(smaller, larger):
            return None
        smaller = larger
    return None


def _is_part(smaller: Unit, larger: Unit) -> bool:
    """Whether two units follow each other in one amount, as hours and minutes do."""
    is_one_kind = smaller.dimension == larger.dimension and smaller.turns == larger.turns
    return is_one_kind and smaller.factor < larger.factor
