"""Worker processes that hold environments: send many commands at once, collect what is ready."""

from __future__ import annotations

import math
import operator
import os
import selectors
import signal
import warnings
import weakref
from collections.abc import Iterable, Sequence
from time import monotonic
from types import TracebackType
from typing import Any, get_args

from gem.errors import BadArguments, EnvBusy, EnvClosed, EnvUsageError, GemError, ResetNeeded
from gem.planning import is_count
from gem.registry import EnvLike, WrapperLike
from gem.workers.keeper import ENDED, STARTED
from gem.workers.messages import (
    ASK,
    DROP,
    FAILED,
    FOREIGN,
    RESET,
    STEP,
    Answer,
    Command,
    Failure,
    loads,
    pack_plain,
)
from gem.workers.recipes import recipe_of
from gem.workers.serving import INTERRUPT
from gem.workers.shard import text_of
from gem.workers.slots import Slot
from gem.workers.staff import Report, Staff, StartMethod
from gem.workers.worker import Worker

__all__ = ["Outcome", "WorkerPool"]

Outcome = Any
"""What a command led to: a Failure, or by its kind a dictionary that describes the environment
(MAKE), a tuple of observation, info and what is shown (RESET), a step's five fields as a plain
tuple (STEP), a text or None (ASK), None (DROP)."""

_GRACE_S = 0.25  # between a signal and the kill
_MOST_FRUITLESS = 3
_SELDOM_S = 3600.0

Ready = tuple[int, Outcome]


