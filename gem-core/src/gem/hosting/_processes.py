"""Worker processes that hold environments, started, watched and replaced by their host."""

from __future__ import annotations

import math
import os
import selectors
import signal
import weakref
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import get_args

from gem._python.quantities import check_count
from gem.errors import BadArguments, GemError
from gem.hosting._messages import Command, loads, pack_commands, pack_plain
from gem.hosting._port import SELDOM_S, warn_of_close
from gem.hosting._recovering import RecoveringHost, check_workers
from gem.hosting._serving import INTERRUPT
from gem.hosting._slots import Slot
from gem.hosting._supervisor import Report, StartMethod, Supervisor
from gem.hosting._supervisor_process import ENDED, STARTED
from gem.hosting._worker import Worker

__all__ = ["MOST_ANSWER_BYTES", "ProcessHost", "available_cpus", "process_host"]

MOST_ANSWER_BYTES = 16 * 1024 * 1024

_GRACE_S = 0.25  # between a signal and the kill
_SOON_S = 0.01  # while something is to be stopped
_MOST_FRUITLESS = 3


def process_host(
    *,
    num_envs: int | None,
    num_workers: int | None,
    step_timeout_s: float | None,
    start_method: StartMethod = "forkserver",
    most_memory_bytes: int | None = None,
    most_answer_bytes: int = MOST_ANSWER_BYTES,
) -> ProcessHost:
    """Return the host of the backend "process": as many workers as processors, unless given."""
    number = available_cpus() if num_workers is None else num_workers
    check_workers(number, step_timeout_s)
    return ProcessHost(
        min(number, num_envs or number),
        start_method=start_method,
        timeout_s=step_timeout_s,
        most_memory_bytes=most_memory_bytes,
        most_answer_bytes=most_answer_bytes,
    )


