"""Await the commands of a pool of workers on an event loop. Knows nothing about processes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gem.bridge import in_thread
from gem.hosting.messages import DROP, Command
from gem.hosting.recovering import Outcome, RecoveringHost

__all__ = ["AsyncWorkers"]

_Queued = tuple[Command, "asyncio.Future[Outcome]"]


class AsyncWorkers:
    """A pool's commands as coroutines. Made on the event loop that uses it, and owns the pool.

    Commands that are given in one turn of the loop travel together. Whoever is cancelled while
    it awaits one leaves it behind: it is done, its outcome is dropped, and its slot is busy until
    then.
    """

    def __init__(self, pool: RecoveringHost) -> None:
        self.pool = pool
        self._loop = asyncio.get_running_loop()
        self._descriptor = pool.fileno()
        self._loop.add_reader(self._descriptor, self._pump)
        self._timer: asyncio.TimerHandle | None = None
        self._queue: list[_Queued] = []
        self._awaited: dict[int, asyncio.Future[Outcome]] = {}
        self._unwanted: set[int] = set()

    async def do(self, command: Command) -> Outcome:
        """Have a command done. Raises where it is out of turn, as `RecoveringHost.submit` does."""
        return await self._queued(command)

    def drop(self, slot: int) -> None:
        """Close a slot's environment, and stop what it is doing. Nobody waits for it."""
        if slot in self._awaited:
            self._unwanted.add(slot)
            self.pool.stop(slot)
            self._cancel_timer()  # it is for a time when nothing was to be stopped
            self._pump()
        else:
            self._queued((DROP, slot))

    async def aclose(self) -> None:
        """Close the pool, without holding up the loop. What is awaited is cancelled."""
        self._let_go(None)
        await in_thread(self.pool.close)

    def _queued(self, command: Command) -> asyncio.Future[Outcome]:
        future: asyncio.Future[Outcome] = self._loop.create_future()
        if not self._queue:
            self._loop.call_soon(self._submit)
        self._queue.append((command, future))
        return future

    def _submit(self) -> None:
        queue = [each for each in self._queue if not each[1].done()]
        self._queue.clear()
        if not queue:  # all was cancelled: a thread may be closing the pool
            return
        try:
            self._send(queue)
        except Exception:  # noqa: BLE001 - one of them is out of turn, and it alone is told so
            for each in queue:
                try:
                    self._send([each])
                except Exception as error:  # noqa: BLE001 - as above
                    each[1].set_exception(error)
        self._pump()

    def _send(self, queue: Sequence[_Queued]) -> None:
        self.pool.submit([command for command, _ in queue])
        self._awaited.update((command[1], future) for command, future in queue)

    def _pump(self) -> None:
        try:
            ready = self.pool.collect(0)
        except Exception as error:  # noqa: BLE001 - the pool cannot go on: all who wait are told
            self._let_go(error)
            return
        for slot, outcome in ready:
            future = self._awaited.pop(slot)
            if not future.done():
                future.set_result(outcome)
            if slot in self._unwanted:
                self._unwanted.discard(slot)
                self._queued((DROP, slot))
        if self._awaited and self._timer is None:
            self._timer = self._loop.call_later(self.pool.next_check_s(), self._check)

    def _check(self) -> None:
        self._timer = None
        self._pump()

    def _let_go(self, error: Exception | None) -> None:
        self._loop.remove_reader(self._descriptor)
        self._cancel_timer()
        for future in (*self._awaited.values(), *(future for _, future in self._queue)):
            if error is None:
                future.cancel()
            elif not future.done():
                future.set_exception(error)
        self._awaited.clear()
        self._queue.clear()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
