"""Await the commands of a host on an event loop. Knows nothing about where environments live."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Sequence

from gem._python.sync_async import in_thread
from gem.hosting._messages import DROP, Command
from gem.hosting._port import SELDOM_S, Host, Outcome

__all__ = ["AwaitedHost"]


_is_done = operator.methodcaller("done")


class AwaitedHost:
    """A host's commands as futures. Made on the event loop that uses it, and owns the host.

    Commands that are given in one turn of the loop travel together. Whoever is cancelled while
    it awaits one leaves it behind: it is done, its outcome is dropped, and its slot is busy until
    then.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self._loop = asyncio.get_running_loop()
        self._descriptor = host.fileno()
        self._loop.add_reader(self._descriptor, self._collect)
        self._timer: asyncio.TimerHandle | None = None
        # What is to be sent, in two columns, as they are most often sent: all at once.
        self._commands: list[Command] = []
        self._futures: list[asyncio.Future[Outcome]] = []
        self._awaited: dict[int, asyncio.Future[Outcome]] = {}
        self._to_drop: set[int] = set()  # slots, once their command has an outcome
        self._is_closed = False

    def do(self, command: Command) -> asyncio.Future[Outcome]:
        """Have a command done. The future raises where it is out of turn."""
        future: asyncio.Future[Outcome] = self._loop.create_future()
        if self._is_closed:
            # The host is closed on a thread, and takes commands of one thread only.
            future.cancel()
            return future
        if not self._commands:
            self._loop.call_soon(self._submit)
        self._commands.append(command)
        self._futures.append(future)
        return future

    def drop(self, slot: int) -> None:
        """Close a slot's environment, and stop what it is doing. Nobody waits for it."""
        if slot in self._awaited:
            self._to_drop.add(slot)
            self.host.stop(slot)
            self._cancel_timer()  # it is for a time when nothing was to be stopped
            self._collect()
            self._set_timer()
        else:
            self.do((DROP, slot))

    async def aclose(self) -> None:
        """Close the host, without holding up the loop. What is awaited is cancelled."""
        self._is_closed = True
        self._let_go(None)
        await in_thread(self.host.close)

    def _submit(self) -> None:
        commands = self._commands
        futures = self._futures
        self._commands = []
        self._futures = []
        if not commands:  # the host is being closed
            return
        try:
            if any(map(_is_done, futures)):  # cancelled before they were sent
                self._submit_one_by_one(commands, futures)
            else:
                self.host.submit(commands)
                for command, future in zip(commands, futures, strict=True):
                    self._awaited[command[1]] = future
        except Exception:  # noqa: BLE001 - one of them is out of turn, and it alone is told so
            self._submit_one_by_one(commands, futures)
        if self._timer is None:
            self._set_timer()

    def _submit_one_by_one(
        self, commands: Sequence[Command], futures: Sequence[asyncio.Future[Outcome]]
    ) -> None:
        for command, future in zip(commands, futures, strict=True):
            if future.done():
                continue
            try:
                self.host.submit([command])
                self._awaited[command[1]] = future
            except Exception as error:  # noqa: BLE001 - it is told
                future.set_exception(error)

    def _collect(self) -> None:
        try:
            ready = self.host.collect(0)
        except Exception as error:  # noqa: BLE001 - the host cannot go on: all who wait are told
            self._let_go(error)
            return
        for slot, outcome in ready:
            future = self._awaited.pop(slot)
            if not future.done():
                future.set_result(outcome)
            if slot in self._to_drop:
                self._to_drop.discard(slot)
                self.do((DROP, slot))

    def _set_timer(self) -> None:
        """Look after deadlines in time. What begins later is due later than what has begun."""
        if self._timer is None and self._awaited:
            wait_s = self.host.next_check_s()
            if wait_s < SELDOM_S:
                self._timer = self._loop.call_later(wait_s, self._check)

    def _check(self) -> None:
        self._timer = None
        self._collect()
        self._set_timer()

    def _let_go(self, error: Exception | None) -> None:
        self._loop.remove_reader(self._descriptor)
        self._cancel_timer()
        for future in (*self._awaited.values(), *self._futures):
            if error is None:
                future.cancel()
            elif not future.done():
                future.set_exception(error)
        self._awaited.clear()
        self._commands.clear()
        self._futures.clear()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