class ProcessHost(RecoveringHost):
    """Processes that each hold many environments. They start when the first one is opened.

    A reset or step of more than `timeout_s` is stopped by a signal, or else by killing the worker.
    `most_memory_bytes` limits each worker's address space, `most_answer_bytes` one answer. With
    `start_method="fork"` workers know what was registered before they started, live objects
    too; else a stack must be data (OpaqueError says which part is not). `close` asks each worker
    to close its environments, and kills it after `close_timeout_s`, or once a step is overdue.
    """

    def __init__(
        self,
        num_workers: int,
        *,
        start_method: StartMethod = "forkserver",
        timeout_s: float | None = None,
        close_timeout_s: float = 5.0,
        most_memory_bytes: int | None = None,
        most_answer_bytes: int = MOST_ANSWER_BYTES,
    ) -> None:
        if start_method not in get_args(StartMethod):
            raise BadArguments(
                f"Workers were asked for with start_method={start_method!r}. It is one of "
                f"{', '.join(map(repr, get_args(StartMethod)))}.",
                subject="start_method",
            )
        check_count("most_memory_bytes", most_memory_bytes, is_optional=True)
        check_count("most_answer_bytes", most_answer_bytes)
        super().__init__(num_workers, timeout_s=timeout_s, is_inherited=start_method == "fork")
        self._close_timeout_s = close_timeout_s
        self._hello = pack_plain((most_answer_bytes, most_memory_bytes)) or b""
        self._selector = selectors.DefaultSelector()
        self._workers = [Worker(number) for number in range(num_workers)]
        self._outgoing: set[Worker] = set()  # those that have something in their outbox
        self._start_method: StartMethod = start_method
        self._supervisors: list[Supervisor] = []  # none before the start, then one
        self._leave = weakref.finalize(
            self, _let_go, os.getpid(), self._supervisors, self._workers, self._selector
        )

    def _start(self) -> None:
        try:
            self._supervisor = Supervisor(self._start_method)
            self._supervisors.append(self._supervisor)
            self._selector.register(self._supervisor.fileno(), selectors.EVENT_READ)
            for worker in self._workers:
                self._start_worker(worker)
        except BaseException:
            self._end_all()
            raise

    def _end_all(self) -> None:
        self.is_closed = True
        self._leave()

    @property
    def processes(self) -> tuple[int, ...]:
        """The process id of each worker; 0 where it is only just being started."""
        return tuple(worker.process for worker in self._workers)

    def fileno(self) -> int:
        """Return a descriptor that is readable when `pump` has something to do."""
        return self._selector.fileno()

    def pump(self, timeout_s: float) -> None:
        """Wait at most so long for something to happen, and deal with it."""
        if timeout_s > 0:
            timeout_s = min(timeout_s, self.next_check_s())
        has_reports = False
        for key, mask in self._selector.select(timeout_s):
            if key.data is None:
                has_reports = True
            else:
                self._attend(key.data, mask)
        if has_reports:  # last: other workers take over then
            self._hear_reports()
        if self._timeout_s is not None or self._unwanted:
            self._keep_deadlines()
        if self._outgoing:
            self._dispatch()

    def next_check_s(self) -> float:
        """Return the seconds until `pump` should look after deadlines."""
        if self._unwanted:
            return _SOON_S
        if self._timeout_s is None or not self._busy:
            return SELDOM_S
        now = monotonic()
        dues = [worker.overdue_at(self._timeout_s) or math.inf for worker in self._workers]
        # What begins only now, or is being made, is not overdue before a whole timeout from now.
        return max(0.001, min(*dues, now + self._timeout_s) - now)

    def close(self) -> None:
        """Close every environment and end every process. A second call does nothing."""
        if self.is_closed:
            return
        try:
            texts = self._close_envs()
        finally:
            self._end_all()
        for text in texts:
            warn_of_close(text)

    def _start_worker(self, worker: Worker) -> None:
        worker.start(self._supervisor, self._hello)
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)

    def _enqueue(self, slot: Slot, command: Command) -> None:
        worker = self._workers[slot.worker]
        if worker.is_absent:
            self._start_worker(worker)
        worker.flight.append(command)
        if not worker.is_leaving:  # else it is told once another process is there
            worker.outbox.append(slot.wire(command))
            self._outgoing.add(worker)

    def _dispatch(self) -> None:
        outgoing = self._outgoing
        self._outgoing = set()
        for worker in outgoing:
            if worker.outbox:  # pragma: no branch - a worker that ended meanwhile has none
                frame, refused = pack_commands(worker.outbox)
                worker.outbox.clear()
                for wire in refused:
                    self._refuse(worker.take_back(wire[1]))
                if worker.channel.send(frame):
                    self._watch(worker)

    def _watch(self, worker: Worker) -> None:
        wanted = selectors.EVENT_READ
        if worker.channel.has_unsent:
            wanted |= selectors.EVENT_WRITE
        if self._selector.get_key(worker.channel).events != wanted:
            self._selector.modify(worker.channel, wanted, worker)

    def _attend(self, worker: Worker, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            worker.channel.flush()
            self._watch(worker)
        if mask & selectors.EVENT_READ:
            for frame in worker.channel.receive():
                self._take(worker, frame)
            if worker.channel.is_over:
                self._end(worker)

    def _end(self, worker: Worker) -> None:
        """Have a worker collected that does not answer any more."""
        worker.is_leaving = True
        self._supervisor.collect(worker.number)
        self._selector.unregister(worker.channel)

    def _take(self, worker: Worker, frame: bytes) -> None:
        took_s, answers = loads(frame)
        worker.fruitless = 0
        cost_s = took_s / max(1, len(answers))
        for answer in answers:
            self._settle(worker.next_command(), answer, cost_s)

    def _keep_deadlines(self) -> None:
        now = monotonic()
        timeout_s = math.inf if self._timeout_s is None else self._timeout_s
        for worker in self._workers:
            due = worker.overdue_at(timeout_s, self._unwanted)
            if due is None or now < due:
                continue
            if worker.stop():
                worker.kill_at = now + _GRACE_S
                self.interrupts += 1
                self._supervisor.signal(worker.number, INTERRUPT)
            else:
                worker.is_late = True
                self._end(worker)

    def _hear_reports(self) -> None:
        try:
            reports = self._supervisor.reports()
        except EOFError as error:
            self._end_all()
            raise GemError(f"A host of workers cannot go on: {error}. Make another one.") from error
        for report in reports:
            worker = self._workers[report.worker]
            if report.what == STARTED:
                worker.process = report.number
            else:
                self._replace(worker, report)

    def _replace(self, worker: Worker, report: Report) -> None:
        """Start another process in the place of one that ended, and give it what is left."""
        # What it answered before it ended counts: those commands are not done again.
        for frame in worker.channel.receive():
            self._take(worker, frame)
        is_timeout = worker.is_late and not worker.is_reviving
        text = "" if worker.is_late else _ending(report)
        flight, fatal = worker.take_flight()
        worker.fruitless = 0 if fatal is not None else worker.fruitless + 1
        self._let_leave(worker)
        for command in flight:
            if command is fatal or worker.fruitless >= _MOST_FRUITLESS:
                self._fail(command, "step_timeout" if is_timeout else "worker_lost", text)
            else:
                self._again(command)

    def _let_leave(self, worker: Worker) -> None:
        with suppress(KeyError):  # it is left out already, unless it was refused and never came
            self._selector.unregister(worker.channel)
        worker.close()
        self._miss(worker.number)

    def _close_envs(self) -> list[str]:
        """Ask every worker to close its environments, and return what went wrong with that."""
        texts: list[str] = []
        until = monotonic() + self._close_timeout_s
        here = set(self._workers)  # those that have not closed theirs yet
        timeout_s = math.inf if self._timeout_s is None else self._timeout_s
        for worker in self._workers:
            if worker.is_here:
                worker.dismiss()
            else:
                here.discard(worker)
        while here:
            now = monotonic()
            dues = {worker: min(until, worker.overdue_at(timeout_s) or until) for worker in here}
            here = {worker for worker in here if now < dues[worker]}
            for key, _ in self._selector.select(min(*dues.values(), now + timeout_s) - now):
                if key.data is None:  # only the supervisor's own end matters now
                    self._selector.unregister(key.fileobj)
                    continue
                for took_s, values in map(loads, key.data.channel.receive()):
                    texts += values if took_s is None else ()
                if key.data.channel.is_over:
                    self._selector.unregister(key.fileobj)
                    here.discard(key.data)
        return texts


def available_cpus() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # pragma: no cover - not on Linux


def _ending(report: Report) -> str:
    """Say how a process ended."""
    if report.what != ENDED:
        return f"its worker could not be started: {os.strerror(report.number)}"
    if os.WIFSIGNALED(report.number):
        return f"its worker was ended by {signal.Signals(os.WTERMSIG(report.number)).name}"
    return f"its worker ended with status {os.WEXITSTATUS(report.number)}"


def _let_go(
    owner: int,
    supervisors: Sequence[Supervisor],
    workers: Sequence[Worker],
    selector: selectors.BaseSelector,
) -> None:
    """End every process and free every descriptor, but not in a fork of the host's process."""
    if os.getpid() == owner:
        for supervisor in supervisors:
            supervisor.close()
        for worker in workers:
            worker.close()
        selector.close()
