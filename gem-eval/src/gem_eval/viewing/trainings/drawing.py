"""The geometry of a plot of learning curves: figures in, paths and ticks out.

Knows nothing of HTML but the syntax of a path.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem_eval.viewing.trainings.curves import Grid, LearningCurve

__all__ = ["HEIGHT", "LEFT", "WIDTH", "Plot", "plot_of"]

Floats = NDArray[np.float64]
WIDTH = 420
HEIGHT = 160
LEFT = 44.0
_RIGHT = 6.0
_TOP = 8.0
_BOTTOM = 22.0
_TICKS = 4
_NOTHING = 1e-12  # a difference that only rounding makes
_MOST_SEEDS = 20  # lines of single seeds in an arm: more would be a smear
_SHARES = ("success", "share")  # how the names of figures end that lie between 0 and 1


class AxisTick(NamedTuple):
    """A labelled place on an axis. `anchor` is where its text stands to it."""

    place: float
    label: str
    anchor: str = "middle"


class Lines(NamedTuple):
    """What is drawn of an arm: paths of its band, of its seeds and of its mean, "" for none."""

    band: str
    seeds: tuple[str, ...]
    mean: str


class Plot(NamedTuple):
    """A plot of one figure: the lines of each arm, ticks, and what a cursor reads.

    `points` is JSON: the places in units of the drawing, and for each arm its values there.
    """

    arms: tuple[Lines, ...]
    levels: tuple[AxisTick, ...]
    along: tuple[AxisTick, ...]
    points: str


class _Frame(NamedTuple):
    """Where values stand in the drawing."""

    left: float
    right: float
    low: float
    high: float

    def x(self, places: Floats) -> Floats:
        span = (self.right - self.left) or 1.0
        return LEFT + (places - self.left) / span * (WIDTH - LEFT - _RIGHT)

    def y(self, values: Floats) -> Floats:
        span = (self.high - self.low) or 1.0
        # A band may leave the scale: that of a share reaches beyond 1.
        share = np.clip((values - self.low) / span, 0.0, 1.0)
        return HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP)


def plot_of(figure: str, grid: Grid, curves: Sequence[LearningCurve]) -> Plot:
    """Return the plot of a figure, with a curve for each arm on one grid."""
    values = [own for curve in curves for own in curve.seeds]
    ends = [end for curve in curves for end in (curve.low, curve.high)]
    levels = _levels(figure, _range_of(values), _range_of(ends))
    # From 0 on, so that plots of updates and of evaluations stand below one another.
    end = float(grid.places[-1]) if len(grid.places) else 0.0
    along = _round_levels(0.0, end, is_wider=False)
    frame = _Frame(0.0, end, levels[0], levels[-1])
    x = frame.x(grid.places)
    arms = tuple(_lines(curve, frame, x) for curve in curves)
    y_places = frame.y(np.array(levels))
    x_places = frame.x(np.array(along))
    points = {
        "x": [round(float(place), 1) for place in x],
        "at": [float(f"{place:.6g}") for place in grid.places],
        "arms": [_readings(curve) for curve in curves],
    }
    return Plot(
        arms,
        tuple(
            AxisTick(round(float(y), 1), _text(level))
            for y, level in zip(y_places, levels, strict=True)
        ),
        tuple(
            AxisTick(round(float(place), 1), _text(level), _anchor(float(place)))
            for place, level in zip(x_places, along, strict=True)
        ),
        json.dumps(points, separators=(",", ":")),
    )


def _lines(curve: LearningCurve, frame: _Frame, x: Floats) -> Lines:
    has_several = len(curve.seeds) > 1
    band = _band(x, frame.y(curve.low), frame.y(curve.high)) if has_several else ""
    seeds = [_path(x, frame.y(own)) for own in curve.seeds[:_MOST_SEEDS]] if has_several else []
    return Lines(band, tuple(seeds), _path(x, frame.y(curve.mean)))


def _path(x: Floats, y: Floats) -> str:
    """Return a line through the points that there are, over those that there are not."""
    is_known = np.isfinite(y)
    points = zip(x[is_known].tolist(), y[is_known].tolist(), strict=True)
    return "".join(
        f"{'L' if number else 'M'}{place:.1f} {value:.1f}"
        for number, (place, value) in enumerate(points)
    )


def _band(x: Floats, low: Floats, high: Floats) -> str:
    is_known = np.isfinite(low) & np.isfinite(high)
    upper = _path(x[is_known], high[is_known])
    lower = _path(x[is_known][::-1], low[is_known][::-1])
    return f"{upper}L{lower[1:]}Z" if upper else ""


def _readings(curve: LearningCurve) -> list[list[float | None]]:
    """Return the mean and the ends of the band at each place, for a cursor."""
    columns = [curve.mean, curve.low, curve.high]
    return [
        [None if math.isnan(value) else float(f"{value:.4g}") for value in column.tolist()]
        for column in columns
    ]


def _range_of(every: Sequence[Floats]) -> tuple[float, float]:
    values = np.concatenate([*every, np.empty(0)])
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)


def _levels(figure: str, seeds: tuple[float, float], bands: tuple[float, float]) -> list[float]:
    """Return the ticks of the values, from the range of the seeds and that of the bands."""
    if figure.endswith(_SHARES) and seeds[0] >= 0 and seeds[1] <= 1 + _NOTHING:
        return [0.0, 0.5, 1.0]
    low = min(seeds[0], bands[0])
    if seeds[0] >= 0:
        low = max(low, 0.0)  # what no seed falls below is no value, whatever a band reaches
    return _round_levels(low, max(seeds[1], bands[1]), is_wider=True)


def _round_levels(low: float, high: float, *, is_wider: bool) -> list[float]:
    """Return round numbers from `low` to `high`, or so that both lie between them.

    >>> _round_levels(0.0, 100.0, is_wider=False)
    [0.0, 50.0, 100.0]
    >>> _round_levels(2.71, 6.9, is_wider=True)
    [2.0, 4.0, 6.0, 8.0]
    """
    if high - low <= _NOTHING:
        half = abs(low) * 0.1 or 0.5
        return [low - half, low, low + half] if is_wider else [low]
    rough = (high - low) / _TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * 0.999)
    if is_wider:
        first = math.floor(low / step)
        last = math.ceil(high / step)
    else:
        first = math.ceil(low / step - 1e-9)
        last = math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def _anchor(place: float) -> str:
    return "end" if place > WIDTH - _RIGHT - 12 else "middle"


def _text(value: float) -> str:
    """Return a number for a tick, short.

    >>> [_text(value) for value in (0.5, 1500.0, 2000000.0, 0.00002)]
    ['0.5', '1.5k', '2M', '2e-5']
    """
    size = abs(value)
    if size >= 1e9 or 0 < size < 1e-3:
        text = f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e")
    elif size >= 1e6:
        text = f"{value / 1e6:.4g}M"
    elif size >= 1e3:
        text = f"{value / 1e3:.4g}k"
    else:
        text = f"{value:.4g}"
    return text.replace("-", "\N{MINUS SIGN}", 1) if text.startswith("-") else text
