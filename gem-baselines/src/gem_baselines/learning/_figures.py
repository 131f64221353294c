"""The figures of an update: means of what its steps add. Needs torch."""

from __future__ import annotations

from torch import Tensor

__all__ = ["Figures"]


class Figures:
    """Sums and counts by name.

    Sums stay tensors until they are asked for: on an accelerator each number that is read waits
    for all that was begun.
    """

    def __init__(self) -> None:
        self._sums: dict[str, Tensor | float] = {}
        self._counts: dict[str, float] = {}

    def add(self, name: str, total: Tensor | float, count: float) -> None:
        """Add what is the sum of `count` entries."""
        value = total.detach() if isinstance(total, Tensor) else total
        self._sums[name] = self._sums.get(name, 0.0) + value
        self._counts[name] = self._counts.get(name, 0.0) + count

    def means(self) -> dict[str, float]:
        """Return the mean of each name, over all that was added."""
        return {name: float(total) / self._counts[name] for name, total in self._sums.items()}