class WorkerPool:
    """Processes that each hold many environments. An environment is called by its slot's number.

    A command is `(MAKE, slot)`, `(RESET, slot, seed)` or with options and repeat, `(RESET, slot,
    seed, {}, 0)`, `(STEP, slot, action)`, `(ASK, slot, method)` with "sample_action" or "solve",
    or `(DROP, slot)`. A slot has one at a time under way. Many are best submitted together: each
    worker gets its share as one message.

    Whatever befalls an environment costs its own episode: its answer is then a `Failure`, and
    its next command a reset, which makes it anew. That is an error of its own or an answer that
    cannot be carried ("env_error"); a reset or step of more than `timeout_s`, which is stopped
    by a signal, or else by killing the worker ("step_timeout"); and the end of the worker under
    it, also by want of memory ("worker_lost"). The other environments of a worker that ended go
    on in a new one, each from its last snapshot if it has them, and by its seed and actions, just
    before it is needed. One that cannot be brought back so ends as "worker_lost".

    `most_memory_bytes` limits each worker's address space, `most_answer_bytes` one answer. With
    `start_method="fork"` workers know what was registered before the pool was made, live objects
    too; else a stack must be data (OpaqueError says which part is not). `close` asks each worker
    to close its environments, and kills it after `close_timeout_s`. Not thread-safe.
    """

    def __init__(
        self,
        num_workers: int,
        *,
        start_method: StartMethod = "forkserver",
        timeout_s: float | None = None,
        close_timeout_s: float = 5.0,
        most_memory_bytes: int | None = None,
        most_answer_bytes: int = 16 * 1024 * 1024,
    ) -> None:
        _check(num_workers, start_method, timeout_s)
        self._is_inherited = start_method == "fork"
        self._timeout_s, self._close_timeout_s = timeout_s, close_timeout_s
        self._hello = pack_plain((most_answer_bytes, most_memory_bytes)) or b""
        self._slots: dict[int, Slot] = {}
        self._opened = 0
        self._ready: list[Ready] = []
        self._busy = 0  # commands that are not ready yet
        self._selector = selectors.DefaultSelector()
        self._workers = [Worker(number) for number in range(num_workers)]
        self._staff = Staff(start_method)
        self._leave = weakref.finalize(
            self, _let_go, os.getpid(), self._staff, self._workers, self._selector
        )
        self._selector.register(self._staff.fileno(), selectors.EVENT_READ)
        self.restarts = 0
        self.interrupts = 0
        try:
            for worker in self._workers:
                self._start(worker)
        except BaseException:
            self._leave()
            raise

    @property
    def processes(self) -> tuple[int, ...]:
        """The process id of each worker; 0 where it is only just being started."""
        return tuple(worker.process for worker in self._workers)

    def fileno(self) -> int:
        """Return a descriptor that is readable when `pump` has something to do."""
        return self._selector.fileno()

    def open(self, env: EnvLike, *, wrappers: Iterable[WrapperLike] = (), **kwargs: Any) -> int:
        """Return a slot for an environment as `gem.make` would make it. Nothing is made yet.

        Raises OpaqueError on what a worker cannot make, and UnknownEnv.
        """
        self._refuse_if_closed()
        recipe = recipe_of(env, wrappers, kwargs, is_inherited=self._is_inherited)
        worker = min(self._workers, key=lambda each: len(each.slots))
        number = self._opened
        self._opened += 1
        self._slots[number] = Slot(number, worker.number, recipe)
        worker.slots.add(number)
        return number

    def submit(self, commands: Iterable[Command]) -> None:
        """Send commands on their way. Where one is out of turn it raises, and none is sent."""
        self._refuse_if_closed()
        accepted: list[tuple[Slot, Command]] = []
        try:
            for command in commands:
                slot = self._slots.get(command[1])
                if slot is None or slot.is_busy or (slot.start is None and command[0] in _INSIDE):
                    raise _misuse(slot, command)
                if command[0] == RESET:
                    command = _completed(command)  # noqa: PLW2901
                slot.is_busy = True
                accepted.append((slot, command))
        except BaseException:
            for slot, _ in accepted:
                slot.is_busy = False
            raise
        self._busy += len(accepted)
        for slot, command in accepted:
            self._enqueue(slot, command)
        self._dispatch()

    def collect(self, min_ready: int = 1, timeout_s: float | None = None) -> list[Ready]:
        """Return every `(slot, outcome)` that is ready, after waiting for `min_ready` of them.

        Fewer come back after `timeout_s`, or where fewer are under way.
        """
        self._refuse_if_closed()
        until = math.inf if timeout_s is None else monotonic() + timeout_s
        self.pump(0)
        while self._busy and len(self._ready) < min_ready:
            left = until - monotonic()
            if left <= 0:
                break
            self.pump(left)
        ready, self._ready = self._ready, []
        return ready

    def spoil(self, slot: int) -> None:
        """Give the slot's episode up from this side. It is made anew at its next reset."""
        self._slots[slot].lose()

    def pump(self, timeout_s: float) -> None:
        """Wait at most so long for something to happen, and deal with it."""
        for key, mask in self._selector.select(min(timeout_s, self.next_check_s())):
            if key.data is None:
                self._hear_reports()
            elif not key.data.is_absent and key.data.channel is key.fileobj:
                self._attend(key.data, mask)
        if self._timeout_s is not None:
            self._keep_deadlines(self._timeout_s)
        self._dispatch()

    def next_check_s(self) -> float:
        """Return the seconds until `pump` should look after deadlines."""
        if self._timeout_s is None or not self._busy:
            return _SELDOM_S
        now = monotonic()
        dues = [worker.overdue_at(self._timeout_s) or math.inf for worker in self._workers]
        # What begins only now, or is being made, is not overdue before a whole timeout from now.
        return max(0.001, min(*dues, now + self._timeout_s) - now)

    def close(self) -> None:
        """Close every environment and end every process. A second call does nothing."""
        if not self._leave.alive:
            return
        try:
            texts = self._farewells()
        finally:
            self._leave()
        for text in texts:
            warnings.warn(f"Closing an environment failed: {text}", RuntimeWarning, stacklevel=2)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _refuse_if_closed(self) -> None:
        if not self._leave.alive:
            raise EnvClosed("A pool of workers was used after close. Make another one.")

    def _start(self, worker: Worker) -> None:
        worker.start(self._staff, self._hello)
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)

    def _enqueue(self, slot: Slot, command: Command) -> None:
        worker = self._workers[slot.worker]
        if worker.is_absent:
            self._start(worker)
        worker.flight.append(command)
        if not worker.is_leaving:  # else it is told once another process is there
            worker.outbox.append(slot.wire(command))

    def _dispatch(self) -> None:
        for worker in self._workers:
            if worker.outbox:
                frame = pack_plain(worker.outbox)
                if frame is None:
                    self._refuse_foreign(worker)
                    frame = pack_plain(worker.outbox) or b""
                worker.outbox.clear()
                worker.channel.send(frame)
                self._watch(worker)

    def _watch(self, worker: Worker) -> None:
        wanted = selectors.EVENT_READ
        if worker.channel.has_unsent:
            wanted |= selectors.EVENT_WRITE
        if self._selector.get_key(worker.channel).events != wanted:
            self._selector.modify(worker.channel, wanted, worker)

    def _refuse_foreign(self, worker: Worker) -> None:
        """Let the commands fail that hold something else than plain data."""
        wires, worker.outbox = worker.outbox, []
        commands = [worker.flight.pop() for _ in wires]
        for wire, command in zip(wires, reversed(commands), strict=True):
            if pack_plain(wire) is None:
                text = "TypeError: a command for another process holds more than plain data"
                self._fail(command, "env_error", text)
            else:
                worker.flight.append(command)
                worker.outbox.append(wire)

    def _attend(self, worker: Worker, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            worker.channel.flush()
            self._watch(worker)
        if mask & selectors.EVENT_READ:
            for frame in worker.channel.receive():
                self._take(worker, frame)
            if worker.channel.is_over:
                self._dismiss(worker)

    def _dismiss(self, worker: Worker) -> None:
        """Have a worker collected that does not answer any more."""
        worker.is_leaving = True
        self._staff.collect(worker.number)
        self._selector.unregister(worker.channel)

    def _take(self, worker: Worker, frame: bytes) -> None:
        took_s, answers = loads(frame)
        worker.fruitless = 0
        cost_s = took_s / max(1, len(answers))
        for answer in answers:
            self._settle(worker.next_command(), answer, cost_s)

    def _settle(self, command: Command, answer: Answer, cost_s: float) -> None:
        if answer[0] == FOREIGN:
            answer = _unpacked(answer)
        if command[0] == DROP:
            self._dropped(command[1], answer)
        elif answer[0] == FAILED:
            self._fail(command, *answer[1:])
        else:
            slot = self._slots[command[1]]
            slot.land(command, answer, cost_s)
            self._finish(slot, answer[1])

    def _finish(self, slot: Slot, outcome: Outcome) -> None:
        slot.is_busy = False
        self._busy -= 1
        self._ready.append((slot.number, outcome))

    def _fail(self, command: Command, reason: str, text: str) -> None:
        slot = self._slots[command[1]]
        slot.lose()
        if not text:
            text = f"TimeoutError: the environment did not answer within {self._timeout_s} s"
        self._finish(slot, Failure(reason, text))

    def _dropped(self, number: int, answer: Answer) -> None:
        slot = self._slots.pop(number)
        self._workers[slot.worker].slots.discard(number)
        self._finish(slot, None)
        if answer[0] == FAILED:
            text = f"Closing an environment failed: {answer[2]}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def _keep_deadlines(self, timeout_s: float) -> None:
        now = monotonic()
        for worker in self._workers:
            due = worker.overdue_at(timeout_s)
            if due is None or now < due:
                continue
            if worker.stop():
                worker.kill_at = now + _GRACE_S
                self.interrupts += 1
                self._staff.signal(worker.number, INTERRUPT)
            else:
                worker.is_late = True
                self._dismiss(worker)

    def _hear_reports(self) -> None:
        try:
            reports = self._staff.reports()
        except EOFError as error:
            self._leave()
            raise GemError(f"A pool of workers cannot go on: {error}. Make another one.") from error
        for report in reports:
            worker = self._workers[report.worker]
            if report.what == STARTED:
                worker.process = report.number
            else:
                self._replace(worker, report)

    def _replace(self, worker: Worker, report: Report) -> None:
        """Start another process in the place of one that ended, and give it what is left."""
        for frame in worker.channel.receive():
            self._take(worker, frame)
        reason = "step_timeout" if worker.is_late and not worker.is_reviving else "worker_lost"
        text = "" if worker.is_late else _ending(report)
        flight, culprit = worker.take_flight()
        worker.fruitless = 0 if culprit is not None else worker.fruitless + 1
        self._let_leave(worker)
        for command in flight:
            if command is culprit or worker.fruitless >= _MOST_FRUITLESS:
                self._fail(command, reason, text)
            else:
                self._enqueue(self._slots[command[1]], command)

    def _let_leave(self, worker: Worker) -> None:
        if worker.is_here:  # it was refused, and never came
            self._selector.unregister(worker.channel)
        worker.close()
        for number in worker.slots:
            self._slots[number].is_made = False
        self.restarts += 1

    def _farewells(self) -> list[str]:
        """Ask every worker to close its environments, and return what went wrong with that."""
        texts: list[str] = []
        until, here = monotonic() + self._close_timeout_s, set(self._workers)
        for worker in self._workers:
            if worker.is_here:
                worker.dismiss()
            else:
                here.discard(worker)
        while here and (left := until - monotonic()) > 0:
            for key, _ in self._selector.select(left):
                if key.data is None:  # only the keeper's own end matters now
                    self._selector.unregister(key.fileobj)
                    continue
                for took_s, values in map(loads, key.data.channel.receive()):
                    texts += values if took_s is None else ()
                if key.data.channel.is_over:
                    self._selector.unregister(key.fileobj)
                    here.discard(key.data)
        return texts


def _check(num_workers: int, start_method: str, timeout_s: float | None) -> None:
    if not is_count(num_workers):
        raise BadArguments(
            f"A pool of {num_workers!r} workers was asked for. Their number is an int from 1 on.",
            subject="num_workers",
        )
    if start_method not in get_args(StartMethod):
        raise BadArguments(
            f"A pool was asked for with start_method={start_method!r}. It is one of "
            f"{', '.join(map(repr, get_args(StartMethod)))}.",
            subject="start_method",
        )
    if timeout_s is not None and not timeout_s > 0:
        raise BadArguments(
            f"A pool was asked for with timeout_s={timeout_s!r}. It is a number of seconds above "
            "0, or None.",
            subject="timeout_s",
        )


def _completed(command: Command) -> Command:
    """Return a reset in its full form, its seed as a plain int."""
    kind, slot, seed = command[:3]
    return kind, slot, operator.index(seed), *(command[3:] or ({}, 0))


def _misuse(slot: Slot | None, command: Command) -> EnvUsageError:
    if slot is None:
        return EnvClosed(f"Slot {command[1]} was called, and no environment is in it.")
    if slot.is_busy:
        return EnvBusy(
            f"Slot {slot.number} was called while another call of it is under way. Collect its "
            "outcome first."
        )
    return ResetNeeded(f"Slot {slot.number} was called, and has no episode. Reset it first.")


def _unpacked(answer: Answer) -> Answer:
    try:
        return tuple(loads(answer[1]))
    except Exception as error:  # noqa: BLE001 - an object's own code fails: costs one episode
        return FAILED, "env_error", text_of(error)


def _ending(report: Report) -> str:
    """Say how a process ended."""
    if report.what != ENDED:
        return f"its worker could not be started: {os.strerror(report.number)}"
    if os.WIFSIGNALED(report.number):
        return f"its worker was ended by {signal.Signals(os.WTERMSIG(report.number)).name}"
    return f"its worker ended with status {os.WEXITSTATUS(report.number)}"


def _let_go(
    owner: int, staff: Staff, workers: Sequence[Worker], selector: selectors.BaseSelector
) -> None:
    """End every process and free every descriptor, but not in a fork of the pool's process."""
    if os.getpid() == owner:
        staff.close()
        for worker in workers:
            worker.close()
        selector.close()


_INSIDE = frozenset({STEP, ASK})
