"""Small environments that keep every rule: to test with, and to read."""

from __future__ import annotations

from typing import Any

from gem.env._env import Env
from gem.env._step import Step

__all__ = ["Coin", "Echo", "Guess", "Lamps"]

_HOW = "Answer with a number inside \\boxed{}."


class Echo(Env):
    """Repeat a word that is shown reversed. One turn, and every answer ends it."""

    single_turn = True
    max_turns = 1
    reward_range = (0.0, 1.0)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.word = _word(self.rng)
        return f"Write this from its end to its start: {self.word[::-1]}", {}

    def step(self, action: str) -> Step:
        is_right = action.strip() == self.word
        return Step("", float(is_right), True, False, {"success": is_right})

    def sample_action(self) -> str:
        return _word(self.sample_rng)

    def solve(self) -> str:
        return self.word


def _word(rng: Any) -> str:
    return "".join(rng.choices("abcdefghij", k=8))


class Guess(Env):
    """Find a number between 1 and `highest`, told each time which way it lies."""

    reward_range = (-0.1, 1.0)

    def __init__(self, highest: int = 15, max_turns: int = 4) -> None:
        self.highest: int = highest
        self.max_turns: int = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.secret = self.rng.randint(1, self.highest)
        # What the hints have left: `solve` knows no more than a player who has read them.
        self.low = 1
        self.high = self.highest
        return f"Guess a number from 1 to {self.highest}. {_HOW}", {"suffix": "Guess."}

    def step(self, action: str) -> Step:
        guess = _boxed_number(action)
        if guess is None:
            info = {"success": False, "reward_parts": {"format_error": -0.1}}
            return Step(f"No number was found. {_HOW}", -0.1, True, False, info)
        if guess == self.secret:
            return Step("Found.", 1.0, True, False, {"success": True})
        if guess < self.secret:
            hint = "It is higher."
            self.low = max(self.low, guess + 1)
        else:
            hint = "It is lower."
            self.high = min(self.high, guess - 1)
        is_last = self.turn + 1 >= self.max_turns  # `turn` counts those that are over
        return Step(hint, 0.0, False, is_last, {"success": False, "suffix": "Guess again."})

    def sample_action(self) -> str:
        return f"\\boxed{{{self.sample_rng.randint(1, self.highest)}}}"

    def solve(self) -> str:
        return f"\\boxed{{{(self.low + self.high) // 2}}}"


def _boxed_number(text: str) -> int | None:
    _, _, rest = text.rpartition("\\boxed{")
    inside, closed, _ = rest.partition("}")
    digits = inside.strip()
    # A model's text: not every digit is one for int(), and a long number takes it long.
    is_readable = closed and digits.isascii() and digits.isdigit() and len(digits) < 10
    return int(digits) if is_readable else None


class Lamps(Env):
    """Switch every lamp on, one a turn, while the wind may put one out. Starts always alike."""

    max_turns = 12
    reward_range = (0.0, 1.0)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.lit: set[int] = set()
        return "Four lamps, 1 to 4, are out. Name one to light it.", {}

    def step(self, action: str) -> Step:
        number = action.strip()
        if number not in {"1", "2", "3", "4"}:
            return self._after(f"There is no lamp {number[:20]!r}.", {"action_error": "invalid"})
        self.lit.add(int(number))
        if len(self.lit) == 4:
            return Step("All are lit.", 1.0, True, False, {"success": True})
        if self.rng.random() < 0.2:
            self.lit.discard(self.rng.choice(sorted(self.lit)))
        return self._after(f"Lit: {sorted(self.lit)}.", {})

    def _after(self, text: str, info: dict[str, Any]) -> Step:
        is_last = self.turn + 1 >= 12
        return Step(text, 0.0, False, is_last, {"success": False, **info})

    def sample_action(self) -> str:
        return str(self.sample_rng.randint(1, 4))

    def solve(self) -> str:
        return str(min({1, 2, 3, 4} - self.lit))


class Coin(Env):
    """Call a coin before it falls: chance alone decides, so nothing is known to solve it.

    A finite set of tasks: task i is the side that lies up at first.
    """

    single_turn = True
    max_turns = 1
    reward_range = (0.0, 1.0)
    num_tasks = 2

    _sides = ("heads", "tails")

    def reset(self, seed: int | None = None, task: int | None = None) -> tuple[str, dict[str, Any]]:
        up = self.pick_task(task)
        return f"{self._sides[up].title()} lies up. Call its next side.", {"task": up}

    def step(self, action: str) -> Step:
        fallen = self.rng.choice(self._sides)
        won = action.strip() == fallen
        return Step(f"It is {fallen}.", float(won), True, False, {"success": won})

    def sample_action(self) -> str:
        return self.sample_rng.choice(self._sides)
