"""What a pool remembers of one environment: enough to bring its episode back elsewhere."""

from __future__ import annotations

from typing import Any

from gem.hosting.messages import (
    DROP,
    MAKE,
    RESET,
    REVIVE,
    SAVE,
    SAVED,
    STEP,
    Answer,
    Command,
    pack_action,
)
from gem.hosting.recipes import RecipeData

__all__ = ["Slot"]

_SAVE_AFTER_S = 0.01  # a snapshot takes about 0.1 ms, a replay at most this and one step
_SAVE_AFTER_STEPS = 1000


class Slot:
    """One environment: where it is, and its episode so far."""

    __slots__ = (
        "_actions",
        "_can_save",
        "_cost_s",
        "_last",
        "_recipe",
        "_saved",
        "is_busy",
        "is_made",
        "number",
        "start",
        "worker",
    )

    def __init__(self, number: int, worker: int, recipe: RecipeData) -> None:
        self.number, self.worker, self._recipe = number, worker, tuple(recipe)
        self.is_made = False  # whether its worker has it as it should be
        self.is_busy = False
        self.start: tuple[Any, ...] | None = None  # of the running episode: seed, options, repeat
        self._actions: list[Any] = []  # since the snapshot, or the start; None: a sample was drawn
        self._saved: Any = None
        self._can_save = True
        self._cost_s = 0.0  # of replaying them
        self._last: str | None = None  # what it showed last, to check a replay

    def wire(self, command: Command) -> Command:
        """Return a command as its worker must be told it."""
        kind = command[0]
        if kind == STEP:
            action = command[2]
            if type(action) is not str:
                action = pack_action(action)
                command = (STEP, command[1], action)
            if self._can_save and (
                self._cost_s > _SAVE_AFTER_S or len(self._actions) >= _SAVE_AFTER_STEPS
            ):
                command = (SAVE, command[1], action)
        if kind == MAKE:
            command = (*command, self._recipe)
        elif not self.is_made and kind != DROP:
            command = (*command, self._recipe) if kind == RESET else self._revived(command)
        self.is_made = True
        return command

    def _revived(self, command: Command) -> Command:
        kept = self.start, self._saved, self._actions, self._last
        return (REVIVE, self.number, self._recipe, *kept, command)

    def note_answer(self, command: Command, answer: Answer, cost_s: float) -> None:
        """Note what a command led to."""
        kind, value = command[0], answer[1]
        if kind == STEP:
            self._stepped(command[2], answer, cost_s)
        elif kind == RESET:
            self._begin(command[2:5], _text(value[0]))
        elif kind == MAKE:
            self._begin(None, None)
        elif command[2] == "sample_action":
            self._actions.append(None)

    def _stepped(self, action: str, answer: Answer, cost_s: float) -> None:
        observation, _, terminated, truncated, _ = answer[1]
        saved = answer[2] if answer[0] == SAVED else None
        if terminated or truncated:
            self._begin(None, None)
        elif saved is not None:
            self._saved, self._last = saved, None
            self._actions, self._cost_s = [], 0.0
        else:
            self._can_save = self._can_save and answer[0] != SAVED
            self._actions.append(action if type(action) is str else pack_action(action))
            self._cost_s += cost_s
            self._last = observation if type(observation) is str else None

    def lose(self) -> None:
        """Note that its episode is over and that it must be made anew."""
        self.is_made = False
        self._begin(None, None)

    def adopt(
        self, start: tuple[Any, ...], saved: Any, actions: list[Any], last: str | None
    ) -> None:
        """Take over an episode from another pool's slot, as that one's `wire` told of it."""
        self.is_made = False
        self._begin(start, last)
        self._saved, self._actions = saved, list(actions)

    def _begin(self, start: tuple[Any, ...] | None, last: str | None) -> None:
        self.start, self._last = start, last
        self._actions, self._saved, self._cost_s = [], None, 0.0


def _text(observation: Any) -> str | None:
    return observation if type(observation) is str else None
