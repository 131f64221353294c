"""Environments that wait and compute on daemon threads, which start as they are needed.

A call that outlasts its deadline is left behind with its thread: Python can stop neither. Its
environment is made anew for the next episode, and what the late call returns is dropped.
"""

from __future__ import annotations

import math
import queue
import threading
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic, sleep
from typing import NamedTuple

from gem._python.quantities import check_count, check_timeout
from gem.env._env import Env
from gem.hosting._failure import Failure
from gem.hosting._messages import DROP, MAKE, Command
from gem.hosting._port import SELDOM_S, Host, MakesEnv, Ready, Wakeup, warn_of_close
from gem.hosting._slot_envs import SlotEnvs

__all__ = ["ThreadHost", "thread_host"]

_FIRST_THREADS = 32
"""So many threads take on steps that only compute a little; more of them would only take turns."""

_PATIENCE_S = 0.002
"""Where no thread took a command on for so long, all are taken to wait, and more are started."""

_SOON_S = 0.01
"""How often to look, while a call is unwanted that has not begun."""

_CLOSING_S = 5.0
"""How long `close` waits, without a deadline for steps, for calls that still run."""


def thread_host(
    *, num_envs: int | None, num_workers: int | None, step_timeout_s: float | None
) -> ThreadHost:
    """Return the host of the backend "thread"."""
    check_count("num_workers", num_workers, is_optional=True)
    check_timeout("step_timeout_s", step_timeout_s)
    return ThreadHost(most_threads=num_workers, timeout_s=step_timeout_s)


class _Call(NamedTuple):
    """A command that a thread is doing, and since when."""

    command: Command
    envs: SlotEnvs
    since: float

    @property
    def is_timed(self) -> bool:
        """Whether it has a deadline. Making has none: it may load what all share."""
        return bool(self.command[0] != MAKE)


class _Shared:
    """What the threads and their host share. A thread keeps this alive, and never the host."""

    def __init__(self) -> None:
        self.todo: queue.SimpleQueue[tuple[Command, SlotEnvs] | None] = queue.SimpleQueue()
        # Whoever takes a call out of here, its thread or who gives it up, answers for it.
        self.running: dict[threading.Thread, _Call] = {}
        self.done: deque[Ready] = deque()
        self.wakeup = Wakeup()
        self.threads: set[threading.Thread] = set()
        self.most_threads = 0
        self._begun_at = monotonic()  # when a thread last took a command on
        self._lock = threading.Lock()  # of who starts threads, and of who watches
        self.watcher: threading.Thread | None = None

    def start_threads(self, needed: int) -> None:
        """Have so many threads, or a few at first and others once those all wait."""
        with self._lock:
            self._start_up_to(min(needed, self.most_threads, _FIRST_THREADS))
            if self.watcher is None and self._lacks_threads:
                self.watcher = threading.Thread(target=self._watch, name="gem-watcher", daemon=True)
                self.watcher.start()

    def replace(self, lost: threading.Thread) -> None:
        """Start a thread in the place of one that does not come back."""
        with self._lock:
            number = len(self.threads)
            self.threads.discard(lost)
            self._start_up_to(number)

    def start_no_more(self) -> None:
        """Leave it at the threads that there are, also where commands wait."""
        with self._lock:
            self.most_threads = 0

    def _start_up_to(self, number: int) -> None:
        """Have at least so many threads.

        Whoever calls this holds the lock: two that count at once would each start what is missing.
        """
        while len(self.threads) < number:
            thread = threading.Thread(
                target=_work, args=(self,), name="gem-environments", daemon=True
            )
            thread.start()
            self.threads.add(thread)

    @property
    def _lacks_threads(self) -> bool:
        """Whether a command waits for a thread that could still be started."""
        return len(self.threads) < self.most_threads and not self.todo.empty()

    def _watch(self) -> None:
        """Give every command that waits a thread, if the threads there are all wait, too."""
        while True:
            sleep(_PATIENCE_S)
            with self._lock:  # or a command that comes just now would have nobody to watch for it
                if monotonic() - self._begun_at >= _PATIENCE_S:
                    waiting = self.todo.qsize()
                    self._start_up_to(min(len(self.threads) + waiting, self.most_threads))
                if not self._lacks_threads:
                    self.watcher = None
                    return

    def do(self, command: Command, envs: SlotEnvs) -> bool:
        """Do a command. Returns False where it was given up meanwhile."""
        thread = threading.current_thread()
        self._begun_at = monotonic()
        self.running[thread] = _Call(command, envs, self._begun_at)
        outcome = envs.do(command)
        if self.running.pop(thread, None) is None:
            envs.close()  # nobody is left who could be told of a failure
            return False
        self.done.append((command[1], outcome))
        self.wakeup.set()  # after the outcome is there, or it could be overlooked
        return True


