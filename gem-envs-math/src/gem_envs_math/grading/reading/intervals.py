r"""Write an inequality in one symbol as the interval that it is: `-2 < x \le 7` is (-2, 7]."""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.reading.scalars import read_scalar
from gem_envs_math.grading.reading.shapes import Group, Named, Relation, Scalar, Shape, Unions
from gem_envs_math.grading.text.tokens import Token

__all__ = ["as_set", "solved_for"]

_INFINITY = Token("command", "\\infty")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def as_set(relation: Relation) -> Group | Unions | None:
    """Return the interval or the two of an inequality solved for a symbol, None for another."""
    sides = relation.sides
    signs = relation.signs
    if len(sides) == 2 and _is_symbol(sides[1]) and not _is_symbol(sides[0]):
        sides = sides[::-1]
        signs = tuple(_FLIPPED.get(sign, sign) for sign in signs)
    if len(sides) == 2 and _is_symbol(sides[0]) and not _is_symbol(sides[1]):
        return _half_line(signs[0], read_scalar(sides[1]))
    if len(sides) == 3 and _is_symbol(sides[1]):
        return _between(read_scalar(sides[0]), signs, read_scalar(sides[2]))
    return None


def solved_for(shape: Shape) -> str | None:
    r"""Return the symbol that an inequality, a union of them or `x \in A` is solved for.

    `x or y` where the parts of a union are solved for several.
    """
    if isinstance(shape, Named):
        is_member = any(token.text == "\\in" for token in shape.tokens)
        return shape.name if is_member else None
    if isinstance(shape, Unions):
        symbols = [solved_for(part) for part in shape.parts]
        named = sorted({symbol for symbol in symbols if symbol is not None})
        is_one = len(named) == 1 and None not in symbols
        return " or ".join(named) if is_one or len(named) > 1 else None
    if not isinstance(shape, Relation) or shape.signs[0] == "=":
        return None
    if len(shape.sides) == 2 and all(map(_is_symbol, shape.sides)):
        return None  # `x < y` is solved for neither
    middle = shape.sides[1] if len(shape.sides) == 3 else None
    for side in shape.sides[:2] if middle is None else (middle,):
        if _is_symbol(side):
            return side[0].text
    return None


def _is_symbol(tokens: Sequence[Token]) -> bool:
    token = tokens[0]
    is_letter = token.kind == "letters" and len(token.text) == 1
    return len(tokens) == 1 and (is_letter or (token.kind == "command" and token != _INFINITY))


def _half_line(sign: str, end: Scalar) -> Group | Unions | None:
    low = read_scalar([Token("sign", "-"), _INFINITY])
    high = read_scalar([_INFINITY])
    if sign in ("<", "<="):
        return Group("(", "]" if "=" in sign else ")", (low, end))
    if sign in (">", ">="):
        return Group("[" if "=" in sign else "(", ")", (end, high))
    if sign == "!=":
        return Unions((Group("(", ")", (low, end)), Group("(", ")", (end, high))))
    return None


def _between(low: Scalar, signs: tuple[str, ...], high: Scalar) -> Group | None:
    if set(signs) <= {">", ">="}:
        low, high = high, low
        signs = tuple(_FLIPPED[sign] for sign in signs[::-1])
    if not set(signs) <= {"<", "<="}:
        return None
    return Group("[" if signs[0] == "<=" else "(", "]" if signs[1] == "<=" else ")", (low, high))
