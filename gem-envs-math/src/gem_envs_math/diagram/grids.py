"""Parts of a grid that are shaded."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from gem_envs_math.diagram.sketch import (
    BLUE,
    HEIGHT,
    WHITE,
    WIDTH,
    Polygon,
    Shape,
    Sketch,
    box,
)

__all__ = ["grids"]

_CELL = 34  # pixels


def grids(rng: Random, level: int) -> Sketch:
    """Ask which part is shaded: of a row; of scattered squares; of squares and halves of them."""
    rows = 1 if level == 1 else rng.randrange(3, 8)
    columns = rng.randrange(4, 11)
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    chosen = rng.sample(cells, rng.randrange(1, len(cells)))
    halved = set(chosen[: rng.randrange(1, len(chosen) + 1)] if level == 3 else ())
    left = (WIDTH - columns * _CELL) / 2
    top = (HEIGHT - rows * _CELL) / 2
    shapes: list[Shape] = []
    for row, column in cells:
        x = left + column * _CELL
        y = top + row * _CELL
        is_full = (row, column) in chosen and (row, column) not in halved
        shapes.append(box(x, y, x + _CELL, y + _CELL, BLUE if is_full else WHITE))
        if (row, column) in halved:
            shapes.append(Polygon(((x, y), (x, y + _CELL), (x + _CELL, y + _CELL)), BLUE))
    shaded = len(chosen) - Fraction(len(halved), 2)
    question = "All squares are equally large. What fraction of the whole is blue?"
    return Sketch(question, shaded / len(cells), shapes)
