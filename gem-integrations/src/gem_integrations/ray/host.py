"""A host whose workers are Ray actors, on any node of a cluster.

Imports Ray only when it runs: `cluster.connect` says how, and must come first.
"""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

from gem.env import process_tree
from gem.errors import in_one_line
from gem.hosting import DROP, Wakeup
from gem.hosting.messages import DONE, Command, loads, pack_plain
from gem.hosting.recovering import RecoveringHost
from gem.hosting.slots import Slot
from gem_integrations.ray.actor import Actor

__all__ = ["RayHost"]

_MOST_FRUITLESS = 3

_Reply = tuple["_Worker", Any, "Future[bytes]"]
"""An answered call: by whom, by which of its actors, and the answer."""


class _Worker:
    """What was asked of a worker, and the actor that it is now. A new one takes a lost one's place.

    Answers name their slots, so their order does not matter.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.flight: dict[int, Command] = {}  # by slot, not answered yet
        self.outbox: list[Command] = []  # of those, not sent yet, as the actor is told them
        self.stops: set[int] = set()  # slots whose command is to be stopped, not said yet
        self.actor: Any = None
        self.calls = 0  # of the actor that are not answered yet
        self.fruitless = 0  # actors lost in a row without an answer
        self.restarts = self.interrupts = 0  # of processes in the actor, as it last said


class RayHost(RecoveringHost):
    """Ray actors that each hold many environments, in a `ProcessHost` of `processes` processes.

    Ray must be initialised. The `options` are a `ProcessHost`'s; Ray sets `cpus_per_worker`
    processors aside for each actor, none unless given, and spreads them over the nodes. An
    environment that hangs or dies costs its own episode, as on one machine. Where Ray loses an
    actor, with a node or otherwise, another one is made, and what it held goes on in there.
    Commands end as "worker_lost" once three actors in a row are lost that answered none.
    """

    def __init__(
        self,
        num_workers: int,
        *,
        cpus_per_worker: float | None = None,
        processes: int = 1,
        timeout_s: float | None = None,
        close_timeout_s: float = 5.0,
        **options: Any,
    ) -> None:
        import ray  # heavy: 0.2 s

        super().__init__(num_workers, timeout_s=timeout_s)
        self._close_timeout_s = close_timeout_s
        options = {"timeout_s": timeout_s, "close_timeout_s": close_timeout_s, **options}
        kind = ray.remote(Actor).options(  # two calls: one waits for answers until the next comes
            num_cpus=cpus_per_worker,
            max_concurrency=2,
            scheduling_strategy="SPREAD",
            enable_task_events=False,  # the cluster would keep a record of every call
        )
        self._new_actor = partial(
            kind.remote, sys.path, str(process_tree.root()), processes, options
        )
        self._workers = [_Worker(number) for number in range(num_workers)]
        self._replies: deque[_Reply] = deque()
        self._wakeup = Wakeup()
        self._leave = weakref.finalize(self, _let_go, os.getpid(), self._workers, self._wakeup)

    def _start(self) -> None:
        for worker in self._workers:
            worker.actor = self._new_actor()

    def fileno(self) -> int:
        return self._wakeup.fileno()

    @property
    def actors(self) -> tuple[Any, ...]:
        """The handle of each worker's actor; None where a lost one was not needed again."""
        return tuple(worker.actor for worker in self._workers)

    def pump(self, timeout_s: float) -> None:
        if not self._replies and timeout_s > 0:
            self.wait(timeout_s)
        self._wakeup.clear()
        while self._replies:
            worker, actor, reply = self._replies.popleft()
            if actor is worker.actor:
                worker.calls -= 1
                self._read(worker, reply)
        self._dispatch()

    def stop(self, slot: int) -> None:
        super().stop(slot)
        self._workers[self._slots[slot].worker].stops.update(self._unwanted & {slot})

    def close(self) -> None:
        """Close every environment and end every actor. A second call does nothing."""
        if self.is_closed:
            return
        try:
            texts = self._close_envs()
        finally:
            self.is_closed = True
            self._leave()
        for text in texts:
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def _enqueue(self, slot: Slot, command: Command) -> None:
        worker = self._workers[slot.worker]
        worker.flight[slot.number] = command
        worker.outbox.append(slot.wire(command))

    def _dispatch(self) -> None:
        """Send what was taken on. Each actor that owes an answer has a call to give it to."""
        for worker in self._workers:
            if worker.outbox or worker.stops or (worker.flight and not worker.calls):
                self._send(worker, self._packed(worker))

    def _packed(self, worker: _Worker) -> bytes:
        wires = worker.outbox
        worker.outbox = []
        stops = tuple(worker.stops)
        worker.stops = set()
        frame = pack_plain((wires, stops))
        if frame is None:
            plain = [wire for wire in wires if self._is_plain(worker, wire)]
            frame = pack_plain((plain, stops)) or b""
        return frame

    def _is_plain(self, worker: _Worker, wire: Command) -> bool:
        """Let a command fail that holds something else than plain data."""
        if pack_plain(wire) is not None:
            return True
        text = "TypeError: a command for another process holds more than plain data"
        self._fail(worker.flight.pop(wire[1]), "env_error", text)
        return False

    def _send(self, worker: _Worker, frame: bytes) -> None:
        if worker.actor is None:
            worker.actor = self._new_actor()
        worker.calls += 1
        reply = worker.actor.exchange.remote(frame).future()
        arrived = partial(_arrived, self._replies, self._wakeup, worker, worker.actor)
        reply.add_done_callback(arrived)

    def _read(self, worker: _Worker, reply: Future[bytes]) -> None:
        try:
            restarts, interrupts, answers = loads(reply.result())
        except Exception as error:  # noqa: BLE001 - whatever Ray says of an actor that is lost
            self._replace(worker, error)
            return
        self.restarts += restarts - worker.restarts
        self.interrupts += interrupts - worker.interrupts
        worker.restarts = restarts
        worker.interrupts = interrupts
        for number, answer, cost_s in answers:
            worker.fruitless = 0
            self._settle(worker.flight.pop(number), answer, cost_s)

    def _replace(self, worker: _Worker, error: Exception) -> None:
        """Have another actor made in the place of one that is lost, and give it what is left."""
        flight = worker.flight
        worker.flight = {}
        worker.outbox.clear()
        worker.stops = self._unwanted & flight.keys()
        worker.fruitless += 1
        _end(worker)
        self._miss(worker.number)
        for command in flight.values():
            if worker.fruitless < _MOST_FRUITLESS:
                self._enqueue(self._slots[command[1]], command)
            elif command[0] == DROP:
                self._settle(command, (DONE, None), 0.0)
            else:
                text = f"its actor was lost: {in_one_line(error)}"
                self._fail(command, "worker_lost", text)

    def _close_envs(self) -> list[str]:
        """Ask every actor to close its environments, and return what went wrong with that."""
        import ray

        calls = [worker.actor.close.remote() for worker in self._workers if worker.actor]
        texts: list[str] = []
        done, _ = (
            ray.wait(calls, num_returns=len(calls), timeout=2 * self._close_timeout_s)
            if calls
            else ([], [])
        )
        for call in done:
            with suppress(Exception):  # it is lost: nothing is left there to be closed
                texts += ray.get(call)
        return texts


def _arrived(
    replies: deque[_Reply],
    wakeup: Wakeup,
    worker: _Worker,
    actor: Any,
    reply: Future[bytes],
) -> None:
    """Take a reply in, on a thread of Ray's, and wake the host."""
    replies.append((worker, actor, reply))
    wakeup.set()


def _end(worker: _Worker) -> None:
    """End an actor, if it has not ended."""
    import ray

    actor = worker.actor
    worker.actor = None
    worker.calls = worker.restarts = worker.interrupts = 0
    if actor is not None:
        ray.kill(actor)


def _let_go(owner: int, workers: Sequence[_Worker], wakeup: Wakeup) -> None:
    """End every actor and free every descriptor, but not in a fork of the pool's process."""
    if os.getpid() == owner:
        import ray

        if ray.is_initialized():
            for worker in workers:
                _end(worker)
        wakeup.close()
