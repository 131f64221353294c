"""Environments that are called in the thread that asks, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

from gem.errors import BadArguments
from gem.hosting._failure import Failure
from gem.hosting._messages import DROP, Command
from gem.hosting._port import Host, MakesEnv, Outcome, Ready, warn_of_close
from gem.hosting._slot_envs import SlotEnvs

__all__ = ["InThreadHost", "in_thread_host"]


def in_thread_host(
    *, num_envs: int | None, num_workers: int | None, step_timeout_s: float | None
) -> InThreadHost:
    """Return the host of the backends "inline" and "sync"."""
    if num_workers is not None:
        raise BadArguments(
            f"num_workers={num_workers!r} was given with a backend that has none: it calls "
            "environments in the caller's thread. Leave it out, or choose another backend.",
            subject="num_workers",
        )
    return InThreadHost()


class InThreadHost(Host):
    """A command is done when its outcome is asked for. No call can be stopped.

    An interrupt goes through to the caller; the environment that it met has then failed.
    """

    keeps_time = False

    def __init__(self) -> None:
        self.local = SlotEnvs()
        # By slot, what takes a step at once: the fast path, without a command and an outcome.
        self.step_now: Mapping[int, Callable[[str], Any]] = self.local.steps
        self._opened = 0
        self._commands: deque[Command] = deque()
        self._ready: list[Ready] = []

    def open(self, recipe: MakesEnv) -> int:
        slot = self._opened
        self._opened += 1
        self.local.open(slot, recipe)
        return slot

    def submit(self, commands: Sequence[Command]) -> None:
        self._commands.extend(commands)

    def collect(self, at_least: int = 1, timeout_s: float | None = None) -> list[Ready]:
        """Do commands until so many are done, or the time is over between two of them."""
        due = None if timeout_s is None else monotonic() + timeout_s
        while self._commands and len(self._ready) < at_least:
            command = self._commands.popleft()
            self._ready.append((command[1], self.do_now(command)))
            if due is not None and monotonic() >= due:
                break
        ready = self._ready
        self._ready = []
        return ready

    def do_now(self, command: Command) -> Outcome:
        """Do a command at once."""
        try:
            outcome = self.local.do(command)
        except BaseException as error:  # an interrupt: `collect` gives the Failure later
            failure = self.local.fail(command[1], Failure.of(error))
            self._ready.append((command[1], failure))
            raise
        if command[0] == DROP and outcome is not None:
            warn_of_close(outcome.text)
            return None
        return outcome

    def stop(self, slot: int) -> None:
        """Do nothing: a call of this thread is over before another one can ask."""

    def give_up(self, slot: int) -> None:
        self.local.fail(slot, Failure("env_error", ""))

    def fileno(self) -> int:
        """Refuse: nothing happens in this thread that could be waited for."""
        raise NotImplementedError("A host of this thread has nothing to wait for. Call collect.")

    def close(self) -> None:
        self._commands.clear()
        for text in self.local.close():
            warn_of_close(text)
