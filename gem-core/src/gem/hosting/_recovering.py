"""Hosts whose workers may be lost: they remember each episode, and bring it back elsewhere.

Knows nothing about what a worker is: a process of this machine, or what a plugin brings.
"""

from __future__ import annotations

import json
import math
import operator
from abc import abstractmethod
from collections.abc import Sequence
from time import monotonic

from gem._python.places import text_with_place
from gem._python.quantities import check_count, check_timeout
from gem.episode._episode import StopReason
from gem.errors import EnvBusy, EnvClosed, EnvUsageError, OpaqueError, ResetNeeded
from gem.hosting._failure import Failure
from gem.hosting._messages import (
    ASK,
    DONE,
    DROP,
    FOREIGN,
    MAKE,
    RESET,
    STEP,
    Answer,
    Command,
    loads,
    pack_action,
)
from gem.hosting._port import Host, MakesEnv, Outcome, Ready, warn_of_close
from gem.hosting._recipes import Recipe, RecipeData
from gem.hosting._slots import Slot
from gem.registry._importing import refuse_while_importing
from gem.specs import EnvSpec

__all__ = ["RecoveringHost", "check_workers"]


class RecoveringHost(Host):
    """Workers that each hold many environments. Commands that are submitted together travel so.

    A failure of one environment is an error of its own or an answer that cannot be carried
    ("env_error"); a reset or step of more than `timeout_s` ("step_timeout"); and the end of the
    worker under it, also by want of memory ("worker_lost"). The other environments of a worker
    that ended go on in a new one, each from its last snapshot if it has them, and by its seed and
    actions, just before it is needed. One that cannot be brought back so ends as "worker_lost".

    `(RESET, slot, seed)` is short for a reset without options, of the first try. What is out of
    turn is refused: EnvBusy, EnvClosed, ResetNeeded.

    A subclass has the workers, numbered from 0, and writes `_start`, `_enqueue`, `_dispatch`,
    `pump`, `close` and `fileno`. It tells of each answer by `_settle`, of a worker that was lost by
    `_miss`, of a command that cannot be done by `_fail` or `_refuse`, and sends what was under way
    in a lost worker again by `_again`. Slots whose command is to be stopped are in `_unwanted`.
    """

    def __init__(
        self, num_workers: int, *, timeout_s: float | None = None, is_inherited: bool = False
    ) -> None:
        check_workers(num_workers, timeout_s)
        refuse_while_importing("workers")  # which would import it, and start workers without end
        self._timeout_s = timeout_s
        self._is_inherited = is_inherited
        self._slots: dict[int, Slot] = {}
        self._specs: dict[str, EnvSpec] = {}  # of this host alone: who holds one may change it
        self.is_closed = False
        self._opened = 0
        self._has_started = False
        self._loads = [0] * num_workers  # environments of each worker
        self._ready: list[Ready] = []
        self._busy = 0  # commands that are not ready yet
        self._unwanted: set[int] = set()  # slots whose command is to be stopped

    @abstractmethod
    def pump(self, timeout_s: float) -> None:
        """Wait at most so long for something to happen, and deal with it."""

    @abstractmethod
    def _start(self) -> None:
        """Start the workers: the first environment is about to be opened."""

    @abstractmethod
    def _enqueue(self, slot: Slot, command: Command) -> None:
        """Take a command on that is in turn, for the worker `slot.worker`.

        The worker is sent `slot.wire(command)`, and `_settle` is called with its answer.
        """

    @abstractmethod
    def _dispatch(self) -> None:
        """Send what was taken on."""

    def open(self, recipe: MakesEnv | RecipeData) -> int:
        """Return a slot in the worker that has the fewest. Recipes that are data already are taken.

        Raises OpaqueError on what a worker cannot make, and UnknownEnv.
        """
        if self.is_closed:
            raise _closed()
        data = self._data_of(recipe)
        if not self._has_started:
            self._has_started = True
            self._start()
        worker = self._loads.index(min(self._loads))
        self._loads[worker] += 1
        number = self._opened
        self._opened += 1
        self._slots[number] = Slot(number, worker, data)
        return number

    def check(self, recipe: MakesEnv) -> None:
        self._data_of(recipe)

    def _data_of(self, recipe: MakesEnv | RecipeData) -> RecipeData:
        if isinstance(recipe, RecipeData):
            return recipe
        if isinstance(recipe, Recipe):
            return recipe.as_data(is_inherited=self._is_inherited)
        raise OpaqueError(
            f"{recipe!r:.80} was to make an environment in another process, and is a function of "
            "this one. Give an id or a spec.",
            argument="recipe",
        )

    def submit(self, commands: Sequence[Command]) -> None:
        """Send commands on their way. Where one is out of turn it raises, and none is sent."""
        if self.is_closed:
            raise _closed()
        # All are looked at before any is sent: a batch goes as a whole, or the caller could not
        # know which of its commands have an outcome.
        accepted: list[tuple[Slot, Command]] = []
        try:
            for command in commands:
                slot = self._slots.get(command[1])
                if slot is None or slot.is_busy or (slot.start is None and command[0] in _INSIDE):
                    raise _misuse(slot, command)
                if command[0] != STEP or type(command[2]) is not str:  # most are steps of texts
                    command = _plain(command)  # noqa: PLW2901
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

    def collect(self, at_least: int = 1, timeout_s: float | None = None) -> list[Ready]:
        if self.is_closed:
            raise _closed()
        until = math.inf if timeout_s is None else monotonic() + timeout_s
        self.pump(0)
        while self._busy and len(self._ready) < at_least:
            left = until - monotonic()
            if left <= 0:
                break
            self.pump(left)
        ready = self._ready
        self._ready = []
        return ready

    def give_up(self, slot: int) -> None:
        self._slots[slot].lose()

    def stop(self, slot: int) -> None:
        # What has not begun is stopped once it does.
        if self._slots[slot].is_busy:
            self._unwanted.add(slot)

    def _again(self, command: Command) -> None:
        """Take a command on again whose worker was lost before it answered."""
        self._enqueue(self._slots[command[1]], command)

    def _settle(self, command: Command, answer: Answer, cost_s: float) -> None:
        """Take the answer to a command, which took the worker so many seconds."""
        if answer[0] == FOREIGN:
            answer = _unpacked(answer)
        outcome = answer[1]
        if type(outcome) is Failure:
            self._fail(command, outcome.reason, outcome.text)
        elif command[0] == DROP:
            self._dropped(command[1], None)
        else:
            slot = self._slots[command[1]]
            slot.note_answer(command, answer, cost_s)
            if command[0] == MAKE:
                try:
                    outcome = {**outcome, "spec": self._spec_of(outcome["spec"])}
                except ValueError as error:  # what one says of itself costs no other
                    self._fail(command, "env_error", text_with_place(error))
                    return
            self._finish(slot, outcome)

    def _spec_of(self, text: str | None) -> EnvSpec | None:
        """Return the spec of a description: one object, where hundreds say the same."""
        if text is not None and text not in self._specs:
            self._specs[text] = EnvSpec.model_validate(json.loads(text))
        return None if text is None else self._specs[text]

    def _finish(self, slot: Slot, outcome: Outcome) -> None:
        slot.is_busy = False
        self._busy -= 1
        self._unwanted.discard(slot.number)
        self._ready.append((slot.number, outcome))

    def _fail(self, command: Command, reason: StopReason, text: str) -> None:
        """Let a command lead to a Failure; without a text, to one that was late."""
        if not text:
            text = f"TimeoutError: the environment did not answer within {self._timeout_s} s"
        failure = Failure(reason, text)
        if command[0] == DROP:  # it ended with its worker, and its slot is free all the same
            self._dropped(command[1], failure)
            return
        slot = self._slots[command[1]]
        slot.lose()
        self._finish(slot, failure)

    def _refuse(self, command: Command) -> None:
        """Let a command fail that holds something else than plain data."""
        text = "TypeError: a command for another process holds more than plain data"
        self._fail(command, "env_error", text)

    def _miss(self, worker: int) -> None:
        """Note that a worker was lost, with all environments in it."""
        self.restarts += 1
        # None is brought back now: many are over, or waited for by nobody, by their next command.
        for slot in self._slots.values():
            if slot.worker == worker:
                slot.is_made = False

    def _dropped(self, number: int, failure: Failure | None) -> None:
        slot = self._slots.pop(number)
        self._loads[slot.worker] -= 1
        self._finish(slot, None)
        if failure is not None:
            warn_of_close(failure.text)


def check_workers(num_workers: int, timeout_s: float | None) -> None:
    """Raise BadArguments on a number of workers or a deadline that cannot be."""
    check_count("num_workers", num_workers)
    check_timeout("step_timeout_s", timeout_s)


def _closed() -> EnvClosed:
    return EnvClosed("A host was used after close. Make another one.")


def _plain(command: Command) -> Command:
    """Return a command in its full form, as plain data: a reset's seed is an int."""
    kind, slot, *rest = command
    if kind == STEP:
        return STEP, slot, pack_action(*rest)
    if kind == RESET:
        seed, *others = rest
        return RESET, slot, operator.index(seed), *(others or ({}, 0))
    return command


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
        return DONE, Failure("env_error", text_with_place(error))


_INSIDE = frozenset({STEP, ASK})
