"""Measure how late an event loop is: while something holds it up, no episode goes on.

Knows nothing about episodes or policies.
"""

from __future__ import annotations

import asyncio

from gem.rollouts._stats import RolloutStats

__all__ = ["LoopWatch"]

_EVERY_S = 0.05


class LoopWatch:
    """Counts how late the running event loop is, twenty times a second while this is entered."""

    def __init__(self, stats: RolloutStats) -> None:
        self._stats = stats

    def __enter__(self) -> LoopWatch:
        self._loop = asyncio.get_running_loop()
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        # A loop that was held up until now had no chance to look.
        if self._loop.time() > self._due:
            self._count()

    def _wait(self) -> None:
        self._due = self._loop.time() + _EVERY_S
        self._timer = self._loop.call_at(self._due, self._look)

    def _look(self) -> None:
        self._count()
        self._wait()

    def _count(self) -> None:
        # A loop may call a little before the time, as far as its clock cannot tell.
        self._stats.count_lag(max(0.0, self._loop.time() - self._due))
