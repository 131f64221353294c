"""Moving averages of returns, one a role: the baselines of seats. Knows nothing about games."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["MovingAverages"]


class MovingAverages:
    """An average for each role, which begins at 0 and moves towards each return that it is told.

    Role-conditioned advantage estimation (SPIRAL, arXiv 2506.24119): the baseline of a role is read
    before the return is added, so that no episode is in its own baseline.

    >>> averages = MovingAverages(decay=0.5)
    >>> averages.read_then_add("first", 1.0), averages.read_then_add("first", 1.0)
    (0.0, 0.5)
    """

    def __init__(self, decay: float = 0.95, values: Mapping[str, float] | None = None) -> None:
        self._decay = decay
        self._values = dict(values or {})

    def read_then_add(self, role: str, earned: float) -> float:
        """Return the baseline of a role, and only then move it towards what was earned."""
        baseline = self._values.get(role, 0.0)
        self._values[role] = self._decay * baseline + (1 - self._decay) * earned
        return baseline

    @property
    def values(self) -> dict[str, float]:
        """What each role that has been seen is expected to earn, now."""
        return dict(self._values)
