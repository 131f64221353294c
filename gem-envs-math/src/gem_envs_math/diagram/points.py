"""Points of a coordinate system."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from gem_envs_math.diagram.sketch import (
    BLACK,
    BLUE,
    GREY,
    HEIGHT,
    WIDTH,
    Dot,
    Label,
    Line,
    Point,
    Shape,
    Sketch,
)

__all__ = ["points"]

_MOST = 6  # coordinates go from -_MOST to _MOST
_UNIT = 20  # pixels


def points(rng: Random, level: int) -> Sketch:
    """Ask for the sum of a point's coordinates; for a slope; for the area of a triangle."""
    every = range(-_MOST, _MOST + 1)
    while True:
        at = [(rng.choice(every), rng.choice(every)) for _ in range(level)]
        if level == 1:
            question = "What is the sum of the coordinates of P?"
            answer = Fraction(sum(at[0]))
            break
        (px, py), (qx, qy), *_ = at
        if level == 2 and px != qx:
            question = "What is the slope of the line through P and Q? Give a fraction or a number."
            answer = Fraction(qy - py, qx - px)
            break
        doubled = 0 if level == 2 else _doubled_area(at)
        if doubled >= 4:
            question = "What is the area of the triangle PQR, in squares of the grid?"
            answer = Fraction(doubled, 2)
            break
    question = f"The lines of the grid are one unit apart. {question}"
    return Sketch(question, answer, [*_grid(), *_marks(at, is_joined=level > 1)])


def _doubled_area(corners: list[tuple[int, int]]) -> int:
    (px, py), (qx, qy), (rx, ry) = corners
    return abs((qx - px) * (ry - py) - (rx - px) * (qy - py))


def _grid() -> list[Shape]:
    shapes: list[Shape] = []
    for at in range(-_MOST, _MOST + 1):
        width, colour = (2, BLACK) if at == 0 else (1, GREY)
        shapes += [
            Line(_place(at, -_MOST), _place(at, _MOST), width, colour),
            Line(_place(-_MOST, at), _place(_MOST, at), width, colour),
        ]
    for at in (-5, 0, 5):  # outside, where no point's name can be in their way
        shapes += [Label(str(at), _place(at, -_MOST - 0.8)), Label(str(at), _place(-_MOST - 1, at))]
    return shapes


def _marks(at: list[tuple[int, int]], *, is_joined: bool) -> list[Shape]:
    places = [_place(*point) for point in at]
    shapes: list[Shape] = []
    if is_joined:
        pairs = zip(places, [*places[1:], places[0]], strict=True)
        shapes += [Line(*pair, width=1, colour=BLUE) for pair in pairs]
    for name, (x, y) in zip("PQR", places, strict=False):
        shapes += [Dot((x, y)), Label(name, (x + 13, y - 13))]
    return shapes


def _place(x: float, y: float) -> Point:
    return WIDTH / 2 + x * _UNIT, HEIGHT / 2 - y * _UNIT
