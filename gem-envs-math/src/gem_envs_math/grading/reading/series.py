r"""Read a sum that goes on, `1 + x + x^2 + \ldots`: its terms count, each in its place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gem_envs_math.grading.limits import ITEMS, Unread
from gem_envs_math.grading.reading.scalars import read_scalar
from gem_envs_math.grading.reading.shapes import Group, Named, Scalar, Shape, Words
from gem_envs_math.grading.text.splitting import levels
from gem_envs_math.grading.text.tokens import Token

__all__ = ["DOTS", "read_series", "with_items_for_dots"]

Tokens = Sequence[Token]

DOTS = frozenset(("\\ldots",))
_DOTS = Words("...", is_plain=False)


def read_series(parts: Sequence[Tokens], tokens: Tokens) -> Shape:
    r"""Read a sum that goes on, `1 + x + \ldots`: its terms in their order, and the dots."""
    if len(tokens) == 1:
        return _DOTS
    items: list[Shape] = []
    for number, part in enumerate(parts):
        if number:
            items.append(_signed_dots(parts[number - 1]))
        has_sign = bool(part) and part[-1].text in ("+", "-")
        is_last = number == len(parts) - 1
        if has_sign == is_last:
            raise Unread("dots that stand for no terms")
        if number and part and part[0].text not in ("+", "-"):
            raise Unread("dots that stand for no terms")
        items.extend(read_scalar(term) for term in _terms(part))
    return Group("\\ldots", "\\ldots", tuple(items))


def _signed_dots(before: Tokens) -> Words:
    return _DOTS._replace(text="-...") if before[-1].text == "-" else _DOTS


def _terms(tokens: Tokens) -> list[Tokens]:
    """Part a sum into its terms, each with its sign; a sign at the end is that of the dots."""
    starts = [
        index
        for index, depth in enumerate(levels(tokens))
        if not depth and tokens[index].text in ("+", "-") and index
    ]
    pieces = [tokens[start:end] for start, end in pairwise([0, *starts, len(tokens)])]
    if pieces[-1] and pieces[-1][-1].text in ("+", "-"):
        pieces = pieces[:-1]
    return [piece for piece in pieces if piece]


def with_items_for_dots(items: tuple[Shape, ...]) -> tuple[Shape, ...]:
    r"""Return `1, 2, \ldots, 5` with the whole numbers that the dots stand for; others as they are.

    Of two items before the dots the second is one more: `1, 3, \ldots, 27` may go on in two ways.
    """
    if len(items) < 4 or items[-2] != _DOTS or items.count(_DOTS) > 1:
        return items
    bare = [item.values[-1] if isinstance(item, Named) else item for item in items]
    values = [item.value for item in bare if isinstance(item, Scalar) and item.unit is None]
    whole = [value for value in values if isinstance(value, int)]
    if len(whole) != len(items) - 1:
        return items
    *before, last = whole
    step = before[1] - before[0]
    is_even = all(y - x == step for x, y in pairwise(before)) and step > 0
    count = (last - before[-1]) // step if is_even else 0
    is_reached = count > 0 and before[-1] + count * step == last
    if not is_reached or count > ITEMS or (len(before) == 2 and step > 1):
        return items
    missing = (before[-1] + number * step for number in range(1, count))
    return (*items[:-2], *(_whole(value) for value in missing), items[-1])


def _whole(value: int) -> Scalar:
    sign = [Token("sign", "-")] if value < 0 else []
    return read_scalar([*sign, Token("number", str(abs(value)))])
