r"""Compare numbers modulo another: `x \equiv 2 \pmod 5` is `x = 5k + 2`."""

from __future__ import annotations

from gem_envs_math.grading.arithmetic.field import Field
from gem_envs_math.grading.arithmetic.grammar import compute
from gem_envs_math.grading.arithmetic.numeric import Kit
from gem_envs_math.grading.comparing.values import same_scalar
from gem_envs_math.grading.reading.shapes import Residue, Scalar
from gem_envs_math.grading.text.names import split_letters

__all__ = ["residue_scalar", "same_residue"]

_WHOLE = frozenset("knmtl")
"""The letters that integers have by custom."""


def same_residue(a: Residue, b: Residue, kit: Kit) -> bool | None:
    """Whether two numbers have one modulus, and differ by a multiple of it."""
    is_same = same_scalar(a.modulus, b.modulus, kit)
    if not is_same:
        return is_same
    values = a.value.value, b.value.value, a.modulus.value
    if all(isinstance(value, int) for value in values) and values[2]:
        return bool((values[0] - values[1]) % values[2] == 0)  # type: ignore[operator]
    return same_scalar(a.value, b.value, kit)


def residue_scalar(a: Residue, b: Scalar) -> bool:
    """Whether an expression is all numbers of a residue class: its modulus times any integer."""
    letters = {token.text for token in split_letters(b.tokens) if token.kind == "symbol"}
    if len(letters) != 1 or not letters <= _WHOLE or b.is_opaque or b.unit is not None:
        return False
    (letter,) = letters
    rest, more = (compute(b.tokens, Field(symbols={letter: whole})) for whole in (0, 1))
    residue, modulus = a.value.value, a.modulus.value
    if not isinstance(rest, int) or not isinstance(more, int):
        return False
    if not isinstance(residue, int) or not isinstance(modulus, int):
        return False
    field = Field()
    linear = field.add(rest, field.multiply(more - rest, field.symbol(letter)))
    is_linear = field.equal(b.value, linear)
    return is_linear and abs(more - rest) == abs(modulus) and (rest - residue) % modulus == 0
