"""Tell what the items of a list are together: values of one name, of several, or choices."""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.reading.shapes import Group, Named, Scalar, Shape
from gem_envs_math.grading.text.tokens import Token

__all__ = [
    "LETTERS",
    "all_named",
    "are_of_several",
    "are_of_several_symbols",
    "in_order_of_names",
    "is_letter_in_text",
    "names_of",
]

LETTERS = frozenset("ABCDEFGHIJ")
"""The letters that stand before choices."""

_ALPHABETS = ("xyz", "abcd", "pqr", "mn", "uvw")


def all_named(shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    """Return `x = 1, 2` as `x = 1, x = 2`: the name holds for the numbers after it."""
    first = shapes[0]
    is_one = isinstance(first, Named) and len(first.values) == 1
    if not isinstance(first, Named) or not is_one or not isinstance(first.values[0], Scalar):
        return shapes
    if not all(isinstance(shape, Scalar) for shape in shapes[1:]):
        return shapes
    at = next(index for index, token in enumerate(first.tokens) if token.text == "=")
    rest = (
        Named(first.name, (shape,), [*first.tokens[: at + 1], *shape.tokens])
        for shape in shapes[1:]
        if isinstance(shape, Scalar)
    )
    return (first, *rest)


def are_of_several(shapes: tuple[Shape, ...]) -> bool:
    """Whether all items have names, of several symbols: `x=1 or y=2` is no point."""
    names = [shape.name for shape in shapes if isinstance(shape, Named)]
    return len(names) == len(shapes) and are_of_several_symbols(names)


def is_letter_in_text(tokens: Sequence[Token]) -> bool:
    r"""Whether an item is the letter of a choice, in `\text{}`."""
    is_one = len(tokens) == 1 and tokens[0].kind == "word"
    return is_one and tokens[0].text.upper() in LETTERS


def names_of(a: Group) -> list[str]:
    """Return the names of a list whose every item has one: `x=1, y=2` or `(x,y) = (1,2)`."""
    names = [item.name for item in a.items if isinstance(item, Named) and len(item.values) == 1]
    return names if len(names) == len(a.items) == len(set(names)) > 1 else []


def are_of_several_symbols(names: Sequence[str]) -> bool:
    """Whether names are of several symbols: `x` and `y`, but not `x_1` and `x_2`."""
    return len({name.partition("_")[0] for name in names}) > 1


def in_order_of_names(a: Group, names: list[str]) -> Group:
    """Return named items in the alphabet's order: that of the tuple that they stand for."""
    is_known = any(set(names) <= set(alphabet) for alphabet in _ALPHABETS)
    if not names or not is_known:
        return a
    by_name = dict(zip(names, a.items, strict=True))
    return a._replace(items=tuple(by_name[name] for name in sorted(names)))
