r"""Read numbers modulo another: `x \equiv 3 \pmod 7`, `n \equiv 1, 3 \pmod 8`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gem_envs_math.grading.limits import Undefined, Unread
from gem_envs_math.grading.reading.naming import name_of
from gem_envs_math.grading.reading.scalars import read_scalar
from gem_envs_math.grading.reading.shapes import Group, Named, Residue, Scalar, Shape
from gem_envs_math.grading.text.splitting import split
from gem_envs_math.grading.text.tokens import Token

__all__ = ["MODULI", "are_several", "read_residue"]

Tokens = Sequence[Token]

MODULI = frozenset(("\\pmod", "\\bmod", "\\mod", "\\equiv", "mod"))


def read_residue(
    tokens: Tokens, commas: frozenset[str], read: Callable[[Tokens], Shape]
) -> Shape | None:
    """Return a number, or several, modulo another; None for what is none, or a list of such.

    `commas` part a list, and `read` reads one of its items.
    """
    moduli = [index for index, token in enumerate(tokens) if token.text in MODULI - {"\\equiv"}]
    if not moduli:
        return None
    if len(moduli) > 1:
        raise Unread("more than one modulus")
    at = moduli[0]
    before = tokens[:at]
    after = tokens[at + 1 :]
    if before and before[-1].text == "(" and after and after[-1].text == ")":
        before = before[:-1]
        after = after[:-1]
    if not before or not after or before[0].text in MODULI:
        return None
    sides = split(before, ("\\equiv", "="))
    modulus = read_scalar(after)
    if modulus.value == 0:
        raise Undefined("a number modulo zero")
    shapes = [read(part) for part in split(sides[-1], commas) if part]
    residues = tuple(Residue(number, modulus) for shape in shapes for number in _scalars(shape))
    values = residues[0] if len(residues) == 1 else Group("", "", residues)
    name = name_of(sides[0]) if len(sides) == 2 else ""
    if len(sides) > 2 or (len(sides) == 2 and not name):
        raise Unread("a congruence that is not solved for a symbol")
    return Named(name, (values,), tokens) if name else values


def _scalars(shape: Shape) -> list[Scalar]:
    r"""Return the numbers of `3`, or of `\pm 1`; anything else has no residue."""
    is_list = isinstance(shape, Group) and not shape.opener
    items = shape.items if isinstance(shape, Group) and is_list else (shape,)
    scalars = [item for item in items if isinstance(item, Scalar)]
    if len(scalars) < len(items):
        raise Unread("a modulus beside what is no number")
    return scalars


def are_several(parts: Sequence[Tokens]) -> bool:
    """Whether items between commas have a modulus each."""
    return len(parts) > 1 and all(
        any(token.text in MODULI - {"\\equiv"} for token in part) for part in parts
    )
