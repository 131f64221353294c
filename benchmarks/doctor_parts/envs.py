"""A game for the benchmark of the doctor, in which an answer may be as long as it likes."""

from __future__ import annotations

from typing import Any

import gem

NUMBERS = 4
TURNS = 3


class Say(gem.Env):
    """Asks for a number, three times; an answer is right that begins with it.

    A right answer is worth less the more words it has. With `pays_length` each word is paid for, as
    a reward by mistake does.
    """

    def __init__(self, pays_length: bool = False) -> None:
        super().__init__()
        self._pays_length = pays_length

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return self._asked(), {}

    def step(self, action: str) -> gem.Step:
        words = action.split()
        is_right = words[:1] == [str(self._number)]
        reward = 1.0 / (TURNS * len(words)) if is_right else 0.0
        if self._pays_length:
            reward += 0.1 * len(words)
        return gem.Step(self._asked(), reward, self.turn + 1 == TURNS, False, {})

    def _asked(self) -> str:
        self._number = self.rng.randint(1, NUMBERS)
        return f"say {self._number}"
