"""One event loop on one thread, for every sandbox of this process.

Calls come from any loop and any thread, and a loop that is busy elsewhere must not delay a
deadline. A forked process makes its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["on_engine", "on_engine_now", "on_engine_soon"]

T = TypeVar("T")


class _Engine:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.SelectorEventLoop()
                threading.Thread(
                    target=self._loop.run_forever, name="gem-sandbox", daemon=True
                ).start()
            return self._loop


async def on_engine(work: Coroutine[Any, Any, T]) -> T:
    """Await work that the engine does. Cancelling this cancels the work.

    Work that is many calls of a sandbox is quicker on the engine as a whole: each call that is
    made elsewhere wakes two threads.
    """
    if asyncio.get_running_loop() is _engine.loop():
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _engine.loop()))


def on_engine_now(work: Coroutine[Any, Any, T]) -> T:
    """Wait for work that the engine does, from synchronous code."""
    return asyncio.run_coroutine_threadsafe(work, _engine.loop()).result()


def on_engine_soon(work: Coroutine[Any, Any, object]) -> None:
    """Have the engine do work that nobody waits for. From any thread."""
    asyncio.run_coroutine_threadsafe(work, _engine.loop())


def _start_afresh() -> None:
    global _engine
    _engine = _Engine()


_engine: _Engine
_start_afresh()
os.register_at_fork(after_in_child=_start_afresh)
