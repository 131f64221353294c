"""What the items of a list say together: its brackets, its names and their order, its letters.

Knows nothing about how two lists are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.reading.shapes import (
    Group,
    Matrix,
    Named,
    Relation,
    Scalar,
    Shape,
    Words,
)
from gem_envs_math.grading.text.names import split_letters

__all__ = [
    "are_over_several",
    "brackets",
    "is_point_and_values",
    "is_position",
    "is_set_of_points",
    "is_vector",
    "is_zero_of_polynomial",
    "letters_of",
]

_CHOICES = frozenset("ABCDEFGHabcdefgh")
_CONSTANTS = frozenset(("e", "i", "\\pi"))


def are_over_several(items: Sequence[Shape]) -> bool:
    """Whether equations and inequalities are about several symbols in all: `2x=1, 3y=2`.

    What has a name is about that alone: `x=a, x=b` are values of x, and so are `x_1=a, x_2=b`.
    """
    symbols: set[str] = set()
    for item in items:
        if isinstance(item, Named):
            symbols.add(item.name.partition("_")[0])
        elif isinstance(item, Relation):
            tokens = split_letters(token for side in item.sides for token in side)
            symbols.update(token.text for token in tokens if token.kind == "symbol")
    return len(symbols - _CONSTANTS) > 1


def brackets(group: Group) -> str:
    """Return a group's brackets; at an end without bound the round one is meant."""
    opener = group.opener
    closer = group.closer
    if len(group.items) == 2 and {opener, closer} <= {"(", "[", ")", "]"}:
        opener = "(" if _is_infinite(group.items[0]) else opener
        closer = ")" if _is_infinite(group.items[1]) else closer
    return opener + closer


def _is_infinite(shape: Shape) -> bool:
    return isinstance(shape, Scalar) and any(token.text == "\\infty" for token in shape.tokens)


def letters_of(a: Group) -> str:
    """Return the letters of several choices, `A, C`, as they are written without commas."""
    texts = []
    for item in a.items:
        is_letter = isinstance(item, Scalar) and len(item.tokens) == 1
        text = item.text if isinstance(item, Words) else ""
        texts.append(item.tokens[0].text if isinstance(item, Scalar) and is_letter else text)
    letters = "".join(texts)
    is_list = a.opener == "" and all(len(text) == 1 and text in _CHOICES for text in texts)
    return "".join(sorted(letters.lower())) if is_list and len(set(texts)) > 1 else "?"


def is_point_and_values(a: Group, b: Group) -> bool:
    """Whether one is a tuple and the other several values of one symbol: `x = -2, x = 3`."""
    names = [item.name for item in b.items if isinstance(item, Named)]
    is_one = len(names) == len(b.items) > 1 == len(set(names))
    return a.opener == "(" and not b.opener and is_one


def is_position(names: Sequence[str]) -> bool:
    """Whether names are those of a plane's or of space's coordinates, each once."""
    return sorted(names) in (["x", "y"], ["x", "y", "z"])


def is_vector(a: Named) -> bool:
    r"""Whether `r` or `r(t)` names a vector: the place that `x = ..., y = ...` say too."""
    value = a.values[0]
    is_tuple = isinstance(value, Matrix) or (
        isinstance(value, Group) and value.opener in ("(", "<<")
    )
    return len(a.values) == 1 and is_tuple and a.name.partition("(")[0] == "r"


def is_set_of_points(a: Shape) -> bool:
    r"""Whether an answer is `\{(x,y) \mid ...\}` with an equation or inequality for points."""
    if not isinstance(a, Group) or not a.opener.startswith("\\{( ") or len(a.items) != 1:
        return False
    return isinstance(a.items[0], (Relation, Named))


def is_zero_of_polynomial(a: Relation) -> bool:
    r"""Whether an equation is `p = 0`, for a polynomial of one symbol that is more than linear."""
    if a.signs != ("=",) or [token.text for token in a.sides[1]] != ["0"]:
        return False
    letters = {token.text for token in split_letters(a.sides[0]) if token.kind == "symbol"}
    texts = [token.text for token in a.sides[0]]
    return len(letters) == 1 and ("^" in texts or texts.count("(") > 1)
