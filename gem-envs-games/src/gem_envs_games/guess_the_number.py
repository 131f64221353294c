"""Guess a number from the hints "higher" and "lower"."""

from __future__ import annotations

import math

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.game import Game
from gem_envs_games.parsing import one_integer, reader
from gem_envs_games.rewards import PUBLISHED, Rewards

__all__ = ["GuessTheNumber"]

_read = reader(one_integer)
_FARTHEST = 10**100  # from 0; a player must be able to write the number


class GuessTheNumber(Game):
    """Find a number between two bounds, both included, within `max_turns` guesses.

    An argument that is None is drawn anew for every episode: the lower bound from 1 to 10, the
    upper one 5 to 50 above it, and turns enough for bisection. A miss on the last turn earns
    more the closer it is.
    """

    def __init__(
        self,
        min_number: int | None = 1,
        max_number: int | None = 50,
        max_turns: int | None = 7,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        if any(number and abs(number) > _FARTHEST for number in (min_number, max_number)):
            raise BadArguments(
                "GuessTheNumber was given a number of more than 100 digits, which is no number "
                "to guess. Pass min_number and max_number from -10**100 to 10**100.",
                subject="GuessTheNumber",
            )
        if min_number is not None and max_number is not None and min_number > max_number:
            raise BadArguments(
                f"GuessTheNumber was given numbers from {min_number} to {max_number}, and there "
                "are none. Pass min_number <= max_number.",
                subject="GuessTheNumber",
            )
        self._given_range = min_number, max_number

    def deal(self) -> None:
        low, high = self._given_range
        if low is None:
            top = 10 if high is None else min(10, high)
            low = self.rng.randint(min(1, top), top)
        if high is None:
            high = self.rng.randint(low + 5, low + 50)
        self.min_number = low
        self.max_number = high
        if self._given_turns is None:
            self.max_turns = _published_turns(high - low)
        self._target = self.rng.randint(low, high)
        self._guesses: set[int] = set()

    def instructions(self) -> str:
        return (
            "You are playing Guess The Number.\n"
            f"Find the target number, a whole number from {self.min_number} to "
            f"{self.max_number}, both included. You have {self.max_turns} turns.\n"
            "After each guess you are told whether the target number is higher or lower than "
            "your guess. A guess out of that range, or one made before, is refused and still "
            "costs a turn.\n"
            "Write what you like, but give your guess as a number in \\boxed{}, for example "
            f"\\boxed{{{self.min_number}}}. Only the last one counts. An answer without it ends "
            "the game."
        )

    def expected(self) -> str:
        return f"one whole number in \\boxed{{}}, for example \\boxed{{{self.min_number}}}"

    def suffix(self) -> str:
        return "Enter your next guess." if self._guesses else "Enter your first guess."

    def step(self, action: str) -> Step:
        guess = _read(action)
        if guess is None:
            return self._malformed()
        if not self.min_number <= guess <= self.max_number:
            return self._refuse(
                f"you guessed {guess}, which is not from {self.min_number} to {self.max_number}."
            )
        if guess in self._guesses:
            return self._refuse(f"you guessed {guess}, which you have guessed before.")
        if guess == self._target:
            return self._win(
                f"you guessed {guess}, the target number. Congratulations!",
                {"success": self.rewards.success},
            )
        self._guesses.add(guess)
        hint = "higher" if guess < self._target else "lower"
        missed = f"you guessed {guess}, and the target number is {hint}."
        if self.turn + 1 == self.max_turns:
            return self._run_out(missed, self._consoled(guess))
        return self._go_on(missed)

    def _consoled(self, guess: int) -> dict[str, float]:
        share = 1 - abs(guess - self._target) / (self.max_number - self.min_number)
        return {"step": self.rewards.step, "distance": self.rewards.success * share}

    def sample_action(self) -> str:
        while (guess := self.sample_rng.randint(self.min_number, self.max_number)) in self._guesses:
            pass
        return f"\\boxed{{{guess}}}"

    def solve(self) -> str:
        """Bisect what the hints leave: the fewest turns possible, on average and at worst."""
        low = self.min_number
        high = self.max_number
        for guess in self._guesses:  # what the hints said of each
            if guess < self._target:
                low = max(low, guess + 1)
            else:
                high = min(high, guess - 1)
        return f"\\boxed{{{(low + high) // 2}}}"


def _published_turns(span: int) -> int:
    """Return 1 + the square root of `span`, rounded up; bisection never needs more."""
    return math.isqrt(span - 1) + 2 if span else 1
