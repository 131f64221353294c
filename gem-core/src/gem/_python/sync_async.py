"""Cross between synchronous and asynchronous code. Knows nothing about environments.

`wait_for` runs an awaitable on this process's one background loop, from synchronous code, and
`on_background` from another loop.
`in_thread` runs a blocking call on a daemon thread of its own, from a coroutine; a call that
never returns costs its thread and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import queue
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from gem.errors import EnvUsageError

__all__ = ["in_thread", "is_awaitable", "on_background", "wait_for"]

T = TypeVar("T")

_IDLE_S = 5.0  # after which a thread without a call ends


def is_awaitable(value: object) -> bool:
    """Say whether `await value` would work."""
    return hasattr(type(value), "__await__")


def wait_for(awaitable: Awaitable[T]) -> T:
    """Run an awaitable on the background loop and return its result.

    Raises EnvUsageError on the background loop itself, where waiting would never end.
    """
    loop = _background.loop()
    if _background.is_current():
        # Closed, or Python would warn that it was never awaited beside the error.
        if asyncio.iscoroutine(awaitable):
            awaitable.close()
        raise EnvUsageError(
            "A synchronous form was called on the background event loop, where it would wait "
            "for itself for ever. Await the asynchronous form (astep, areset, aclose) there."
        )
    future = asyncio.run_coroutine_threadsafe(_await(awaitable), loop)
    try:
        return future.result()
    except BaseException:  # Control-C, above all: nobody waits for the result any longer
        future.cancel()
        raise


async def on_background(call: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine on the background loop, from any loop. Cancelling the await cancels it."""
    loop = _background.loop()
    if _background.is_current():
        return await call
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call, loop))


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


class _Background:
    """One event loop on one daemon thread, made on first use and anew after a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="gem-background", daemon=True
                )
                self._thread.start()
            return self._loop

    def is_current(self) -> bool:
        return threading.current_thread() is self._thread


class _BlockingThread(threading.Thread):
    """A daemon thread that takes one call at a time and offers itself again after each."""

    def __init__(self, threads: _IdleThreads) -> None:
        super().__init__(name="gem-blocking", daemon=True)
        self._threads = threads
        self.calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def run(self) -> None:
        while True:
            try:
                call = self.calls.get(timeout=_IDLE_S)
            except queue.Empty:
                if self._threads.retire(self):
                    return
                continue
            call()
            del call  # an idle thread must not keep the last call's data alive
            self._threads.offer(self)


class _IdleThreads:
    """The threads that wait for a call. One that hangs is simply never offered again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_BlockingThread] = []

    def submit(self, call: Callable[[], None]) -> None:
        with self._lock:
            # The one that was idle last: the others reach the end of their time, and go.
            thread = self._idle.pop() if self._idle else None
        if thread is None:
            thread = _BlockingThread(self)
            thread.start()
        thread.calls.put(call)

    def offer(self, thread: _BlockingThread) -> None:
        with self._lock:
            self._idle.append(thread)

    def retire(self, thread: _BlockingThread) -> bool:
        """Take a thread out whose time is over; False where it has to stay."""
        with self._lock:
            if thread in self._idle:
                self._idle.remove(thread)
                return True
            return False  # it was chosen in this very moment: its call is on the way


async def in_thread(function: Callable[..., T], *args: Any) -> T:
    """Call `function(*args)` on a daemon thread and await its result.

    Cancelling the await (a deadline, say) abandons the call: it runs on, its result is
    dropped, and no later call waits for it.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def call() -> None:
        settle: Callable[[], None]
        try:
            settle = functools.partial(future.set_result, function(*args))
        except BaseException as error:  # noqa: BLE001  it belongs to the waiting coroutine
            settle = functools.partial(future.set_exception, _carried(error))
        # A future belongs to its loop, and is settled there; it is done where the await was
        # cancelled meanwhile.
        _post(loop, lambda: None if future.done() else settle())

    _threads.submit(call)
    return await future


def _carried(error: BaseException) -> BaseException:
    if isinstance(error, StopIteration):  # a future refuses to carry it
        carried = RuntimeError("StopIteration left a blocking call")
        carried.__cause__ = error
        return carried
    return error


def _post(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop closed while an abandoned call ran on
        loop.call_soon_threadsafe(callback)


def _start_afresh() -> None:
    """Forget threads and loop: after a fork, only their shells are here."""
    global _background, _threads
    _background = _Background()
    _threads = _IdleThreads()


_background: _Background
_threads: _IdleThreads
_start_afresh()
# The one effect that importing this has: a fork copies locks and no threads, so that a lock which
# another thread held stays held for ever in the child.
os.register_at_fork(after_in_child=_start_afresh)
