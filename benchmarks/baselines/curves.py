"""Draw learning curves as SVG, with nothing but text: panels side by side, and lines in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Line", "Panel", "drawn"]

WIDTH = 250
HEIGHT = 190
LEFT = 46
TOP = 34
GAP = 26
PER_ROW = 4
COLOURS = (
    "#2a6fbb",
    "#d1495b",
    "#3a8f5c",
    "#edae49",
    "#7a4fa3",
    "#00798c",
    "#b35c1e",
    "#c75dab",
    "#5b6770",
    "#111111",
    "#8a8d00",
)

Points = Sequence[tuple[float, float]]


class Line(NamedTuple):
    """A curve: its name, which gives it its colour in all panels, and its points."""

    name: str
    points: Points
    is_dashed: bool = False


class Panel(NamedTuple):
    """A title, what the axes are, and lines; `level` is a height to compare them with."""

    title: str
    across: str
    lines: Sequence[Line]
    level: tuple[str, float] | None = None


def drawn(panels: Sequence[Panel]) -> str:
    """Return the panels, four in a row, with one legend under all."""
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
    columns = min(PER_ROW, len(panels))
    rows = -(-len(panels) // PER_ROW)
    step_x = LEFT + WIDTH + GAP
    step_y = TOP + HEIGHT + 48
    width = columns * step_x
    height = rows * step_y + 20 * (-(-len(names) // PER_ROW)) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for number, panel in enumerate(panels):
        left = (number % PER_ROW) * step_x + LEFT
        top = (number // PER_ROW) * step_y + TOP
        parts += _panel(panel, left, top, colours)
    for number, name in enumerate(names):
        x = (number % PER_ROW) * step_x + LEFT
        y = rows * step_y + 20 * (number // PER_ROW)
        parts.append(
            f'<line x1="{x}" y1="{y}" x2="{x + 18}" y2="{y}" stroke="{colours[name]}" '
            'stroke-width="2"/>'
        )
        parts.append(f'<text x="{x + 24}" y="{y + 4}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: Panel, left: float, top: float, colours: Mapping[str, str]) -> list[str]:
    points = [point for line in panel.lines for point in line.points]
    heights = [y for _, y in points] + ([panel.level[1]] if panel.level else [])
    low = min([0.0, *heights])
    high = max(heights, default=1.0)
    if high == low:
        high = low + 1.0
    last = max((x for x, _ in points), default=1.0) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        return left + WIDTH * x / last, top + HEIGHT * (high - y) / (high - low)

    parts = [
        f'<text x="{left}" y="{top - 12}" font-weight="bold">{escape(panel.title)}</text>',
        f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
        'stroke="#bbbbbb"/>',
    ]
    for value in (low, high):
        _, y = place(0, value)
        parts.append(f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    bottom = top + HEIGHT + 16
    parts.append(f'<text x="{left}" y="{bottom}">0</text>')
    parts.append(
        f'<text x="{left + WIDTH}" y="{bottom}" text-anchor="end">'
        f"{last:g} {escape(panel.across)}</text>"
    )
    if panel.level is not None:
        name, value = panel.level
        _, y = place(0, value)
        parts.append(
            f'<line x1="{left}" y1="{y:.1f}" x2="{left + WIDTH}" y2="{y:.1f}" stroke="#999999" '
            'stroke-dasharray="3"/>'
        )
        parts.append(
            f'<text x="{left + WIDTH - 4}" y="{y - 4:.1f}" text-anchor="end" fill="#777777">'
            f"{escape(name)}</text>"
        )
    for line in panel.lines:
        path = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in line.points)
        dash = ' stroke-dasharray="4 3"' if line.is_dashed else ""
        parts.append(
            f'<polyline points="{path}" stroke="{colours[line.name]}" fill="none" '
            f'stroke-width="1.5"{dash}/>'
        )
    return parts
