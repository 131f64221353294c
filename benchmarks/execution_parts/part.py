"""What one part of the benchmark found: its figures, the bars they are held to, and a table."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Bar", "Part", "spread"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Bar:
    """A figure, and the least or the most that it may be."""

    what: str
    measured: float
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the figure is within its bounds."""
        return (self.least is None or self.measured >= self.least) and (
            self.most is None or self.measured <= self.most
        )

    @property
    def wanted(self) -> str:
        """The bound in words."""
        return f"at most {self.most:g}" if self.least is None else f"at least {self.least:g}"

    def as_dict(self) -> Row:
        """Return what the page shows."""
        measured = float(f"{self.measured:.4g}")
        return {"what": self.what, "wanted": self.wanted, "measured": measured, "holds": self.holds}


@dataclass(frozen=True)
class Part:
    """What one part found. `columns` names what of each row the page shows, and how."""

    title: str
    rows: list[Row]
    columns: dict[str, str]
    bars: list[Bar]


def spread(figures: Iterable[float]) -> dict[str, float]:
    """Return the median, the least and the most of several rounds."""
    values = list(figures)
    ends = {"median": statistics.median(values), "least": min(values), "most": max(values)}
    return {name: float(f"{figure:.4g}") for name, figure in ends.items()}