def _work(shared: _Shared) -> None:
    while (todo := shared.todo.get()) is not None:
        if not shared.do(*todo):
            return
        del todo  # an idle thread must not keep the last command's data alive
    shared.todo.put(None)  # for the next thread


class ThreadHost(Host):
    """Each command is done by any free thread, so that no environment waits for another.

    There are as many threads as commands that wait, or at most `most_threads`. Python computes on
    one thread at a time. Two calls of an environment may come from two threads, never at once.

    `close` drops what has not begun, waits `timeout_s` for what runs (5 s without one), and warns
    of calls that still run.
    """

    def __init__(self, *, most_threads: int | None = None, timeout_s: float | None = None) -> None:
        self._most_threads = most_threads
        self._timeout_s = timeout_s
        self._recipes: dict[int, MakesEnv] = {}
        # One container for each environment: a late call keeps its own, and a new one follows.
        self._envs: dict[int, SlotEnvs] = {}
        self._opened = 0
        self._busy: set[int] = set()
        self._unwanted: set[int] = set()
        self._none_late_before = 0.0
        self._shared = _Shared()
        self._late: list[tuple[int, threading.Thread]] = []
        self._is_closed = False
        self._let_go = weakref.finalize(self, _end_threads, self._shared)
        self._let_go.atexit = False  # the threads are daemons

    def open(self, recipe: MakesEnv) -> int:
        slot = self._opened
        self._opened += 1
        self._recipes[slot] = recipe
        self._renew(slot)
        number = len(self._envs)
        self._shared.most_threads = min(self._most_threads or number, number)
        return slot

    def _renew(self, slot: int) -> None:
        """Have the slot's environment made anew at its next reset."""
        # On a thread of ours nothing is meant for the caller, not even an interrupt.
        envs = SlotEnvs(faults=(BaseException,))
        envs.open(slot, self._recipes[slot])
        self._envs[slot] = envs

    @property
    def envs(self) -> Mapping[int, Env]:
        """The environments that are there, by slot."""
        return {slot: env for envs in self._envs.values() for slot, env in envs.envs.items()}

    def submit(self, commands: Sequence[Command]) -> None:
        for command in commands:
            slot = command[1]
            self._busy.add(slot)
            if command[0] == DROP:
                # Nothing is made in this slot again. `close` may drop it a second time.
                self._recipes.pop(slot, None)
            self._shared.todo.put((command, self._envs[slot]))
        self._shared.start_threads(len(self._busy))

    def collect(self, at_least: int = 1, timeout_s: float | None = None) -> list[Ready]:
        due = math.inf if timeout_s is None else monotonic() + timeout_s
        ready: list[Ready] = []
        while True:
            self._shared.wakeup.clear()
            self._give_up_late()
            self._take_outcomes(ready)
            left = due - monotonic()
            if len(ready) >= at_least or not self._busy or left <= 0:
                return ready
            self.wait(left)

    def _take_outcomes(self, ready: list[Ready]) -> None:
        done = self._shared.done
        while done:
            slot, outcome = done.popleft()
            self._busy.discard(slot)
            self._unwanted.discard(slot)
            if slot not in self._recipes:  # it was dropped
                del self._envs[slot]
                if outcome is not None:
                    warn_of_close(outcome.text)
                    outcome = None
            ready.append((slot, outcome))

    def next_check_s(self) -> float:
        if self._unwanted:
            return _SOON_S
        if self._timeout_s is None or not self._busy:
            return SELDOM_S
        return max(0.0, self._none_late_before - monotonic())

    def _give_up_late(self) -> None:
        if self._timeout_s is None and not self._unwanted:
            return
        now = monotonic()
        if now < self._none_late_before and not self._unwanted:
            return  # or every outcome of thousands of environments would look at all the others
        timeout_s = math.inf if self._timeout_s is None else self._timeout_s
        for thread, call in self._shared.running.copy().items():
            is_late = call.is_timed and now - call.since >= timeout_s
            if is_late or call.command[1] in self._unwanted:
                self._leave_behind(thread)
        # What begins from now on is late only after a whole timeout.
        begun = [call.since for call in self._shared.running.copy().values() if call.is_timed]
        self._none_late_before = min(begun, default=now) + timeout_s

    def _leave_behind(self, thread: threading.Thread) -> None:
        """Give up a thread, and the environment that it is in, unless it came back just now."""
        call = self._shared.running.pop(thread, None)
        if call is None:  # pragma: no cover - it came back in this very moment
            return
        slot = call.command[1]
        self._late.append((slot, thread))
        self.interrupts += 1
        if slot in self._recipes:
            self._renew(slot)
        if self._is_closed:
            self._shared.threads.discard(thread)
        else:
            self._shared.replace(thread)
        if call.command[0] == DROP:
            warn_of_close("it does not come back; step_timeout_s says when it is given up")
        text = f"TimeoutError: the environment did not answer within {self._timeout_s} s"
        outcome = None if call.command[0] == DROP else Failure("step_timeout", text)
        self._shared.done.append((slot, outcome))

    @property
    def left_behind(self) -> list[int]:
        return sorted(slot for slot, thread in self._late if thread.is_alive())

    def stop(self, slot: int) -> None:
        if slot in self._busy:
            self._unwanted.add(slot)

    def give_up(self, slot: int) -> None:
        self._envs[slot].fail(slot, Failure("env_error", ""))

    def fileno(self) -> int:
        return self._shared.wakeup.fileno()

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._drop_what_has_not_begun()
        patience_s = self._timeout_s or _CLOSING_S
        self._timeout_s = None  # from now on, only the patience counts
        # To close an environment may hang as a step may: each is closed on a thread, none here.
        self._shared.most_threads = len(self._envs)
        self._close_idle()
        self._finish(patience_s)
        self._close_idle()  # those that were in a call when the others were closed
        self._finish(patience_s)
        self._shared.start_no_more()
        watcher = self._shared.watcher
        threads = [*self._shared.threads, *([watcher] if watcher else [])]
        self._let_go()
        for thread in threads:
            thread.join()

    def _close_idle(self) -> None:
        idle = [slot for slot, envs in self._envs.items() if envs.envs and slot not in self._busy]
        self.submit([(DROP, slot) for slot in idle])

    def _finish(self, patience_s: float) -> None:
        """Wait for every call, and leave those behind that take longer than the patience."""
        while self._busy:
            self.collect(len(self._busy), patience_s)
            for thread in self._shared.running.copy():
                self._leave_behind(thread)
            # Threads that were left behind no longer count, and others may wait for one.
            self._shared.start_threads(len(self._busy))

    def _drop_what_has_not_begun(self) -> None:
        with suppress(queue.Empty):
            while True:
                todo = self._shared.todo.get_nowait()
                assert todo is not None  # that comes later: it ends the threads
                self._busy.discard(todo[0][1])


def _end_threads(shared: _Shared) -> None:
    """Have every thread end once it is idle: each hands the word on to the next."""
    shared.todo.put(None)
    shared.wakeup.close()
