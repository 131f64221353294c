"""A vector whose environments wait and compute on daemon threads.

Every environment is a shard of its own and any free thread takes the next command, so that none
waits for another's. A call that outlasts its deadline is left behind: with its thread, which a
new one replaces, and with its shard, whose successor makes the environment anew.
"""

from __future__ import annotations

import queue
import threading
import warnings
import weakref
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from time import monotonic
from typing import NamedTuple

from gem.env import Env
from gem.hosting import Failure
from gem.quantities import check_count, check_timeout
from gem.specs import EnvSpec
from gem.vector.base import AutoReset
from gem.vector.shard import Command, Maker, Shard, ShardAnswer
from gem.vector.sharded import ShardedVectorEnv

__all__ = ["ThreadVectorEnv"]

_FIRST_THREADS = 32
"""So many threads take on steps that only compute a little; more of them would only take turns."""

_PATIENCE_S = 0.002
"""Where no thread took a command on for so long, all are taken to wait, and more are started."""

_CLOSING_S = 5.0
_FAULTS = (BaseException,)  # on a thread of ours nothing is meant for us, not even an interrupt


class ThreadVectorEnv(ShardedVectorEnv):
    """Step environments on threads that start as they are needed, at most one for each.

    Steps that wait (for a server, a subprocess, the disk) wait together, all of them, or
    `num_workers` at a time where that is given. Python computes on one thread at a time.
    Two calls of an environment may come from two threads, never at once.

    A step, or the reset after it, that takes longer than `step_timeout_s` ends its episode
    truncated, with `stop_reason="step_timeout"`; the environment is made anew for the next. Python
    cannot stop the thread: the late call runs on, holds up nothing, and its result is dropped.
    `close` waits `step_timeout_s` (5 s without one) for what is in flight, drops what has not
    begun, and warns of calls that still run. Raises BadArguments, and what a maker raises the
    first time.
    """

    def __init__(
        self,
        makers: Sequence[Maker],
        *,
        autoreset: AutoReset = "same_step",
        seed: int | None = None,
        num_workers: int | None = None,
        step_timeout_s: float | None = None,
    ) -> None:
        check_count("num_workers", num_workers, is_optional=True)
        check_timeout("step_timeout_s", step_timeout_s)
        self._num_workers, self._step_timeout_s = num_workers, step_timeout_s
        super().__init__(makers, self._employ, autoreset=autoreset, seed=seed)

    def _employ(self, makers: Sequence[Maker]) -> _Threads:
        number = min(self._num_workers or len(makers), len(makers))
        self._threads = _Threads(makers, number, self._step_timeout_s)
        return self._threads

    @property
    def envs(self) -> tuple[Env | None, ...]:
        """The environments, in order. None stands for one that was left behind."""
        return self._threads.envs


class _Call(NamedTuple):
    """A command for one environment that is being carried out, and since when."""

    env_index: int
    command: Command
    since: float


class _Desk:
    """What the threads share. Each command is for one environment."""

    def __init__(self, shards: list[Shard]) -> None:
        self.shards = shards
        self.todo: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self.begun_at = monotonic()  # when a thread last took a command on
        self.running: dict[threading.Thread, _Call] = {}
        self.done: queue.SimpleQueue[ShardAnswer] = queue.SimpleQueue()

    def carry_out(self, command: Command) -> bool:
        """Do what a command says. Returns False where it was given up meanwhile.

        Whoever takes the call out of `running`, the thread or who gives it up, answers for it.
        """
        thread, index = threading.current_thread(), command[1][0]
        shard = self.shards[index]
        now = self.begun_at = monotonic()
        self.running[thread] = _Call(index, command, now)
        answer = shard.carry_out(command)
        if self.running.pop(thread, None) is not None:
            self.done.put(answer)
            return True
        with suppress(BaseException):  # nobody is left who could be told
            shard.close()
        return False


def _work(desk: _Desk) -> None:
    while (command := desk.todo.get()) is not None:
        if not desk.carry_out(command):
            return
        del command  # an idle thread must not keep the last command's data alive
    desk.todo.put(None)  # for the next thread


