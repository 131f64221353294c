"""Learning curves over seeds: series of several trainings to a mean and a band. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem_eval.intervals import student

__all__ = [
    "MOST_POINTS",
    "Grid",
    "LearningCurve",
    "Points",
    "band_text",
    "curve_of",
    "grid_of",
    "on_grid",
]

Floats = NDArray[np.float64]
MOST_POINTS = 240
"""Points of a curve at most, as many as a screen tells apart. Longer ones are averaged."""

_ENOUGH = 5  # seeds for an interval of their mean


class Points(NamedTuple):
    """The points of one training: where they stand on the axis, not falling, and their values."""

    places: Floats
    values: Floats


class Grid(NamedTuple):
    """The places of a plot's points, rising.

    `edges` are those of the stretches around them, where there are more points than places.
    """

    places: Floats
    edges: Floats | None


class LearningCurve(NamedTuple):
    """Values of an arm at the places of a grid, NaN where there is none.

    `mean` is of all seeds, and ends where the first of them does. `low` and `high` are the band:
    the lowest and the highest seed, and from 5 seeds on the 95% interval of the mean (Student's t).
    """

    seeds: tuple[Floats, ...]
    mean: Floats
    low: Floats
    high: Floats


def grid_of(every: Sequence[Points]) -> Grid:
    """Return the places of a plot of these points."""
    known = [points.places[np.isfinite(points.places)] for points in every]
    places = np.unique(np.concatenate([*known, np.empty(0)]))
    if len(places) <= MOST_POINTS:
        return Grid(places, None)
    longest = max(len(own) for own in known)
    if longest <= MOST_POINTS:
        return Grid(np.linspace(places[0], places[-1], MOST_POINTS), None)
    in_each = math.ceil(longest / MOST_POINTS)
    edges = np.linspace(places[0], places[-1], math.ceil(longest / in_each) + 1)
    return Grid((edges[:-1] + edges[1:]) / 2, edges)


def on_grid(points: Points, grid: Grid) -> Floats:
    """Return the values of a training at the places of a grid, NaN before and after its points.

    Between two points they are on the line from one to the other. A stretch is the mean of its
    points first.
    """
    is_known = np.isfinite(points.places) & np.isfinite(points.values)
    places = points.places[is_known]
    values = points.values[is_known]
    size = len(grid.places)
    found = np.full(size, np.nan)
    if not len(places):
        return found
    if grid.edges is None:
        is_own = (grid.places >= places[0]) & (grid.places <= places[-1])
        found[is_own] = np.interp(grid.places[is_own], places, values)
        return found
    stretch = np.clip(np.searchsorted(grid.edges, places, side="right") - 1, 0, size - 1)
    count = np.bincount(stretch, minlength=size)
    total = np.bincount(stretch, weights=values, minlength=size)
    has_any = np.flatnonzero(count)
    own = slice(has_any[0], has_any[-1] + 1)
    found[own] = np.interp(grid.places[own], grid.places[has_any], total[has_any] / count[has_any])
    return found


def curve_of(seeds: Sequence[Floats]) -> LearningCurve:
    """Return the curve of an arm from the values of its seeds on one grid."""
    values = np.stack(seeds)
    number = len(seeds)
    mean = values.mean(axis=0)  # NaN where a seed has none: a mean of others would jump there
    if number >= _ENOUGH:
        half = student(number - 1) * values.std(axis=0, ddof=1) / math.sqrt(number)
        return LearningCurve(tuple(seeds), mean, mean - half, mean + half)
    return LearningCurve(tuple(seeds), mean, values.min(axis=0), values.max(axis=0))


def band_text(numbers: Sequence[int]) -> str:
    """Say what the bands of arms of so many seeds are, "" where none has one.

    >>> band_text([3, 3])
    'the lowest and the highest seed'
    """
    lowest = "the lowest and the highest seed"
    interval = "the 95% interval of the mean"
    several = [number for number in numbers if number > 1]
    if not several:
        return ""
    if max(several) < _ENOUGH:
        return lowest
    if min(several) >= _ENOUGH:
        return interval
    return f"{lowest}, and from {_ENOUGH} seeds on {interval}"
