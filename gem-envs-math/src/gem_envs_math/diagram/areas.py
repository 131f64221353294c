"""Areas of shapes that are put together from rectangles and triangles."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from gem_envs_math.diagram.sketch import WHITE, Label, Polygon, Shape, Sketch, box

__all__ = ["areas"]

# The rectangle that each figure fills, in pixels.
_LEFT = 60
_TOP = 40
_WIDE = 270
_HIGH = 210
_RIGHT = _LEFT + _WIDE
_BOTTOM = _TOP + _HIGH
_ASKED = "Lengths are in metres; corners that look right-angled are. The figure is not to scale."


def areas(rng: Random, level: int) -> Sketch:
    """Ask for the area of an L; of a rectangle under a triangle; of a sheet with parts cut out."""
    return (_ell, _house, _cut)[level - 1](rng)


def _ell(rng: Random) -> Sketch:
    width = rng.randrange(6, 21)
    height = rng.randrange(6, 21)
    less_wide = rng.randrange(2, width - 2)
    less_high = rng.randrange(2, height - 2)
    x = _LEFT + _WIDE * 3 // 5
    y = _TOP + _HIGH * 2 // 5
    corners = (
        *((_LEFT, _TOP), (x, _TOP), (x, y)),
        *((_RIGHT, y), (_RIGHT, _BOTTOM), (_LEFT, _BOTTOM)),
    )
    labels = [
        Label(str(width), ((_LEFT + _RIGHT) / 2, _BOTTOM + 20)),
        Label(str(height), (_LEFT - 26, (_TOP + _BOTTOM) / 2)),
        Label(str(less_wide), ((x + _RIGHT) / 2, y - 18)),
        Label(str(less_high), (x + 26, (_TOP + y) / 2 - 6)),
    ]
    area = width * height - less_wide * less_high
    question = f"{_ASKED} What is the area of the blue shape, in square metres?"
    return Sketch(question, Fraction(area), [Polygon(corners), *labels])


def _house(rng: Random) -> Sketch:
    width = rng.randrange(5, 21)
    height = rng.randrange(5, 21)
    roof = rng.randrange(3, 16)
    eaves = _TOP + _HIGH * 2 // 5
    x = _LEFT + _WIDE * rng.randrange(2, 9) / 10
    corners = (
        *((_LEFT, eaves), (x, _TOP), (_RIGHT, eaves)),
        *((_RIGHT, _BOTTOM), (_LEFT, _BOTTOM)),
    )
    shapes: list[Shape] = [
        Polygon(corners),
        Polygon(((_LEFT, eaves), (_RIGHT, eaves)), width=1),
        Polygon(((x, _TOP), (x, eaves)), width=1),
        Label(str(width), ((_LEFT + _RIGHT) / 2, _BOTTOM + 20)),
        Label(str(height), (_LEFT - 26, (eaves + _BOTTOM) / 2)),
        Label(str(roof), (x + 20, eaves - 18)),
    ]
    question = (
        f"{_ASKED} A triangle stands on a rectangle, and the thin upright line is its height. "
        "What is the area of the whole blue shape, in square metres?"
    )
    return Sketch(question, width * height + Fraction(width * roof, 2), shapes)


def _cut(rng: Random) -> Sketch:
    width = rng.randrange(12, 31)
    height = rng.randrange(12, 31)
    hole_width = rng.randrange(2, width // 2)
    hole_height = rng.randrange(2, height // 2)
    across = rng.randrange(2, width // 2)
    down = rng.randrange(2, height // 2)
    x = _RIGHT - _WIDE // 3
    y = _TOP + _HIGH // 3
    hole = _LEFT + 50, _TOP + 90, _LEFT + 150, _TOP + 160
    corners = ((_LEFT, _TOP), (x, _TOP), (_RIGHT, y), (_RIGHT, _BOTTOM), (_LEFT, _BOTTOM))
    corner = ((x, _TOP), (_RIGHT, _TOP), (_RIGHT, y))
    shapes: list[Shape] = [
        Polygon(corner, WHITE, width=1),
        Polygon(corners),
        box(*hole, WHITE),
        Label(str(width), ((_LEFT + _RIGHT) / 2, _BOTTOM + 20)),
        Label(str(height), (_LEFT - 26, (_TOP + _BOTTOM) / 2)),
        Label(str(across), ((x + _RIGHT) / 2, _TOP - 16)),
        Label(str(down), (_RIGHT + 24, (_TOP + y) / 2)),
        Label(str(hole_width), ((hole[0] + hole[2]) / 2, hole[1] - 16)),
        Label(str(hole_height), (hole[2] + 22, (hole[1] + hole[3]) / 2)),
    ]
    area = width * height - hole_width * hole_height - Fraction(across * down, 2)
    question = (
        f"{_ASKED} A rectangular hole and a triangular corner, both white, are cut out of a "
        "rectangle. What is the area of the blue shape that is left, in square metres?"
    )
    return Sketch(question, area, shapes)
