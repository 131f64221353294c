"""Send fewer requests at once to a server that cannot keep up, and more again once it can.

Knows nothing about HTTP, or about what a request is: who asks takes a turn and says how it ended.
"""

from __future__ import annotations

import asyncio
import math

__all__ = ["Throttle"]

_SHARE_KEPT = 0.5  # of what was in flight, where that was too much
_ROUND_TRIPS = 16  # that it takes from one to as many as there ever were


class Throttle:
    """How many requests may be in flight at once, on one event loop. At first, any number.

    Where the server is overloaded the number becomes half of what was in flight: once a round
    trip, for what was sent before the last change says nothing about it. Answers raise it again,
    with each round trip by a sixteenth of the most that ever were in flight; there it is lifted.
    So it never lets more through than ask at once, which is up to the caller.

    >>> async def ask():
    ...     throttle = Throttle()
    ...     turns = [await throttle.begin() for _ in range(8)]
    ...     throttle.overloaded(turns[0])
    ...     for _ in turns:
    ...         throttle.end()
    ...     return throttle.state
    >>> asyncio.run(ask())
    'throttled to 4 at once'
    """

    def __init__(self) -> None:
        self._in_flight = 0
        self._most = 0  # that ever were in flight
        self._limit = math.inf
        self._changes = 0  # how often the limit was lowered
        self._pauses_until = -math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: dict[asyncio.Future[None], None] = {}  # in the order in which they came

    @property
    def state(self) -> str:
        """What it holds back, in one line; empty while that is nothing."""
        if self._limit == math.inf and self._timer is None:
            return ""
        parts = []
        if self._limit < math.inf:
            parts.append(f"throttled to {int(self._limit)} at once")
        if self._waiting:
            parts.append(f"{len(self._waiting)} wait for their turn")
        if self._timer is not None:
            parts.append("paused, as the server asks")
        return ", ".join(parts)

    async def begin(self) -> int:
        """Return once a request may be sent, in the order of the calls. `end` must follow.

        What is returned belongs to this turn: `answered` and `overloaded` take it.
        """
        if self._waiting or not self._is_open():
            await self._wait()  # who wakes this one has counted it
        else:
            self._in_flight += 1
        self._most = max(self._most, self._in_flight)
        return self._changes

    def answered(self, turn: int) -> None:
        """Let more through: the server has kept up with this turn."""
        # An answer to what was sent before the last change says nothing about fewer.
        if self._limit < math.inf and turn == self._changes:
            self._limit += max(1.0, self._most / _ROUND_TRIPS) / self._limit
            if self._limit >= self._most:
                self._limit = math.inf

    def overloaded(self, turn: int, pause_s: float = 0.0) -> bool:
        """Let fewer through, and none for `pause_s`. True where that may help this request.

        It does not where it was alone already.
        """
        self._pause(pause_s)
        if turn != self._changes:
            return True  # it was sent beside too many, of whom there are fewer by now
        at_once = min(self._in_flight, self._limit)
        limit = max(1.0, at_once * _SHARE_KEPT)
        if limit < self._most:
            self._limit = limit
            self._changes += 1
        return at_once > 1

    def end(self) -> None:
        """End a turn, however it went, and let those begin that wait."""
        self._in_flight -= 1
        self._let_begin()

    def _is_open(self) -> bool:
        return self._timer is None and self._in_flight + 1 <= self._limit

    async def _wait(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting[turn] = None
        try:
            await turn
        except asyncio.CancelledError:
            self._waiting.pop(turn, None)
            if turn.done() and not turn.cancelled():
                self.end()  # its turn had come at the same moment: the next one has it
            raise

    def _let_begin(self) -> None:
        while self._waiting and self._is_open():
            turn = next(iter(self._waiting))
            del self._waiting[turn]
            # Who was cancelled takes itself out, but maybe only after this.
            if not turn.done():
                # Counted here and not where it wakes: others may begin before that.
                self._in_flight += 1
                turn.set_result(None)

    def _pause(self, pause_s: float) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + pause_s
        if pause_s <= 0 or until <= self._pauses_until:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._pauses_until = until
        self._timer = loop.call_at(until, self._resume)

    def _resume(self) -> None:
        self._timer = None
        self._let_begin()
