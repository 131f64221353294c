r"""Compare numbers modulo another: `x \equiv 2 \pmod 5` is `x = 5k + 2`."""

from __future__ import annotations

from gem_envs_math.grading.arithmetic.field import Field
from gem_envs_math.grading.arithmetic.grammar import compute
from gem_envs_math.grading.arithmetic.numeric import Kit
from gem_envs_math.grading.comparing.values import same_scalar
from gem_envs_math.grading.reading.shapes import Residue, Scalar
from gem_envs_math.grading.text.names import split_letters

__all__ = ["is_residue", "same_residue"]

_UNKNOWNS = frozenset("xyznmabpN")
"""What may be all numbers of a class; a sum S or an area A is one number."""

_WHOLE = frozenset("kmtl")
"""The letters that any integer has by custom; n as well in the value of x."""


def same_residue(a: Residue, b: Residue, kit: Kit) -> bool | None:
    """Whether two numbers have one modulus, and differ by a multiple of it."""
    is_same = same_scalar(a.modulus, b.modulus, kit)
    if not is_same:
        return is_same
    values = a.value.value, b.value.value, a.modulus.value
    if all(isinstance(value, int) for value in values) and values[2]:
        return bool((values[0] - values[1]) % values[2] == 0)  # type: ignore[operator]
    return same_scalar(a.value, b.value, kit)


def is_residue(name: str, a: Scalar, b: Residue) -> bool:
    """Whether what an unknown equals is a class: a multiple of the modulus and any integer.

    Without its name `2n + 1` may be a number that depends on the problem's n, and no class.
    """
    letters = {token.text for token in split_letters(a.tokens) if token.kind == "symbol"}
    whole = _WHOLE | ({"n"} if name in "xyz" else set())
    if name not in _UNKNOWNS or len(letters) != 1 or not letters <= whole:
        return False
    if a.is_opaque or a.unit is not None or name in letters:
        return False
    (letter,) = letters
    rest, more = (compute(a.tokens, Field(symbols={letter: number})) for number in (0, 1))
    residue = b.value.value
    modulus = b.modulus.value
    if not isinstance(rest, int) or not isinstance(more, int):
        return False
    if not isinstance(residue, int) or not isinstance(modulus, int):
        return False
    field = Field()
    linear = field.add(rest, field.multiply(more - rest, field.symbol(letter)))
    is_linear = field.equal(a.value, linear)
    return is_linear and abs(more - rest) == abs(modulus) and (rest - residue) % modulus == 0
