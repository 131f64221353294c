"""The port between those who want environments to do something and wherever these live."""

from __future__ import annotations

import select
import socket
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from math import ceil
from typing import Any, Protocol, TypeVar

from gem.env._env import Env
from gem.hosting._messages import Command

__all__ = ["SELDOM_S", "Host", "MakesEnv", "Outcome", "Ready", "Wakeup", "warn_of_close"]

Outcome = Any
"""What a command led to: a Failure, or by its kind a dictionary that describes the environment
(MAKE), a tuple of observation, info and what `Env.shown_to` says of each seat (RESET), a step's
five fields as a plain tuple (STEP), a text or None (ASK), None (DROP)."""

Ready = tuple[int, Outcome]
"""A slot, and what its command led to."""

SELDOM_S = 3600.0
"""How long a host without deadlines may go without being looked at."""

H = TypeVar("H", bound="Host")


class MakesEnv(Protocol):
    """What makes an environment, again and again: a `Recipe`; in this process, any function."""

    def __call__(self) -> Env: ...


class Host(ABC):
    """Environments, each in a slot of its own, which is called by its number.

    A command is `(MAKE, slot)`; `(RESET, slot, seed, options, repeat)`; `(STEP, slot, action)`;
    `(ASK, slot, method, seat)`, the method being "sample_action" or "solve" and the seat 0 if it is
    left out; or `(DROP, slot)`, which closes the environment and frees the slot. A slot has one
    command at a time under way. Every command has an outcome, in whatever order.

    Whatever befalls an environment costs its own episode and no other: the outcome is then a
    `Failure`, and the next command of its slot is a RESET, which makes the environment anew. So
    does a RESET in a slot where nothing was made.

    A backend is a subclass; `ExecutorSpec.target` names what returns one. All methods are called
    from one thread at a time.
    """

    keeps_time = True
    """Whether resets and steps that outlast the `step_timeout_s` of the factory are ended here, as
    a Failure "step_timeout". Else a rollout stops to wait for them, and a vector refuses one."""

    restarts = 0
    """How many workers were lost and replaced."""

    interrupts = 0
    """How many calls were stopped because they were late or unwanted."""

    def check(self, recipe: MakesEnv) -> None:  # noqa: B027 - most hosts can make anything
        """Raise OpaqueError on what cannot be made where the slots are. Starts nothing."""

    @abstractmethod
    def open(self, recipe: MakesEnv) -> int:
        """Return a new slot for an environment. Nothing is made before its first command.

        Raises what `check` raises.
        """

    @abstractmethod
    def submit(self, commands: Sequence[Command]) -> None:
        """Send commands on their way. Never waits for an environment."""

    @abstractmethod
    def collect(self, at_least: int = 1, timeout_s: float | None = None) -> list[Ready]:
        """Return every outcome that is ready, each once, after waiting for so many of them.

        Fewer come back after `timeout_s`, or where fewer are under way. With 0 it does not wait.
        """

    @abstractmethod
    def stop(self, slot: int) -> None:
        """Nobody wants the outcome of a slot's command: end it soon, if that can be done.

        It has an outcome all the same.
        """

    @abstractmethod
    def give_up(self, slot: int) -> None:
        """Take an episode for failed, though its last outcome was none: its answer was no use."""

    @abstractmethod
    def fileno(self) -> int:
        """Return a descriptor that is readable when `collect(0)` has something to do."""

    def next_check_s(self) -> float:
        """Return the seconds until `collect(0)` should look after deadlines."""
        return SELDOM_S

    @abstractmethod
    def close(self) -> None:
        """Close every environment and end what works for them. A second call does nothing.

        An environment that cannot be closed is warned of.
        """

    @property
    def left_behind(self) -> list[int]:
        """Slots whose late calls still run, where a call cannot be stopped."""
        return []

    def wait(self, timeout_s: float) -> None:
        """Wait at most so long for `collect(0)` to have something to do."""
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        # Rounded up: what is due within a millisecond would else be asked for without a pause.
        poll.poll(ceil(1000 * max(0.0, min(timeout_s, self.next_check_s()))))

    def __enter__(self: H) -> H:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def warn_of_close(text: str) -> None:
    """Warn that closing an environment failed: nothing else may be lost by it."""
    warnings.warn(f"Closing an environment failed: {text}", RuntimeWarning, stacklevel=3)


class Wakeup:
    """A descriptor that any thread makes readable: `Host.fileno` of a host that has threads."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        # Neither end may hold its thread up: not a full one who sets, not an empty one who clears.
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._reader.fileno()

    def set(self) -> None:
        """Make it readable. From any thread, also after `close`."""
        with suppress(OSError):  # it is full, so it is readable already; or it is closed
            self._writer.send(b"!")

    def clear(self) -> None:
        """Make it unreadable. Only then look for what there is to do: `set` may come again."""
        with suppress(BlockingIOError):
            self._reader.recv(4096)

    def close(self) -> None:
        """Free both ends."""
        self._reader.close()
        self._writer.close()
