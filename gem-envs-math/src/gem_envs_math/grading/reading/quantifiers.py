r"""Read a condition on all numbers of a kind: `\text{all integers } n \ge 3`.

Knows nothing about the answer that it is compared with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.reading.intervals import as_set, solved_for
from gem_envs_math.grading.reading.number_sets import reals
from gem_envs_math.grading.reading.shapes import Group, Relation, Scalar, Shape
from gem_envs_math.grading.text.tokens import Token

__all__ = ["after_quantifier", "are_whole_numbers", "held_by_all"]

Tokens = Sequence[Token]

_ALL = re.compile(
    r"(?:for )?(?:all|any|every|each)(?: real| real numbers?| reals?)?"
    r"( (?:positive |natural |nonnegative )?(?:integers?|numbers?))?"
)
_SIGNS = frozenset(("<", ">", "<=", ">=", "!="))
_WHOLE = frozenset("nmkpqN")
"""The letters that integers have by custom."""


def after_quantifier(tokens: Tokens) -> tuple[Tokens, str] | None:
    r"""Return the inequality after `all integers`, and the kind of its numbers; else None."""
    at = next((at for at, token in enumerate(tokens) if token.kind != "word"), 0)
    if not 0 < at < len(tokens) - 2 or tokens[at].kind != "letters":
        return None
    words = " ".join(token.text.casefold() for token in tokens[:at])
    match = _ALL.fullmatch(words)
    has_sign = any(token.text in _SIGNS for token in tokens[at:])
    if match is None or not has_sign or (match[1] == " numbers" and "real" not in words):
        return None
    return tokens[at:], "" if "real" in words else (match[1] or "").strip()


def held_by_all(shape: Shape, kind: str) -> Shape | None:
    """Return what holds for all numbers of a kind: an inequality, or whole numbers in brackets.

    None where the kind says more than the inequality, as for all positive integers below 5.
    """
    symbol = solved_for(shape)
    if not isinstance(shape, Relation) or symbol is None:
        return None
    if not kind:
        return shape
    values = as_set(shape)
    if not isinstance(values, Group):
        return None
    low = values.items[0]
    is_signed = kind.split(maxsplit=1)[0] in ("positive", "natural", "nonnegative")
    is_above = isinstance(low, Scalar) and isinstance(low.value, int) and low.value >= 1
    if is_signed and (not is_above or values.items[0] == reals().items[0]):
        return None
    return Group("\\{Z", "\\}", (values,))


def are_whole_numbers(a: Relation, b: Shape) -> Shape | None:
    """Return the interval of whole numbers that are one, where an inequality's are by custom.

    `n >= 3` may be for integers, as n is; `x >= 3` is for real numbers.
    """
    if not isinstance(b, Group) or b.opener != "\\{Z" or solved_for(a) not in _WHOLE:
        return None
    return b.items[0]
