"""Clock faces to read."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

from gem_envs_math.diagram.sketch import (
    BLACK,
    HEIGHT,
    WIDTH,
    Dot,
    Label,
    Line,
    Point,
    Ring,
    Shape,
    Sketch,
)

__all__ = ["clocks"]

_DAY = 12 * 60  # minutes, as a clock face counts them


def clocks(rng: Random, level: int) -> Sketch:
    """Ask for the time to five minutes; to the minute; for the time between two clocks."""
    time = rng.randrange(0, _DAY, 5 if level == 1 else 1)
    if level < 3:
        question = (
            "The short hand shows the hours. How many minutes after 12 o'clock does the clock "
            "show? (At 2:30 it would be 150.)"
        )
        return Sketch(question, Fraction(time), _clock((WIDTH / 2, HEIGHT / 2), 135, time))
    passed = rng.randrange(1, _DAY)
    later = (time + passed) % _DAY
    question = (
        "The short hands show the hours. The clock on the right shows the later time, less than "
        "12 hours after the one on the left. How many minutes lie between them?"
    )
    shapes = [
        *_clock((WIDTH / 4, HEIGHT / 2), 95, time),
        *_clock((WIDTH * 3 / 4, HEIGHT / 2), 95, later),
    ]
    return Sketch(question, Fraction(passed), shapes)


def _clock(centre: Point, radius: float, time: int) -> list[Shape]:
    shapes: list[Shape] = [Ring(centre, radius)]
    for minute in range(60):
        is_hour = minute % 5 == 0
        inner = radius * (0.9 if is_hour else 0.95)
        ends = _at(centre, inner, minute / 60), _at(centre, radius - 2, minute / 60)
        shapes.append(Line(*ends, width=2 if is_hour else 1))
    return [
        *shapes,
        *(Label(str(hour), _at(centre, radius * 0.76, hour / 12)) for hour in (3, 6, 9, 12)),
        Line(centre, _at(centre, radius * 0.45, time / _DAY), width=7),
        Line(centre, _at(centre, radius * 0.84, time % 60 / 60), width=3),
        Dot(centre, 6, BLACK),
    ]


def _at(centre: Point, radius: float, part: float) -> Point:
    """Return the point at so great a part of a turn, clockwise from the top."""
    turn = 2 * math.pi * part
    return centre[0] + radius * math.sin(turn), centre[1] - radius * math.cos(turn)
