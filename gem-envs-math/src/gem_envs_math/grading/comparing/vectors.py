r"""Take a sum of unit vectors apart: `2\mathbf{i} + 3\mathbf{j}` has the components 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.arithmetic.field import Field, Value
from gem_envs_math.grading.arithmetic.grammar import compute
from gem_envs_math.grading.reading.shapes import Scalar
from gem_envs_math.grading.text.splitting import levels
from gem_envs_math.grading.text.tokens import Token

__all__ = ["components", "is_in_brackets"]

_UNITS = ("i", "j", "k")
_PROBE = (3, 5, 7)  # where a sum that is linear has the value that its components say


def components(a: Scalar, dimension: int) -> Sequence[Scalar]:
    """Return the components of a sum of unit vectors, [] for any other expression."""
    letters = "".join(token.text for token in a.tokens if token.kind == "letters")
    # i alone is the imaginary unit; k alone may be any number beside what is no triple.
    has_unit = "j" in letters or {"i", "k"} <= set(letters) or (letters == "k" and dimension == 3)
    if not has_unit or a.unit is not None or a.is_opaque:
        return []
    if dimension < len(_UNITS) and "k" in letters:
        return []
    nothing = _at(a, (0, 0, 0))
    values = [_at(a, tuple(int(unit == other) for other in _UNITS)) for unit in _UNITS]
    field = Field()
    total: Value = 0
    for value, size in zip(values, _PROBE, strict=True):
        total = field.add(total, field.multiply(value, size))
    if not field.equal(nothing, 0) or not field.equal(total, _at(a, _PROBE)):
        return []
    return [Scalar(value, False, None, 1, ()) for value in values[:dimension]]


def is_in_brackets(tokens: Sequence[Token]) -> bool:
    """Whether round brackets stand around all tokens."""
    depths = levels(tokens)
    has_brackets = len(tokens) > 2 and (tokens[0].text, tokens[-1].text) == ("(", ")")
    return has_brackets and 0 not in depths[1:-1]


def _at(a: Scalar, sizes: Sequence[int]) -> Value:
    """Return a sum's value where the unit vectors are these numbers."""
    return compute(a.tokens, Field(0, dict(zip(_UNITS, sizes, strict=True))))
