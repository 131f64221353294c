"""Triangles with an angle to find."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

from gem_envs_math.diagram.sketch import (
    BLACK,
    HEIGHT,
    RED,
    WIDTH,
    Label,
    Line,
    Point,
    Polygon,
    Shape,
    Sketch,
)

__all__ = ["angles"]

_MARGIN = 48
_SMALLEST = 30
_INWARD = 46  # pixels from a corner to the label of its angle


def angles(rng: Random, level: int) -> Sketch:
    """Ask for the third angle; one beside an outer angle; an outer angle of two equal sides."""
    return (_third, _beside_outer, _isosceles)[level - 1](rng)


def _third(rng: Random) -> Sketch:
    first, second, third = _drawn(rng)
    corners = _triangle(first, second)
    labels = [str(first), str(second), "x"]
    shapes: list[Shape] = [Polygon(corners), *_labels(corners, labels)]
    return Sketch("Angles are in degrees. How large is the angle x?", Fraction(third), shapes)


def _beside_outer(rng: Random) -> Sketch:
    first, second, third = _drawn(rng)
    corners = _triangle(first, second)
    shapes: list[Shape] = [Polygon(corners), *_labels(corners, ["x", "", str(third)])]
    shapes += _outer(corners, str(180 - second))
    question = (
        "Angles are in degrees. One side of the triangle is drawn on beyond its corner. How large "
        "is the angle x?"
    )
    return Sketch(question, Fraction(first), shapes)


def _isosceles(rng: Random) -> Sketch:
    apex = rng.randrange(40, 111)
    base = Fraction(180 - apex, 2)
    corners = _triangle(float(base), float(base))
    shapes: list[Shape] = [Polygon(corners), *_labels(corners, ["", "", str(apex)])]
    shapes += [_tick(corners[2], corners[0]), _tick(corners[2], corners[1])]
    shapes += _outer(corners, "x")
    question = (
        "Angles are in degrees. The two sides with a small stroke are equally long, and the third "
        "is drawn on beyond its corner. How large is the angle x? Give a decimal or a fraction "
        "where it is no whole number."
    )
    return Sketch(question, 180 - base, shapes)


def _drawn(rng: Random) -> tuple[int, int, int]:
    first = rng.randrange(_SMALLEST, 101)
    second = rng.randrange(_SMALLEST, min(101, 181 - first - _SMALLEST))
    return first, second, 180 - first - second


def _triangle(left: float, right: float) -> tuple[Point, Point, Point]:
    """Return the corners at the left, the right and the top, with the given angles at the base."""
    a = math.tan(math.radians(left))
    b = math.tan(math.radians(right))
    # The top is at (x, y), over a base of length 1 that starts at (0, 0).
    x = b / (a + b)
    y = a * b / (a + b)
    low = min(0.0, x)
    high = max(1.0, x)
    scale = min((WIDTH - 2 * _MARGIN - 40) / (high - low), (HEIGHT - 2 * _MARGIN) / y)
    shift = (WIDTH - 40 - scale * (high + low)) / 2
    floor = HEIGHT - _MARGIN
    return (shift, floor), (shift + scale, floor), (shift + scale * x, floor - scale * y)


def _labels(corners: Sequence[Point], texts: Sequence[str]) -> list[Label]:
    """Return a label inside each corner, on the line that halves its angle."""
    labels = []
    for at, text in enumerate(texts):
        here = corners[at]
        one = corners[at - 1]
        other = corners[at - 2]
        ux, uy = _direction(here, one)
        vx, vy = _direction(here, other)
        wx, wy = _direction((0, 0), (ux + vx, uy + vy))
        if text:
            centre = here[0] + _INWARD * wx, here[1] + _INWARD * wy
            labels.append(Label(text, centre, RED if text == "x" else BLACK))
    return labels


def _outer(corners: Sequence[Point], text: str) -> list[Shape]:
    """Draw the base on to the right, and label the angle between that and the right side."""
    right = corners[1]
    top = corners[2]
    end = right[0] + 60, right[1]
    ux, uy = _direction(right, top)
    wx, wy = _direction((0, 0), (ux + 1, uy))
    centre = right[0] + 40 * wx, right[1] + 40 * wy
    return [Line(right, end), Label(text, centre, RED if text == "x" else BLACK)]


def _tick(start: Point, end: Point) -> Line:
    x = (start[0] + end[0]) / 2
    y = (start[1] + end[1]) / 2
    ux, uy = _direction(start, end)
    return Line((x - 8 * uy, y + 8 * ux), (x + 8 * uy, y - 8 * ux))


def _direction(start: Point, end: Point) -> Point:
    x = end[0] - start[0]
    y = end[1] - start[1]
    length = math.hypot(x, y)
    return x / length, y / length
