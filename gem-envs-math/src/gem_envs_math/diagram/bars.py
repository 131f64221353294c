"""Bar charts to read."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

from gem_envs_math.diagram.sketch import (
    BLUE,
    GREY,
    ORANGE,
    Label,
    Line,
    Shape,
    Sketch,
    box,
)

__all__ = ["bars"]

_LEFT = 60  # this and the next three are in pixels
_RIGHT = 385
_FLOOR = 262
_TICK = 28
_TICKS = 8  # lines above the floor


def bars(rng: Random, level: int) -> Sketch:
    """Ask for a bar's value; for a difference of two; for the mean of all.

    Values lie on the lines at level 1, on them or half way between from level 2 on.
    """
    names = "ABCDEFG"[: 3 + level]
    unit = 2 * rng.choice((1, 2, 5, 10))
    step = 2 if level == 1 else 1
    halves = [rng.randrange(step, 2 * _TICKS + 1, step) for _ in names]
    values = [Fraction(half * unit, 2) for half in halves]
    first, second = rng.sample(range(len(names)), 2)
    if level == 1:
        question = f"What is the value of bar {names[first]}?"
        answer = values[first]
    elif level == 2:
        question = (
            f"By how much do the values of bars {names[first]} and {names[second]} differ? Give "
            "the larger less the smaller."
        )
        answer = abs(values[first] - values[second])
    else:
        question = (
            "What is the mean of the values of all bars? Give a fraction where it is no whole "
            "number."
        )
        answer = Fraction(sum(values), len(values))
    if level > 1:
        question = f"Bars end on a line, or half way between two lines. {question}"
    return Sketch(question, answer, [*_axis(unit), *_bars(names, halves)])


def _axis(unit: int) -> list[Shape]:
    shapes: list[Shape] = []
    for tick in range(_TICKS + 1):
        y = _FLOOR - tick * _TICK
        shapes.append(Line((_LEFT, y), (_RIGHT, y), 1, GREY))
        if tick % 2 == 0:
            shapes.append(Label(str(tick * unit), (_LEFT - 28, y)))
    return shapes


def _bars(names: str, halves: Sequence[int]) -> list[Shape]:
    step = (_RIGHT - _LEFT) / len(names)
    shapes: list[Shape] = []
    for at, (name, half) in enumerate(zip(names, halves, strict=True)):
        middle = _LEFT + step * (at + 0.5)
        fill = (BLUE, ORANGE)[at % 2]
        top = _FLOOR - half * _TICK / 2
        shapes += [
            box(middle - step / 4, top, middle + step / 4, _FLOOR, fill),
            Label(name, (middle, _FLOOR + 20)),
        ]
    return shapes
