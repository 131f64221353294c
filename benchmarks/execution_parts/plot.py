"""Draw bars as SVG, with nothing but text."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

__all__ = ["Panel", "plotted"]

WIDTH = 760
LABELS = 200
FIGURES = 70
ROW = 24
GAP = 22
OURS = "#2a6fbb"
THEIRS = "#b0b4ba"
ELSEWHERE = ("gem-llm", "Gymnasium", "lock-step")


class Panel(NamedTuple):
    """A title, and bars: what each is of, and how long."""

    title: str
    bars: list[tuple[str, float]]


def plotted(panels: list[Panel]) -> str:
    """Return the panels, one above the other."""
    heights = [ROW * (1 + len(panel.bars)) + GAP for panel in panels]
    height = sum(heights) + GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    top = GAP
    for panel, size in zip(panels, heights, strict=True):
        lines += drawn(panel, top)
        top += size
    return "\n".join([*lines, "</svg>"]) + "\n"


def drawn(panel: Panel, top: int) -> Iterator[str]:
    """Yield the elements of one panel."""
    yield f'<text x="{GAP}" y="{top + 14}" font-weight="bold">{escape(panel.title)}</text>'
    longest = max(length for _, length in panel.bars)
    for number, (label, length) in enumerate(panel.bars, start=1):
        middle = top + number * ROW + 9
        width = (WIDTH - LABELS - FIGURES - GAP) * length / longest
        colour = THEIRS if label.startswith(ELSEWHERE) else OURS
        yield f'<text x="{LABELS - 8}" y="{middle + 5}" text-anchor="end">{escape(label)}</text>'
        yield (
            f'<rect x="{LABELS}" y="{middle - 7}" width="{width:.1f}" height="15" fill="{colour}"/>'
        )
        yield f'<text x="{LABELS + width + 6:.1f}" y="{middle + 5}">{length:.3g}</text>'
