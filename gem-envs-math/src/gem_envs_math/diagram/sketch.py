"""A figure as plain data: what is drawn where, and the question about it.

Coordinates are pixels, x to the right and y down, on a canvas of WIDTH by HEIGHT.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple, Union

__all__ = [
    "BLACK",
    "BLUE",
    "GREY",
    "HEIGHT",
    "ORANGE",
    "PALE",
    "PALETTE",
    "RED",
    "WHITE",
    "WIDTH",
    "Colour",
    "Dot",
    "Label",
    "Line",
    "Point",
    "Polygon",
    "Ring",
    "Shape",
    "Sketch",
    "box",
]

WIDTH = 400
HEIGHT = 300

Colour = Literal[0, 1, 2, 3, 4, 5, 6]
WHITE: Colour = 0
BLACK: Colour = 1
GREY: Colour = 2
BLUE: Colour = 3
RED: Colour = 4
ORANGE: Colour = 5
PALE: Colour = 6
PALETTE = (
    *((255, 255, 255), (0, 0, 0), (190, 190, 190), (40, 90, 200)),
    *((200, 40, 40), (240, 150, 40), (190, 215, 245)),
)
"""Red, green and blue of each colour."""

Point = tuple[float, float]


class Line(NamedTuple):
    """A straight line."""

    start: Point
    end: Point
    width: int = 2
    colour: Colour = BLACK


class Polygon(NamedTuple):
    """A closed polygon, filled and outlined."""

    corners: Sequence[Point]
    fill: Colour = PALE
    width: int = 2


class Ring(NamedTuple):
    """The outline of a circle, white inside."""

    centre: Point
    radius: float


class Dot(NamedTuple):
    """A small disc."""

    centre: Point
    radius: float = 5
    colour: Colour = RED


class Label(NamedTuple):
    """A short text, centred on a point."""

    text: str
    centre: Point
    colour: Colour = BLACK


Shape = Union[Line, Polygon, Ring, Dot, Label]


class Sketch(NamedTuple):
    """A question, its exact answer, and what is to be drawn, first things first."""

    question: str
    answer: Fraction
    shapes: Sequence[Shape]


def box(left: float, top: float, right: float, bottom: float, fill: Colour = PALE) -> Polygon:
    """Return a rectangle."""
    return Polygon(((left, top), (right, top), (right, bottom), (left, bottom)), fill)
