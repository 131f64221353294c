"""What an actor does: hold environments for a pool elsewhere, in processes of its own node.

Knows nothing about Ray: it is a class whose methods are called from several threads.
"""

from __future__ import annotations

import math
import select
import sys
import threading
import warnings
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import Any

from gem.env import process_tree
from gem.hosting import DROP, MAKE, RESET, STEP, Failure, Wakeup
from gem.hosting.messages import (
    DONE,
    FAILED,
    REVIVE,
    SAVE,
    Answer,
    Command,
    loads,
    pack_plain,
)
from gem.hosting.port import Outcome
from gem.hosting.processes import ProcessHost
from gem.hosting.recipes import RecipeData
from gem.hosting.slots import Slot

__all__ = ["Actor"]

_LINGER_S = 0.005  # a call costs both sides 0.7 ms together: answers had better share one


class Actor:
    """The environments of one worker of a pool elsewhere, in a pool of processes beside it.

    What an environment does befalls a process, and costs there what it costs anywhere. `path` is
    where that pool's own process finds modules; what is new of it comes last here. `root` is the
    root of that process's tree (`gem.process_tree`): where it runs on this machine, this joins it.
    """

    def __init__(
        self, path: Sequence[str], root: str, num_processes: int, options: dict[str, Any]
    ) -> None:
        process_tree.join(root)
        sys.path.extend(each for each in path if each not in sys.path)
        self._pool = _InnerHost(num_processes, **options)
        self._turn = threading.Lock()  # the pool is not thread-safe
        self._counting = threading.Lock()
        self._calls = 0
        self._new_call = Wakeup()
        self._poll = select.poll()
        self._poll.register(self._new_call.fileno(), select.POLLIN)
        self._poll.register(self._pool, select.POLLIN)

    def exchange(self, frame: bytes) -> bytes:
        """Take commands on, and return the answers there are once there is any.

        A call waits until the next one comes, which then waits in its place.
        """
        call = self._announce()
        with self._turn:
            self._pool.take(*loads(frame))
            self._await_answers(call)
            return self._pool.answers_since()

    def close(self) -> list[str]:
        """Close every environment and end the processes. Return what went wrong with that."""
        self._announce()
        with self._turn, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self._pool.close()
            self._new_call.close()
        return [str(each.message) for each in caught]

    def _announce(self) -> int:
        """Number this call, and tell the one that waits."""
        with self._counting:
            self._calls += 1
            call = self._calls
        self._new_call.set()
        return call

    def _await_answers(self, call: int) -> None:
        until = math.inf
        while self._pool.is_busy and call == self._calls and (left := until - monotonic()) > 0:
            timeout_s = min(left, self._pool.next_check_s())
            self._poll.poll(math.ceil(1000 * timeout_s))
            self._new_call.clear()
            self._pool.collect(0)
            if self._pool.answers:
                until = min(until, monotonic() + _LINGER_S)


class _InnerHost(ProcessHost):
    """A pool that does another pool's commands, under its numbers of slots, and answers as raw.

    Both remember the same of every episode: this one for when a process is lost, the other for
    when this one is.
    """

    answers: dict[int, tuple[Answer, float]]

    def __init__(self, num_workers: int, **options: Any) -> None:
        self.answers = {}
        super().__init__(num_workers, **options)

    @property
    def is_busy(self) -> bool:
        """Whether any command is not answered yet."""
        return self._busy > 0

    def take(self, wires: Iterable[Command], stops: Iterable[int]) -> None:
        """Take commands on as the other pool sends them to its workers, and stop some."""
        self.submit([self._understood(wire) for wire in wires if not self._is_idle_drop(wire)])
        for number in stops:
            if number in self._slots:
                self.stop(number)

    def answers_since(self) -> bytes:
        """Return the figures of this pool, and the answers since the last time."""
        answers = [(number, *each) for number, each in self.answers.items()]
        self.answers.clear()
        return pack_plain((self.restarts, self.interrupts, answers)) or b""

    def _is_idle_drop(self, wire: Command) -> bool:
        """Answer a drop of what was never made here."""
        if wire[0] != DROP or wire[1] in self._slots:
            return False
        self.answers[wire[1]] = (DONE, None), 0.0
        return True

    def _understood(self, wire: Command) -> Command:
        """Return a command as this pool takes it, its slot being as the other pool knows it."""
        kind, number, *rest = wire
        if kind == REVIVE:
            recipe, start, saved, actions, last, command = rest
            self._renewed(number, recipe).adopt(start, saved, actions, last)
            return self._understood(command)
        if kind == MAKE or (kind == RESET and len(rest) > 3):
            self._renewed(number, rest.pop())
        return (STEP if kind == SAVE else kind, number, *rest)

    def _renewed(self, number: int, recipe: Any) -> Slot:
        """Return a slot whose environment will be made anew."""
        if number in self._slots:
            self.give_up(number)
        else:
            self._opened = number
            self.open(RecipeData(*recipe))
        return self._slots[number]

    def _settle(self, command: Command, answer: Answer, cost_s: float) -> None:
        self.answers[command[1]] = answer, cost_s
        super()._settle(command, answer, cost_s)

    def _finish(self, slot: Slot, outcome: Outcome) -> None:
        if type(outcome) is Failure:
            self.answers[slot.number] = (FAILED, outcome.reason, outcome.text), 0.0
        super()._finish(slot, outcome)
