"""End calls that take too long: one sweeper and one timer for all that are under way.

Knows nothing about who is called, and makes no task: the one that awaits the call is cancelled.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Abandon", "LateError", "Limit", "Sweeper", "Watch"]

_LOST = (Exception, SystemExit, asyncio.CancelledError)
"""What of a late call is lost with it. Not KeyboardInterrupt: that one is of the whole program."""

Abandon = Callable[["asyncio.Task[Any]"], None]


class LateError(Exception):
    """The call was late, and what it would have returned or raised is lost."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(f"not within {limit.timeout_s} s")
        self.limit = limit


class Watch:
    """What a task awaits under one limit, one call after another: `with watch.under(limit): ...`.

    A call that outlasts the limit ends as LateError, whatever else it does. `abandon` is called
    with the task when a late call has not given way to its cancellation after the same time again:
    the task may never end, and nobody should wait for it.
    """

    __slots__ = ("abandon", "due", "is_late", "limit", "task")

    def __init__(self, task: asyncio.Task[Any], abandon: Abandon) -> None:
        self.task = task
        self.abandon = abandon
        self.due = math.inf
        self.is_late = False  # whether it was cancelled for being late
        self.limit: Limit | None = None

    def under(self, limit: Limit | None) -> Watch:
        """Let the time run for a call; None is no limit."""
        self.limit = limit
        if limit is not None:
            limit.begin(self)
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.limit is not None:
            self.limit.end(self)
            if self.is_late and (kind is None or issubclass(kind, _LOST)):
                # The cancellation is dealt with. What counts them later in this task (a timeout
                # of asyncio's, a group of tasks) would count it too. Python 3.10 counts none.
                if sys.version_info >= (3, 11):  # pragma: no branch
                    self.task.uncancel()
                raise LateError(self.limit)


class Limit:
    """A time that many calls may take, each from its own beginning.

    All of them take the same time, so they are due in the order in which they began: a dictionary
    keeps that order, and no heap is needed. Whoever is watched anew goes to its end.
    """

    def __init__(self, sweeper: Sweeper, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._sweeper = sweeper
        self._running: dict[Watch, None] = {}  # in the order in which they are due

    def begin(self, watch: Watch) -> None:
        """Watch over a call from now on."""
        watch.due = self._sweeper.now() + self.timeout_s
        watch.is_late = False
        self._running[watch] = None
        # Mostly the timer is set for a call that began earlier, and stays as it is.
        if watch.due < self._sweeper.due:
            self._sweeper.arm(watch.due)

    def end(self, watch: Watch) -> None:
        """Watch over it no more."""
        self._running.pop(watch, None)

    def check(self, watch: Watch) -> None:
        """Raise LateError if the time is up: a task that never waits is never cancelled."""
        if watch.is_late or self._sweeper.now() >= watch.due:
            raise LateError(self)

    def sweep(self, now: float) -> float:
        """End what is late by now. Return when the next call is due."""
        # Listed before any is ended: that changes the dictionary.
        late = []
        for watch in self._running:
            if watch.due > now:
                break  # all after it are due later still
            late.append(watch)
        for watch in late:
            del self._running[watch]
            if watch.is_late:
                # It was cancelled one limit ago and has not ended: it may never.
                watch.abandon(watch.task)
                continue
            # It has the same time again to give way. Its place is now the last: it is due last.
            watch.due = now + self.timeout_s
            watch.is_late = True
            self._running[watch] = None
            watch.task.cancel()
        return next((watch.due for watch in self._running), math.inf)


class Sweeper:
    """The limits of one event loop, and the one timer that they share."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.now = loop.time
        self._call_at = loop.call_at
        self.due = math.inf  # when the timer sweeps; infinite where there is none
        self._limits: list[Limit] = []
        self._timer: asyncio.TimerHandle | None = None

    def limit(self, timeout_s: float) -> Limit:
        """Return a new limit that this sweeper watches over."""
        limit = Limit(self, timeout_s)
        self._limits.append(limit)
        return limit

    def arm(self, due: float) -> None:
        """Sweep at that time, and at no other before it."""
        self.close()
        self.due = due
        if due < math.inf:
            self._timer = self._call_at(due, self._sweep)

    def _sweep(self) -> None:
        # A timer may be early by the clock's resolution: what it was set for would then be found
        # not to be due, and the timer be set again and again until it is.
        now = max(self.now(), self.due)
        self.arm(min(limit.sweep(now) for limit in self._limits))

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
