"""The geometry of plots: figures in, marks in the units of a drawing out. Knows nothing of HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gem_eval.summary import Interval
from gem_eval.viewing.overview import Bar, Histogram, Strip

__all__ = [
    "Curve",
    "Mark",
    "Scale",
    "band_of",
    "curve_of",
    "histogram_marks",
    "scale_of",
    "share_of",
    "strip_marks",
]

STRIP_HEIGHT = 12.0
_FAILED_HEIGHT = 3.0
_HISTOGRAM_HEIGHT = 22.0
_CURVE_WIDTH = 400.0
_CURVE_LEFT = 40.0
_CURVE_RIGHT = 8.0
_CURVE_TOP = 10.0
_CURVE_BOTTOM = 66.0


class Mark(NamedTuple):
    """A rectangle. `kind` names its class, `title` says what it stands for."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str = ""


class Scale(NamedTuple):
    """The range that bars of one column share."""

    low: float
    high: float


class Band(NamedTuple):
    """A value and its interval in percent of a scale."""

    value: float
    low: float
    width: float


class Tick(NamedTuple):
    """A labelled place on an axis."""

    place: float
    label: str


class Line(NamedTuple):
    """A line of steps: the return so far, turn by turn. `dots` are turns with a reward."""

    path: str
    dots: tuple[tuple[float, float], ...]


class Curve(NamedTuple):
    """The lines of the returns so far, one a seat, and their axes."""

    lines: tuple[Line, ...]
    levels: tuple[Tick, ...]
    turns: tuple[Tick, ...]
    left: float
    right: float
    step: float


def scale_of(values: Sequence[float | None], intervals: Sequence[Interval]) -> Scale:
    """Return a range from 0 to 1, or wider where values or intervals are."""
    found = [value for value in values if value is not None]
    found += [bound for interval in intervals if interval is not None for bound in interval]
    return Scale(min([0.0, *found]), max([1.0, *found]))


def band_of(value: float | None, interval: Interval, scale: Scale) -> Band | None:
    """Return where a value and its interval stand on a scale."""
    if value is None:
        return None
    low, high = (value, value) if interval is None else interval
    start = share_of(low, scale)
    width = max(share_of(high, scale) - start, 0.8)
    return Band(share_of(value, scale), start, width)


def share_of(value: float | None, scale: Scale) -> float:
    """Return how far along a scale a value stands, in percent."""
    if value is None or math.isnan(value):
        return 0.0
    share = (value - scale.low) / (scale.high - scale.low)
    return round(100 * min(max(share, 0.0), 1.0), 3)


def strip_marks(strip: Strip) -> list[Mark]:
    """Return a column for each bar: full where all succeeded, short where all failed."""
    marks = []
    width = 100 / max(1, len(strip.bars))
    # Gaps between narrow columns would only wash their colour out.
    gap = 0.25 if width > 1 else 0.0
    for place, bar in enumerate(strip.bars):
        x = round(place * width + gap, 3)
        wide = round(width - 2 * gap, 3)
        height, kind = _of_bar(bar)
        if kind:
            y = STRIP_HEIGHT - height
            marks.append(Mark(x, round(y, 2), wide, round(height, 2), kind, _title(bar)))
    return marks


def _of_bar(bar: Bar) -> tuple[float, str]:
    counted = bar.succeeded + bar.failed
    if counted == 0:
        return (STRIP_HEIGHT, "f-err" if bar.errors else "")
    if bar.succeeded == 0:
        return (_FAILED_HEIGHT, "f-bad")
    rest = STRIP_HEIGHT - _FAILED_HEIGHT
    return (_FAILED_HEIGHT + rest * bar.succeeded / counted, "f-good")


def _title(bar: Bar) -> str:
    total = bar.succeeded + bar.failed + bar.errors
    if total == 1:
        outcome = "succeeded" if bar.succeeded else "failed" if bar.failed else "error"
        return f"{bar.label}: {outcome}"
    errors = f", {bar.errors} ended by an error" if bar.errors else ""
    return f"{bar.label}: {bar.succeeded} of {bar.succeeded + bar.failed} succeeded{errors}"


def histogram_marks(histogram: Histogram) -> list[Mark]:
    """Return filled bars for those that succeeded, and hollow ones below for those that failed."""
    marks = []
    most = max((bar.succeeded + bar.failed for bar in histogram.bars), default=0)
    width = 100 / max(1, len(histogram.bars))
    for place, bar in enumerate(histogram.bars):
        failed = _HISTOGRAM_HEIGHT * bar.failed / most if most else 0.0
        succeeded = _HISTOGRAM_HEIGHT * bar.succeeded / most if most else 0.0
        bottom = _HISTOGRAM_HEIGHT + 1
        x = round(place * width + width * 0.16, 3)
        wide = round(width * 0.68, 3)
        if succeeded:
            top = bottom - failed - succeeded
            marks.append(Mark(x, round(top, 2), wide, round(succeeded, 2), "f-good"))
        if failed:
            marks.append(Mark(x, round(bottom - failed, 2), wide, round(failed, 2), "hollow"))
    return marks


def histogram_text(histogram: Histogram) -> str:
    """Say in words what a histogram shows."""
    counts = [
        f"{bar.label}: {bar.succeeded + bar.failed}"
        for bar in histogram.bars
        if bar.succeeded + bar.failed
    ]
    return f"turns {', '.join(counts)}" if counts else "no episode"


def curve_of(points: Sequence[tuple[int, Sequence[float]]], turns: int) -> Curve | None:
    """Return the lines of an episode's returns so far, one a seat; None where there is no turn."""
    if not points or turns < 1:
        return None
    right = _CURVE_WIDTH - _CURVE_RIGHT
    step = (right - _CURVE_LEFT) / turns
    totals = [total for _, returns in points for total in returns]
    scale = Scale(min(0.0, *totals), max(1.0, *totals)) if totals else Scale(0.0, 1.0)

    def x(turn: int) -> float:
        return round(_CURVE_LEFT + (turn - 0.5) * step, 2)

    def y(total: float) -> float:
        share = share_of(total, scale) / 100
        return round(_CURVE_BOTTOM - share * (_CURVE_BOTTOM - _CURVE_TOP), 2)

    def line(seat: int) -> Line:
        path = [f"M{_CURVE_LEFT} {y(0.0)}"]
        dots = []
        before = 0.0
        for turn, returns in points:
            total = returns[seat]
            path.append(f"H{x(turn)}V{y(total)}")
            if total != before and len(points) <= 100:
                dots.append((x(turn), y(total)))
            before = total
        path.append(f"H{right}")
        return Line("".join(path), tuple(dots))

    every = max(1, math.ceil(turns / 10))
    labelled = range(1, turns + 1, every)
    return Curve(
        lines=tuple(map(line, range(len(points[0][1])))),
        levels=tuple(Tick(y(level), f"{level:g}") for level in (scale.low, scale.high)),
        turns=tuple(Tick(x(turn), str(turn)) for turn in labelled),
        left=_CURVE_LEFT,
        right=right,
        step=round(step, 4),
    )