class _Threads:
    """The threads, and who waits for which of their answers."""

    def __init__(self, makers: Sequence[Maker], number: int, timeout_s: float | None) -> None:
        self._timeout_s = timeout_s
        self._in_flight: set[int] = set()
        self._answers: list[ShardAnswer] = []
        self._late: list[tuple[int, threading.Thread]] = []
        shards = [Shard({index: make}, faults=_FAULTS) for index, make in enumerate(makers)]
        self._desk = _Desk(shards)
        self._threads: set[threading.Thread] = set()
        self.specs: list[EnvSpec | None] = []
        with ExitStack() as stack:
            for shard in shards:
                self.specs += shard.make()
                stack.callback(shard.close)
            stack.pop_all()
        self._most_threads = number
        weakref.finalize(self, self._desk.todo.put, None).atexit = False

    def _start_thread(self) -> None:
        thread = threading.Thread(target=_work, args=(self._desk,), name="gem-vector", daemon=True)
        thread.start()
        self._threads.add(thread)

    @property
    def envs(self) -> tuple[Env | None, ...]:
        return tuple(shard.envs.get(index) for index, shard in enumerate(self._desk.shards))

    @property
    def in_flight(self) -> Collection[int]:
        return self._in_flight

    def submit(self, command: Command) -> None:
        word, indices, *columns = command
        self._in_flight.update(indices)
        for position, index in enumerate(indices):
            one = [column and column[position : position + 1] for column in columns]
            self._desk.todo.put((word, (index,), *one))
        needed = min(len(self._in_flight), _FIRST_THREADS, self._most_threads)
        while len(self._threads) < needed:
            self._start_thread()

    @property
    def _may_need_more(self) -> bool:
        """Whether a command waits for a thread that could still be started."""
        return len(self._threads) < self._most_threads and not self._desk.todo.empty()

    def _start_more(self) -> None:
        """Give every command that waits a thread, if those there are all wait, too."""
        if self._may_need_more and monotonic() - self._desk.begun_at >= _PATIENCE_S:
            missing = self._most_threads - len(self._threads)
            for _ in range(min(missing, self._desk.todo.qsize())):
                self._start_thread()

    def gather(self, number: int, timeout_s: float | None) -> list[ShardAnswer]:
        limit = None if timeout_s is None else monotonic() + timeout_s
        self._give_up_late()
        while len(self._answers) < number or not self._desk.done.empty():
            try:
                self._answers.append(self._next_answer(limit))
            except queue.Empty:
                self._give_up_late()
                self._start_more()
                if limit is not None and monotonic() >= limit:
                    break
        answers, self._answers = self._answers, []
        self._in_flight.difference_update(answer.indices[0] for answer in answers)
        return answers

    def _next_answer(self, limit: float | None) -> ShardAnswer:
        """Wait for an answer, until `limit` or until a call may be late. Raises queue.Empty."""
        done = self._desk.done
        if not done.empty():
            return done.get()
        now = monotonic()
        ends = [] if limit is None else [limit]
        if self._timeout_s is not None:  # what begins only later is late only later
            began = [call.since for call in self._desk.running.copy().values()]
            ends.append(min(began, default=now) + self._timeout_s)
        if self._may_need_more:
            ends.append(now + _PATIENCE_S)
        return done.get(timeout=max(0.0, min(ends) - now) if ends else None)

    def _give_up_late(self) -> None:
        if self._timeout_s is None:
            return
        for thread, call in self._late_calls(since=monotonic() - self._timeout_s):
            shard = self._leave_behind(thread, call.env_index)
            self._start_thread()
            self._answer_for(shard, call, self._timeout_s)

    def _late_calls(self, since: float) -> list[tuple[threading.Thread, _Call]]:
        """Take the calls that began so long ago away from their threads."""
        running = self._desk.running
        late = [each for each in running.copy().items() if each[1].since <= since]
        return [each for each in late if running.pop(each[0], None) is not None]

    def _leave_behind(self, thread: threading.Thread, index: int) -> Shard:
        """Give up a thread and the shard that it is in. Returns that shard."""
        self._late.append((index, thread))
        self._threads.discard(thread)
        shard = self._desk.shards[index]
        self._desk.shards[index] = shard.left_behind()
        return shard

    def _answer_for(self, shard: Shard, call: _Call, timeout_s: float) -> None:
        """Let a late call be told of as a failure, and a next episode follow where one is due."""
        text = f"TimeoutError: the environment did not answer within {timeout_s} s"
        info = Failure("step_timeout", text).info
        answer = shard.unfinished(call.command, info)
        if answer is not None:
            self._desk.done.put(answer)
        else:
            self._desk.todo.put(("fail", (call.env_index,), [info], call.command[-1]))

    def close(self) -> None:
        with ExitStack() as stack:
            stack.callback(self._end)
            self._finish()
            for shard in self._desk.shards:
                stack.callback(shard.close)

    def _finish(self) -> None:
        """Drop what has not begun, wait for the rest, and leave behind what does not come."""
        with suppress(queue.Empty):
            while command := self._desk.todo.get_nowait():
                self._in_flight.difference_update(command[1])
        patience_s, self._timeout_s = self._timeout_s or _CLOSING_S, None
        self.gather(len(self._in_flight), patience_s)
        for thread, call in self._late_calls(since=monotonic()):
            self._leave_behind(thread, call.env_index)

    def _end(self) -> None:
        self._desk.todo.put(None)
        for thread in self._threads:
            thread.join()
        stuck = sorted(index for index, thread in self._late if thread.is_alive())
        if stuck:
            warnings.warn(
                f"A vector was closed while calls of its environments {stuck} went on, long after "
                "they should have come back. Python cannot stop their threads: each ends with its "
                "call, or with the process.",
                RuntimeWarning,
                stacklevel=6,
            )
