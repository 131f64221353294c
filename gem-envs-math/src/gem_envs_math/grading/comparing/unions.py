r"""Write a union of intervals and points in one way: `(-\\infty,1]\\cup(1,2]` is `(-\\infty,2]`.

Ends are put in order where their places are clearly apart, and are one end where they are equal
exactly. A union with any other end stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from typing import NamedTuple

from gem_envs_math.grading.arithmetic.field import Field
from gem_envs_math.grading.arithmetic.grammar import compute
from gem_envs_math.grading.arithmetic.numeric import At
from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.reading.shapes import Group, Scalar, Shape
from gem_envs_math.grading.text.names import split_letters

__all__ = ["merged"]

_CONSTANTS = frozenset(("e", "\\pi", "\\infty"))


class _Interval(NamedTuple):
    low: Scalar
    high: Scalar
    has_low: bool
    has_high: bool


def merged(parts: Sequence[Shape]) -> Sequence[Shape]:
    """Return the parts of a union with those merged that touch or overlap."""
    try:
        intervals = [interval for part in parts for interval in _intervals(part)]
        intervals.sort(key=cmp_to_key(_by_low_end))
        return _shapes(_joined(intervals))
    except (Unread, ArithmeticError, ValueError):
        return parts


def _intervals(part: Shape) -> list[_Interval]:
    if not isinstance(part, Group) or not all(_is_end(item) for item in part.items):
        raise Unread("no interval")
    ends = [item for item in part.items if isinstance(item, Scalar)]
    if part.opener == "\\{":
        return [_Interval(point, point, True, True) for point in ends if not _infinity(point)]
    if len(ends) != 2 or part.opener not in ("(", "[") or part.closer not in (")", "]"):
        raise Unread("no interval")
    has_low = part.opener == "[" and not _infinity(ends[0])
    has_high = part.closer == "]" and not _infinity(ends[1])
    interval = _Interval(ends[0], ends[1], has_low, has_high)
    order = _order(ends[0], ends[1])
    if order > 0 or (order == 0 and not (has_low and has_high)):
        raise Unread("an interval whose ends are in the other order")
    return [interval]


def _is_end(item: Shape) -> bool:
    if not isinstance(item, Scalar) or item.unit is not None or item.scale != 1:
        return False
    names = {token.text for token in split_letters(item.tokens) if token.kind == "symbol"}
    return names <= _CONSTANTS


def _infinity(end: Scalar) -> int:
    """Return 1 for infinity, -1 for minus infinity, 0 for a number."""
    texts = [token.text for token in end.tokens]
    if "\\infty" not in texts:
        return 0
    if texts == ["-", "\\infty"]:
        return -1
    if texts in (["\\infty"], ["+", "\\infty"]):
        return 1
    raise Unread("an end that is no number")


def _order(a: Scalar, b: Scalar) -> int:
    """Return -1, 0 or 1 as an end is below, the same as, or above another. Raises Unread."""
    first = _infinity(a)
    second = _infinity(b)
    if first or second:
        return (first > second) - (first < second)
    if isinstance(a.value, tuple) or isinstance(b.value, tuple):
        if Field().equal(a.value, b.value):
            return 0
        return _order_of_places(a, b)
    return (a.value > b.value) - (a.value < b.value)


def _order_of_places(a: Scalar, b: Scalar) -> int:
    first, second = (compute(end.tokens, At(0)) for end in (a, b))
    distance = first.number - second.number
    if distance.imag or abs(distance.real) <= 2 * (first.error + second.error):
        raise Unread("ends that are not clearly apart")
    return 1 if distance.real > 0 else -1


def _by_low_end(a: _Interval, b: _Interval) -> int:
    # Of two with the same end the closed one is first: the open one begins within it.
    return _order(a.low, b.low) or int(b.has_low) - int(a.has_low)


def _joined(intervals: Sequence[_Interval]) -> list[_Interval]:
    joined: list[_Interval] = []
    for interval in intervals:
        last = joined[-1] if joined else None
        gap = _order(interval.low, last.high) if last is not None else 1
        is_hole = gap == 0 and last is not None and not (interval.has_low or last.has_high)
        if last is None or gap > 0 or is_hole:
            joined.append(interval)
        else:
            joined[-1] = _with_high_end(last, interval)
    return joined


def _with_high_end(a: _Interval, b: _Interval) -> _Interval:
    """Return the first interval up to the higher end of the two."""
    order = _order(a.high, b.high)
    if order > 0:
        return a
    has_high = b.has_high or (order == 0 and a.has_high)
    return a._replace(high=b.high, has_high=has_high)


def _shapes(intervals: Sequence[_Interval]) -> list[Shape]:
    """Return intervals as brackets, and those of one point together as a set."""
    shapes: list[Shape] = []
    points: list[Shape] = []
    for interval in intervals:
        if _order(interval.low, interval.high) == 0:
            points.append(interval.low)
            continue
        opener = "[" if interval.has_low else "("
        closer = "]" if interval.has_high else ")"
        shapes.append(Group(opener, closer, (interval.low, interval.high)))
    return [*shapes, Group("\\{", "\\}", tuple(points))] if points else shapes
