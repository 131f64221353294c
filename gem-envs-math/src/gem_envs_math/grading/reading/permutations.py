r"""Read tuples with all their permutations: `(1,2,3) \text{ and its permutations}`.

Knows nothing about how tuples are compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations

from gem_envs_math.grading.limits import ITEMS, TooDeep, Unread
from gem_envs_math.grading.reading.shapes import Group, Named, Scalar, Shape
from gem_envs_math.grading.text.tokens import Token

__all__ = ["before_permutations", "permuted"]

Tokens = Sequence[Token]

_PERMUTATIONS = re.compile(
    r"(?: (?:,|;|\(|and|or|with|together|along|plus))+"
    r"(?: (?:all|any|the|its|their|of|other|possible))*( cyclic)? permutations?"
    r"(?: (?:thereof|of|it|them|these|this))*(?: \))?"
)
_LONGEST = 12  # tokens that say it
_MOST = 4  # items of a tuple, for 24 permutations


def before_permutations(tokens: Tokens) -> tuple[Tokens, bool] | None:
    r"""Return what stands before `and its permutations`, and whether only cyclic ones are meant."""
    if not any(token.text.startswith("permutation") for token in tokens[-_LONGEST:]):
        return None
    texts = [token.text.casefold() for token in tokens]
    for start in range(max(1, len(texts) - _LONGEST), len(texts)):
        match = _PERMUTATIONS.fullmatch(" " + " ".join(texts[start:]))
        if match is not None:
            return tokens[:start], match[1] is not None
    return None


def permuted(shape: Shape, *, is_cyclic: bool) -> Group:
    """Return the permutations of a tuple, or of several, each once. Raises Unread for others."""
    is_list = isinstance(shape, Group) and not shape.opener
    tuples = shape.items if isinstance(shape, Group) and is_list else (shape,)
    turned: dict[tuple[object, ...], Shape] = {}
    for one in tuples:
        if not isinstance(one, Group) or one.opener != "(" or len(one.items) > _MOST:
            raise Unread("permutations of what is no tuple")
        values = [item.values[-1] if isinstance(item, Named) else item for item in one.items]
        numbers = [value for value in values if isinstance(value, Scalar) and not value.is_opaque]
        if len(numbers) < len(values):
            raise Unread("permutations of what are no numbers")
        turns = [[*numbers[at:], *numbers[:at]] for at in range(len(numbers))]
        for order in turns if is_cyclic else permutations(numbers):
            turned[tuple(number.value for number in order)] = Group("(", ")", tuple(order))
    if len(turned) > ITEMS:
        raise TooDeep(f"more than {ITEMS} items")
    return Group("", "", tuple(turned.values()))
