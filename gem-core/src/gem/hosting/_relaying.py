"""What a host's worker on another machine runs: a host of its own, which does what that one says.

Knows nothing about how the two talk: frames are bytes, and whoever carries them calls `take`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gem.hosting._failure import Failure
from gem.hosting._messages import (
    DONE,
    DROP,
    MAKE,
    RESET,
    REVIVE,
    SAVE,
    STEP,
    Answer,
    Command,
    EpisodeSoFar,
    loads,
    pack_commands,
    pack_plain,
    unpack_action,
)
from gem.hosting._port import Outcome
from gem.hosting._processes import ProcessHost
from gem.hosting._recipes import RecipeData
from gem.hosting._slots import Slot

__all__ = ["RelayHost", "RelayedAnswers"]


class RelayedAnswers(NamedTuple):
    """What a `RelayHost` says: its figures so far, and (slot, answer, seconds) of each command."""

    restarts: int
    interrupts: int
    answers: Sequence[tuple[int, Answer, float]]


class RelayHost(ProcessHost):
    """Processes that do the commands of a `RecoveringHost` elsewhere, under its numbers of slots.

    Both remember every episode: this one for when a process is lost, the other one for when this
    one is. Frames for it are made by `pack`, and its own are read by `unpack`.
    """

    def __init__(self, num_workers: int, **options: Any) -> None:
        # By slot, since the last frame. The other host settles them as if they were its workers'.
        self._answers: dict[int, tuple[Answer, float]] = {}
        super().__init__(num_workers, **options)

    @staticmethod
    def pack(wires: Sequence[Command], stops: Iterable[int]) -> tuple[bytes, list[Command]]:
        """Return a frame of commands, as `Slot.wire` gives them, and of slots to be stopped.

        The commands that hold more than plain data are left out of it, and returned as well.
        """
        return pack_commands(wires, tuple(stops))

    @staticmethod
    def unpack(frame: bytes) -> RelayedAnswers:
        """Return what a frame of `answers` holds."""
        return RelayedAnswers(*loads(frame))

    @property
    def is_busy(self) -> bool:
        """Whether any command is not answered yet."""
        return self._busy > 0

    @property
    def has_answers(self) -> bool:
        """Whether any answer waits for the next frame."""
        return bool(self._answers)

    def take(self, frame: bytes) -> None:
        """Take on what a frame of `pack` holds."""
        wires, stops = loads(frame)
        self.submit([self._understood(wire) for wire in wires if not self._is_idle_drop(wire)])
        for number in stops:
            if number in self._slots:  # it may be dropped already
                self.stop(number)

    def answers(self) -> bytes:
        """Return a frame with the figures of this host, and the answers since the last frame."""
        answers = [(number, *answer) for number, answer in self._answers.items()]
        self._answers.clear()
        return pack_plain((self.restarts, self.interrupts, answers)) or b""

    def _is_idle_drop(self, wire: Command) -> bool:
        """Answer a drop of what was never made here: another worker had it, and was lost."""
        if wire[0] != DROP or wire[1] in self._slots:
            return False
        self._answers[wire[1]] = (DONE, None), 0.0
        return True

    def _understood(self, wire: Command) -> Command:
        """Return a command as this host takes it, its slot being as the other host knows it."""
        kind, number, *rest = wire
        if kind == REVIVE:
            recipe, so_far, command = rest
            self._renewed(number, recipe).adopt(EpisodeSoFar(*so_far))
            return self._understood(command)
        if kind == MAKE or (kind == RESET and len(rest) > 3):  # the recipe comes last
            self._renewed(number, rest.pop())
        if kind in (STEP, SAVE):
            # When a snapshot is worth it, this host knows better: it is told of each step at once.
            return STEP, number, unpack_action(*rest)
        return kind, number, *rest

    def _renewed(self, number: int, recipe: Any) -> Slot:
        """Return a slot whose environment will be made anew."""
        if number in self._slots:
            self.give_up(number)
        else:
            self._opened = number  # the next slot gets the number that the other host gave it
            self.open(RecipeData(*recipe))
        return self._slots[number]

    def _settle(self, command: Command, answer: Answer, cost_s: float) -> None:
        # Before it is settled here: that reads what a snapshot or a foreign object was packed in,
        # and the other host needs it as it is.
        self._answers[command[1]] = answer, cost_s
        super()._settle(command, answer, cost_s)

    def _finish(self, slot: Slot, outcome: Outcome) -> None:
        if type(outcome) is Failure:  # a lost process answered nothing that was noted above
            self._answers[slot.number] = (DONE, outcome), 0.0
        super()._finish(slot, outcome)
