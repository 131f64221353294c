"""Draw lines on logarithmic axes as SVG, with nothing but text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

__all__ = ["lines_plotted"]

WIDTH = 760
HEIGHT = 360
LEFT = 60
RIGHT = 24
TOP = 44
BOTTOM = 36
COLOURS = ("#b0b4ba", "#2a6fbb", "#7fb069")
Curve = Sequence[tuple[float, float]]


def lines_plotted(title: str, curves: Mapping[str, Curve]) -> str:
    """Return a plot: both axes are logarithmic, so that a straight line is a power."""
    across = _Axis([x for curve in curves.values() for x, _ in curve], LEFT, WIDTH - RIGHT)
    up = _Axis([y for curve in curves.values() for _, y in curve], HEIGHT - BOTTOM, TOP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="22" font-weight="bold">{escape(title)}</text>',
        *_ticks(across, up, sorted({x for curve in curves.values() for x, _ in curve})),
    ]
    for number, (label, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in curve)
        lines.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        lines += [
            f'<circle cx="{across.at(x):.1f}" cy="{up.at(y):.1f}" r="3.5" fill="{colour}"/>'
            for x, y in curve
        ]
        middle = TOP + 14 + 20 * number
        lines.append(
            f'<rect x="{LEFT + 16}" y="{middle - 6}" width="14" height="4" fill="{colour}"/>'
        )
        lines.append(f'<text x="{LEFT + 38}" y="{middle}">{escape(label)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


class _Axis:
    """Where numbers stand between two ends, logarithmically."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        self.low = min(values) / 1.3
        self.high = max(values) * 1.3
        self._first = first
        self._length = last - first

    def at(self, value: float) -> float:
        """Return the position of a number."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self._first + share * self._length


def _ticks(across: _Axis, up: _Axis, turns: Sequence[float]) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for x in turns:
        yield f'<text x="{across.at(x):.1f}" y="{bottom + 20}" text-anchor="middle">{x:g}</text>'
    power = math.ceil(math.log10(up.low))
    while 10.0**power <= up.high:
        y = up.at(10.0**power)
        yield (
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e4e6e9"/>'
        )
        yield f'<text x="{LEFT - 8}" y="{y + 5:.1f}" text-anchor="end">{10.0**power:g}</text>'
        power += 1
