"""What a host remembers of one environment: enough to bring its episode back elsewhere."""

from __future__ import annotations

from typing import Any

from gem.hosting._messages import (
    DROP,
    MAKE,
    RESET,
    REVIVE,
    SAVE,
    SAVED,
    STEP,
    Answer,
    Command,
    EpisodeSoFar,
)
from gem.hosting._recipes import RecipeData

__all__ = ["Slot"]

_SAVE_AFTER_S = 0.01  # a snapshot takes about 0.1 ms, a replay at most this and one step
_SAVE_AFTER_STEPS = 1000


class Slot:
    """One environment: where it is, and its episode so far."""

    __slots__ = (
        "_actions",
        "_can_save",
        "_last_observation",
        "_recipe",
        "_replay_s",
        "_snapshot",
        "is_busy",
        "is_made",
        "number",
        "start",
        "worker",
    )

    def __init__(self, number: int, worker: int, recipe: RecipeData) -> None:
        self.number = number
        self.worker = worker
        self._recipe = tuple(recipe)
        self.is_made = False  # whether its worker has it as it should be
        self.is_busy = False
        self._can_save = True
        self._actions: list[Any]
        self._snapshot: tuple[str, Any] | None
        self._begin(None, None)

    def wire(self, command: Command) -> Command:
        """Return a command as its worker must be told it. From then on the worker has it so."""
        kind = command[0]
        if kind == STEP:
            is_long = self._replay_s > _SAVE_AFTER_S or len(self._actions) >= _SAVE_AFTER_STEPS
            if is_long and self._can_save:
                command = (SAVE, *command[1:])
        if kind == MAKE:
            command = (*command, self._recipe)
        elif not self.is_made and kind != DROP:
            command = (*command, self._recipe) if kind == RESET else self._revived(command)
        self.is_made = True
        return command

    def _revived(self, command: Command) -> Command:
        """Return a command before which the worker brings the episode back."""
        so_far = (self.start, self._snapshot, self._actions, self._last_observation)
        return (REVIVE, self.number, self._recipe, so_far, command)

    def note_answer(self, command: Command, answer: Answer, cost_s: float) -> None:
        """Note what a command led to, which took the worker so many seconds."""
        kind = command[0]
        if kind == STEP:
            self._note_step(command[2], answer, cost_s)
        elif kind == RESET:
            self._begin(command[2:5], answer[1][0])
        elif kind == MAKE:
            self._begin(None, None)
        elif command[2] == "sample_action":
            _, _, _, *seats = command
            self._actions.append(seats[0] if seats else 0)

    def _note_step(self, action: Any, answer: Answer, cost_s: float) -> None:
        observation, _, terminated, truncated, _ = answer[1]
        snapshot = answer[2] if answer[0] == SAVED else None
        if terminated or truncated:
            self._begin(None, None)
        elif snapshot is not None:
            self._begin(self.start, None)
            self._snapshot = snapshot
        else:
            # One that could not be saved when that was asked is never asked again.
            self._can_save = self._can_save and answer[0] != SAVED
            self._actions.append(action)
            self._replay_s += cost_s
            self._last_observation = observation if type(observation) is str else None

    def lose(self) -> None:
        """Note that its episode is over and that it must be made anew."""
        self.is_made = False
        self._begin(None, None)

    def adopt(self, so_far: EpisodeSoFar) -> None:
        """Take over an episode from another host's slot, as that one's `wire` wrote it down."""
        self.is_made = False
        self._begin(so_far.start, so_far.last_observation)
        self._snapshot = so_far.snapshot
        self._actions = list(so_far.actions)

    def _begin(self, start: tuple[Any, ...] | None, observation: Any) -> None:
        """Forget all of the episode but how it starts: by seed, options and repeat."""
        self.start = start
        self._actions = []
        self._snapshot = None
        self._replay_s = 0.0  # what it costs to take the actions again
        self._last_observation = observation if type(observation) is str else None
