r"""Read sets of numbers: `\mathbb{Z}`, all real numbers, and those but some points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.reading.conditions import place
from gem_envs_math.grading.reading.intervals import solved_for
from gem_envs_math.grading.reading.scalars import read_scalar
from gem_envs_math.grading.reading.shapes import (
    Group,
    Named,
    Relation,
    Scalar,
    Shape,
    Unions,
    Words,
)
from gem_envs_math.grading.text.tokens import Token

__all__ = ["left_out", "numbers", "points_and_rays", "reals", "without", "without_reals"]

_MINUS = Token("sign", "-")
_INFINITY = Token("command", "\\infty")
_BRACKETS = frozenset(("(", "["))
_SETS = {"Z": "integers", "N": "natural numbers", "Q": "rational numbers", "C": "complex numbers"}
_SIGNED = {"^+": "positive", "_+": "positive", "_>0": "positive", "^-": "negative"}


def numbers(texts: list[str]) -> Shape:
    r"""Read `\mathbb{Z}`, `\mathbb{R}^+`: the set of numbers that a letter stands for."""
    letter = "".join(texts[1:4]).strip("{}")
    mark = "".join(texts[4:]).replace("{", "").replace("}", "")
    sign = _SIGNED.get(mark, "")
    if mark and not sign:
        raise Unread("a set that is not known")
    if letter == "R":
        return reals(sign)
    if letter not in _SETS:
        raise Unread("a set that is not known")
    return Words(f"{sign} {_SETS[letter]}".strip(), is_plain=False)


def reals(sign: str = "") -> Group:
    """Return all real numbers, or those of a sign, as an interval."""
    low = [Token("number", "0")] if sign == "positive" else [_MINUS, _INFINITY]
    high = [Token("number", "0")] if sign == "negative" else [_INFINITY]
    return Group("(", ")", (read_scalar(low), read_scalar(high)))


def without(points: Sequence[Shape], whole: Shape | None = None) -> Unions:
    """Return an interval, or all real numbers, but some points: as intervals.

    Raises Unread where a point is not within, or the whole is no interval.
    """
    whole = reals() if whole is None else whole
    is_interval = isinstance(whole, Group) and whole.opener in _BRACKETS and len(whole.items) == 2
    if not isinstance(whole, Group) or not is_interval:
        raise Unread("points left out of what is no interval")
    distinct: list[Scalar] = []
    for point in points:
        if not isinstance(point, Scalar):
            raise Unread("what is left out is no number")
        if all(point.value != other.value for other in distinct):
            distinct.append(point)
    distinct.sort(key=lambda point: place(point.tokens))
    opener = whole.opener
    closer = whole.closer
    low, high = whole.items
    if not isinstance(low, Scalar) or not isinstance(high, Scalar):
        raise Unread("an interval whose ends are no numbers")
    if distinct and distinct[0].value == low.value:
        distinct = distinct[1:]
        opener = "("
    if distinct and distinct[-1].value == high.value:
        distinct = distinct[:-1]
        closer = ")"
    ends = [low, *distinct, high]
    if any(_place(x) >= _place(y) for x, y in pairwise(ends)):
        raise Unread("a point that is left out of where it is not")
    pieces = [Group("(", ")", pair) for pair in pairwise(ends)]
    pieces[0] = pieces[0]._replace(opener=opener)
    pieces[-1] = pieces[-1]._replace(closer=closer)
    return Unions(tuple(pieces))


def _place(end: Scalar) -> float:
    """Return about where an end lies, be it infinite."""
    if any(token == _INFINITY for token in end.tokens):
        return -math.inf if end.tokens[0] == _MINUS else math.inf
    return place(end.tokens)


def without_reals(shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    r"""Return `x \in \mathbb{R}, x \ne 0` as `x \ne 0`: that x is real goes without saying."""
    rest = [shape for shape in shapes if isinstance(shape, Relation)]
    if len(rest) != len(shapes) - 1 or not rest:
        return shapes
    named = next(shape for shape in shapes if not isinstance(shape, Relation))
    symbols = {solved_for(shape) for shape in rest}
    is_real = isinstance(named, Named) and named.values == (reals(),)
    return (
        tuple(rest) if isinstance(named, Named) and is_real and symbols == {named.name} else shapes
    )


def left_out(shapes: Sequence[Shape]) -> Named | None:
    r"""Read `x \ne 1, x \ne 2` and `x \ne 1, 2` as the points that a symbol is not."""
    symbols = {_excluded_symbol(shape) for shape in shapes if isinstance(shape, Relation)}
    symbol = symbols.pop() if len(symbols) == 1 else None
    if symbol is None or not isinstance(shapes[0], Relation):
        return None
    points = [
        read_scalar(shape.sides[1]) if isinstance(shape, Relation) else shape for shape in shapes
    ]
    name = Token("letters", symbol)
    return Named(symbol, (without(points),), [name, Token("command", "\\in")])


def points_and_rays(shapes: Sequence[Shape]) -> Unions | None:
    r"""Read `a = 0 \text{ or } a \ge 1` as `\{0\} \cup [1,\infty)`; None for anything else."""
    symbols: set[str] = set()
    parts: list[Shape] = []
    for shape in shapes:
        if isinstance(shape, Named) and isinstance(shape.values[0], Scalar):
            is_equal = len(shape.values) == 1 and shape.tokens[1].text == "="
            symbols.add(shape.name if is_equal else "")
            points = Group("\\{", "\\}", shape.values)
            member = [shape.tokens[0], Token("command", "\\in")]
            parts.append(Named(shape.name, (points,), member))
        elif isinstance(shape, Relation) and "=" not in shape.signs and len(shape.sides) < 4:
            middle = shape.sides[1] if len(shape.sides) == 3 else shape.sides[0]
            symbols.add(middle[0].text if len(middle) == 1 else "")
            parts.append(shape)
        else:
            return None
    are_both = {type(part) for part in parts} == {Named, Relation}
    is_one = len(symbols) == 1 and len("".join(symbols)) == 1
    return Unions(tuple(parts)) if are_both and is_one else None


def _excluded_symbol(a: Relation) -> str | None:
    if a.signs != ("!=",) or len(a.sides[0]) != 1:
        return None
    return a.sides[0][0].text
