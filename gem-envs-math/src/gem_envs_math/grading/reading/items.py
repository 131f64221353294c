"""Tell what the items of a list are together: values of one name, of several, or choices."""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.reading.shapes import Named, Scalar, Shape
from gem_envs_math.grading.text.tokens import Token

__all__ = ["LETTERS", "all_named", "are_of_several", "is_letter_in_text"]

LETTERS = frozenset("ABCDEFGHIJ")
"""The letters that stand before choices."""


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
    return len(names) == len(shapes) and len({name.partition("_")[0] for name in names}) > 1


def is_letter_in_text(tokens: Sequence[Token]) -> bool:
    r"""Whether an item is the letter of a choice, in `\text{}`."""
    is_one = len(tokens) == 1 and tokens[0].kind == "word"
    return is_one and tokens[0].text.upper() in LETTERS
