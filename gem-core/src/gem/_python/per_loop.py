"""Keep one value for each event loop, such as a client whose connections are of one loop.

Knows nothing about what is kept.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

__all__ = ["PerLoop"]

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One value for each event loop: opened when it is first asked for there, closed with the loop.

    `open_value` takes no arguments, opens a value without waiting, yields it once, and closes it in
    a `finally` around that. The value is closed on its own loop: when `aclose` is called, when the
    loop ends (`asyncio.run` ends every generator that is left), or when the last reference to this
    object is gone. So neither `open_value` nor the value may hold this object or its owner: that
    reference would never be gone.

    A forked process opens values of its own, and leaves those of its parent alone.
    `closing_timeout_s` is in seconds: how long `aclose` waits for a loop that is held up.

    >>> async def connection():
    ...     print("open")
    ...     try:
    ...         yield "a connection"
    ...     finally:
    ...         print("closed")
    >>> connections = PerLoop(connection)
    >>> async def use():
    ...     print(await connections.get())
    ...     print(await connections.get())
    >>> asyncio.run(use())
    open
    a connection
    a connection
    closed
    """

    def __init__(
        self, open_value: Callable[[], AsyncGenerator[T, None]], *, closing_timeout_s: float = 5.0
    ) -> None:
        self._open_value = open_value
        self._closing_timeout_s = closing_timeout_s
        # A value, and the generator that closes it.
        self._kept: dict[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[T, None]]] = {}
        self._pid = os.getpid()
        # The finalizer holds the dictionary, so that no value is collected open. As Python exits it
        # has nothing to do: no loop runs any more.
        weakref.finalize(self, _close_soon, self._kept).atexit = False

    async def get(self) -> T:
        """Return the value of the running loop. Raises what `open_value` raises."""
        self._leave_those_of_the_parent()
        loop = asyncio.get_running_loop()
        if loop not in self._kept:
            self._forget_closed_loops()
            generator = self._open_value()
            # As `open_value` does not wait, no other call opens a value in the meantime.
            value = await anext(generator)
            self._kept[loop] = value, generator
        value, _ = self._kept[loop]
        return value

    async def aclose(self) -> None:
        """Close the values of every loop, and wait for that. A later `get` opens new ones.

        Another loop may be held up by a call that does not return, or end before its turn to close
        comes. So each is waited for at most `closing_timeout_s` seconds; one that is held up closes
        its value as soon as it goes on, and one that ends has closed it.
        """
        self._leave_those_of_the_parent()
        kept = dict(self._kept)
        # Before anything is awaited: who asks in the meantime opens a value that stays open.
        self._kept.clear()
        for loop, (_, generator) in kept.items():
            if loop is asyncio.get_running_loop():
                await generator.aclose()
            elif loop.is_running():
                with suppress(RuntimeError):  # the loop ended in this very moment
                    closing = asyncio.run_coroutine_threadsafe(generator.aclose(), loop)
                    # Waiting ends at the limit, and cancels nothing.
                    waited_for = asyncio.wrap_future(closing)
                    await asyncio.wait({waited_for}, timeout=self._closing_timeout_s)
                    if waited_for.done():
                        waited_for.result()

    def _forget_closed_loops(self) -> None:
        """Drop the values of loops that have ended, and have closed them."""
        for loop in list(self._kept):  # a copy: loops of other threads come and go
            if loop.is_closed():
                self._kept.pop(loop, None)

    def _leave_those_of_the_parent(self) -> None:
        """Forget the values of the process that this one was forked from, which has their loops."""
        if self._pid != os.getpid():
            self._kept.clear()
            self._pid = os.getpid()


def _close_soon(
    kept: dict[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[Any, None]]],
) -> None:
    """Close values, each on its own loop, without waiting. Called on whatever thread collects."""
    for loop, (_, generator) in kept.items():
        if not loop.is_closed():
            asyncio.run_coroutine_threadsafe(generator.aclose(), loop)
