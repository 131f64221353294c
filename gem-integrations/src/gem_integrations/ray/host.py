"""A host whose workers are Ray actors, on any node of a cluster.

Imports Ray only when it runs: `cluster.connect` says how, and must come first.
"""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

from gem.env import process_tree
from gem.errors import in_one_line
from gem.hosting import Command, RecoveringHost, RelayHost, Slot, Wakeup
from gem_integrations.ray.actor import Actor
from gem_integrations.ray.placing import living_nodes, node_for

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
        self.outbox: list[Command] = []  # of those, not sent yet, as `Slot.wire` gives them
        self.stops: set[int] = set()  # slots whose command is to be stopped, not sent yet
        self.actor: Any = None
        self.node: str | None = None  # where it was put; None: Ray chose
        self.calls = 0  # of the actor that are not answered yet
        self.fruitless = 0  # actors lost in a row without an answer
        # Of processes in the actor, as of its last answer.
        self.restarts = 0
        self.interrupts = 0


class RayHost(RecoveringHost):
    """Ray actors that each hold many environments, in a `ProcessHost` of `processes` processes.

    Ray must be initialised. The `options` are a `ProcessHost`'s. With `cpus_per_worker` Ray sets
    so many processors aside for each actor, and chooses its node; else none are, and the actors
    are spread over the nodes by their processors (`placing.node_for`). An environment that hangs
    or dies costs its own episode, as on one machine. Where Ray loses an actor, with a node or
    otherwise, another one is made, and what it held goes on in there. Commands end as
    "worker_lost" once three actors in a row are lost that answered none.
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
        self._new_actor = ray.remote(Actor).options
        self._actor_options = {
            "num_cpus": cpus_per_worker or 0,
            # A byte: where an actor asks for nothing, Ray lets any node place it, at random. That
            # may be one that has just died, or one that does not know of the chosen node yet.
            "memory": 1,
            "max_concurrency": 2,  # one call waits for answers until the next comes
            "enable_task_events": False,  # the cluster would keep a record of every call
        }
        # Only Ray knows which processors are free that it could set aside.
        self._places_actors = not cpus_per_worker
        self._losses: Counter[str] = Counter()  # of actors, by node
        self._arguments = sys.path, str(process_tree.root()), processes, options
        self._workers = [_Worker(number) for number in range(num_workers)]
        self._replies: deque[_Reply] = deque()
        self._wakeup = Wakeup()
        self._leave = weakref.finalize(self, _let_go, os.getpid(), self._workers, self._wakeup)

    def _start(self) -> None:
        for worker in self._workers:
            self._start_actor(worker)

    def _start_actor(self, worker: _Worker) -> None:
        """Have an actor made. It takes about a second, and calls of it wait meanwhile."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        strategy: Any = "SPREAD"
        if self._places_actors:
            others = Counter(other.node for other in self._workers if other.actor and other.node)
            worker.node = node_for(living_nodes(), actors=others, losses=self._losses)
            # Soft: where that node is gone by now, Ray chooses another.
            strategy = NodeAffinitySchedulingStrategy(worker.node, soft=True)
        kind = self._new_actor(**self._actor_options, scheduling_strategy=strategy)
        worker.actor = kind.remote(*self._arguments)

    def fileno(self) -> int:
        return self._wakeup.fileno()

    @property
    def actors(self) -> tuple[Any, ...]:
        """The handle of each worker's actor; None from its loss until a command needs a new one."""
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
        for worker in self._workers:
            if slot in worker.flight:
                worker.stops.add(slot)

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
        frame, refused = RelayHost.pack(worker.outbox, worker.stops)
        worker.outbox = []
        worker.stops = set()
        for wire in refused:
            self._refuse(worker.flight.pop(wire[1]))
        return frame

    def _send(self, worker: _Worker, frame: bytes) -> None:
        if worker.actor is None:
            self._start_actor(worker)
        worker.calls += 1
        reply = worker.actor.exchange.remote(frame).future()
        arrived = partial(_arrived, self._replies, self._wakeup, worker, worker.actor)
        reply.add_done_callback(arrived)

    def _read(self, worker: _Worker, reply: Future[bytes]) -> None:
        try:
            restarts, interrupts, answers = RelayHost.unpack(reply.result())
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
        if worker.node is not None:
            self._losses[worker.node] += 1
        _end(worker)
        self._miss(worker.number)
        for command in flight.values():
            if worker.fruitless < _MOST_FRUITLESS:
                self._again(command)
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
    """End every actor and free every descriptor, but not in a fork of the host's process."""
    if os.getpid() == owner:
        import ray

        if ray.is_initialized():
            for worker in workers:
                _end(worker)
        wakeup.close()
