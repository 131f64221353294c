"""Wait for a server that went away: one look now and then, for all who wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from gem_eval.errors import ServerAwayError

__all__ = ["Look", "Outage"]

Look = Callable[[], Awaitable["str | None"]]
"""Says in one line why nobody is there; None where somebody is. All who wait get what it raises."""

_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0


class Outage:
    """Whether a server is away. However many wait, it is looked for once at a time.

    `state` says so in one line while it is waited for, and is empty otherwise.
    """

    def __init__(self, url: str, look: Look) -> None:
        self._url = url
        self._look = look
        self._waiting: asyncio.Task[bool] | None = None
        self._since: float | None = None
        self._wait_s = 0.0
        self._is_given_up = False

    @property
    def state(self) -> str:
        if self._since is None:
            return ""
        waited_s = time.monotonic() - self._since
        return f"waiting {waited_s:.0f} of {self._wait_s:g} s for {self._url}"

    async def end(self, wait_s: float) -> bool:
        """Return as soon as the server is there; True if it was not at first.

        Raises ServerAwayError where it does not come back within `wait_s`. Whoever asks after
        that is told so at once, until the server was seen again.
        """
        loop = asyncio.get_running_loop()
        waiting = self._waiting
        if waiting is None or waiting.done() or waiting.get_loop() is not loop:
            waiting = self._waiting = asyncio.ensure_future(self._end(wait_s))
            waiting.add_done_callback(_take_error)
        # One who is cancelled must not end it for the others.
        return await asyncio.shield(waiting)

    async def aclose(self) -> None:
        """Wait no more."""
        waiting = self._waiting
        self._waiting = None
        if waiting is not None and waiting.get_loop() is asyncio.get_running_loop():
            waiting.cancel()
            await asyncio.wait([waiting])

    async def _end(self, wait_s: float) -> bool:
        why = await self._look()
        if why is None:
            self._is_given_up = False
            return False
        if self._is_given_up:
            wait_s = 0.0
        self._wait_s = wait_s
        self._since = time.monotonic()
        try:
            await asyncio.wait_for(self._seen(), wait_s)
        except asyncio.TimeoutError:
            self._is_given_up = True
            waited = f" It was waited for {wait_s:g} s." if wait_s else ""
            raise ServerAwayError(
                f"{why}.{waited} See that it runs and works, or have it waited for "
                "(--wait-for-server, or wait_for_server_s)."
            ) from None
        finally:
            self._since = None
        self._is_given_up = False
        return True

    async def _seen(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            await asyncio.sleep(pause_s)
            if await self._look() is None:
                return
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _take_error(waiting: asyncio.Task[bool]) -> None:
    """Look at what a task raised: all who waited for it may be gone."""
    if not waiting.cancelled():
        waiting.exception()
