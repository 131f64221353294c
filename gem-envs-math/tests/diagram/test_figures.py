"""Every answer can be read back from its figure, another way than it was made."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest

from gem_envs_math.diagram.angles import angles
from gem_envs_math.diagram.areas import areas
from gem_envs_math.diagram.bars import bars
from gem_envs_math.diagram.clocks import clocks
from gem_envs_math.diagram.environment import FAMILIES, LEVELS, Family
from gem_envs_math.diagram.grids import grids
from gem_envs_math.diagram.points import points
from gem_envs_math.diagram.sketch import (
    BLUE,
    HEIGHT,
    ORANGE,
    WHITE,
    WIDTH,
    Dot,
    Label,
    Line,
    Point,
    Polygon,
    Ring,
    Sketch,
)

SEEDS = range(100)


def labels(sketch: Sketch) -> list[str]:
    return [shape.text for shape in sketch.shapes if isinstance(shape, Label)]


def area(corners: tuple[Point, ...]) -> float:
    pairs = zip(corners, (*corners[1:], corners[0]), strict=True)
    return abs(sum(x * v - u * y for (x, y), (u, v) in pairs)) / 2


def corner_angles(corners: tuple[Point, ...]) -> list[float]:
    a, b, c = (math.dist(corners[at - 1], corners[at - 2]) for at in range(3))
    squares = ((b, c, a), (a, c, b), (a, b, c))
    return [math.degrees(math.acos((p * p + q * q - r * r) / (2 * p * q))) for p, q, r in squares]


@pytest.mark.parametrize("level", LEVELS)
def test_angles_are_drawn_as_large_as_they_are(level: int) -> None:
    for seed in SEEDS:
        sketch = angles(Random(seed), level)
        left, right, top = corner_angles(tuple(sketch.shapes[0].corners))  # type: ignore[union-attr]
        asked = {1: top, 2: left, 3: 180 - right}[level]
        assert math.isclose(asked, sketch.answer, abs_tol=1e-6)
        drawn = {round(angle, 6) for angle in (left, right, top, 180 - right)}
        assert {float(text) for text in labels(sketch) if text != "x"} <= drawn


def test_areas_are_those_of_the_lengths_shown() -> None:
    for seed in SEEDS:
        width, height, less_wide, less_high = map(int, labels(areas(Random(seed), 1)))
        parts = (width - less_wide) * height + less_wide * (height - less_high)
        assert areas(Random(seed), 1).answer == parts
        width, height, roof = map(int, labels(areas(Random(seed), 2)))
        assert areas(Random(seed), 2).answer == Fraction(width * (2 * height + roof), 2)
        sketch = areas(Random(seed), 3)
        width, height, across, down, *hole = map(int, labels(sketch))
        assert 2 * sketch.answer == 2 * width * height - across * down - 2 * math.prod(hole)
        assert hole[0] < width - across
        assert hole[1] < height - down


@pytest.mark.parametrize("level", LEVELS)
def test_bars_are_as_high_as_their_values(level: int) -> None:
    for seed in SEEDS:
        sketch = bars(Random(seed), level)
        texts = [shape for shape in sketch.shapes if isinstance(shape, Label)]
        ticks = {int(label.text): label.centre[1] for label in texts if label.text.isdigit()}
        per_pixel = Fraction(max(ticks)) / Fraction(ticks[0] - ticks[max(ticks)])
        boxes = [shape for shape in sketch.shapes if isinstance(shape, Polygon)]
        assert {box.fill for box in boxes} == {BLUE, ORANGE}
        heights = [Fraction(box.corners[2][1] - box.corners[0][1]) for box in boxes]
        names = [label.text for label in texts if label.text.isalpha()]
        values = dict(zip(names, (height * per_pixel for height in heights), strict=True))
        asked = [
            values[word.strip("?.")]
            for word in sketch.question.split()
            if word.strip("?.") in values
        ]
        if level == 1:
            assert asked == [sketch.answer]
        elif level == 2:
            assert abs(asked[0] - asked[1]) == sketch.answer
        else:
            assert sum(values.values()) / len(values) == sketch.answer


def minutes(hour_hand: Line, minute_hand: Line) -> int:
    turns = []
    for hand in (hour_hand, minute_hand):
        x = hand.end[0] - hand.start[0]
        y = hand.start[1] - hand.end[1]
        turns.append(math.atan2(x, y) / (2 * math.pi) % 1)
    assert math.isclose(turns[0] * 12 % 1, turns[1], abs_tol=1e-6) or turns[1] < 1e-6
    return round(turns[0] * 720)


@pytest.mark.parametrize("level", LEVELS)
def test_hands_stand_where_the_time_says(level: int) -> None:
    for seed in SEEDS:
        sketch = clocks(Random(seed), level)
        hands = [shape for shape in sketch.shapes if isinstance(shape, Line) and shape.width > 2]
        times = [minutes(*hands[at : at + 2]) for at in range(0, len(hands), 2)]
        passed = times[0] if level < 3 else (times[1] - times[0]) % 720
        assert passed == sketch.answer
        assert sum(isinstance(shape, Ring) for shape in sketch.shapes) == len(times)


@pytest.mark.parametrize("level", LEVELS)
def test_so_much_of_a_grid_is_blue(level: int) -> None:
    for seed in SEEDS:
        sketch = grids(Random(seed), level)
        parts = [shape for shape in sketch.shapes if isinstance(shape, Polygon)]
        whole = sum(area(tuple(part.corners)) for part in parts if len(part.corners) == 4)
        blue = sum(area(tuple(part.corners)) for part in parts if part.fill == BLUE)
        assert math.isclose(blue / whole, sketch.answer)
        assert {part.fill for part in parts} <= {BLUE, WHITE}


@pytest.mark.parametrize("level", LEVELS)
def test_points_lie_where_the_answer_says(level: int) -> None:
    for seed in SEEDS:
        sketch = points(Random(seed), level)
        dots = [shape.centre for shape in sketch.shapes if isinstance(shape, Dot)]
        at = [((x - WIDTH / 2) / 20, (HEIGHT / 2 - y) / 20) for x, y in dots]
        if level == 1:
            found = sum(at[0])
        elif level == 2:
            found = (at[1][1] - at[0][1]) / (at[1][0] - at[0][0])
        else:
            found = area(tuple(at))
        assert math.isclose(found, sketch.answer)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_label_lies_on_the_canvas_and_apart_from_the_others(
    family: Family, level: int
) -> None:
    for seed in SEEDS:
        sketch = FAMILIES[family](Random(seed), level)
        places = [
            (shape.centre, len(shape.text) * 6)
            for shape in sketch.shapes
            if isinstance(shape, Label)
        ]
        assert all(half <= x <= WIDTH - half and 11 <= y <= HEIGHT - 11 for (x, y), half in places)
        for at, ((x, y), half) in enumerate(places):
            for (u, v), other in places[:at]:
                assert abs(x - u) >= half + other or abs(y - v) >= 18, (seed, sketch)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_no_question_holds_a_number_of_its_figure(family: Family, level: int) -> None:
    questions = {FAMILIES[family](Random(seed), level).question for seed in SEEDS}
    assert len(questions) <= 42  # the names of bars differ, and nothing else does
