"""Environments that show the answer, and those that only seem to."""

from __future__ import annotations

from typing import Any, ClassVar

from gem.env._step import Step
from gem.testing.envs import Echo, Guess

Started = tuple[str, dict[str, Any]]


class LeaksNumber(Guess):
    """Shows the secret among other numbers."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        return f"{observation} Round 1, key {self.secret}.", info


class LeaksWord(Echo):
    """Shows the answer as a word."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        return f"{observation} ({self.word}, of course)", info


class LeaksLater(Guess):
    """Shows the secret after the first miss."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(observation=f"{step.observation} {self.secret}")

    def reset(self, seed: int | None = None) -> Started:
        return super().reset(seed)[0].replace("1 to", "0 to"), {}


class LeaksOftenEnough(Echo):
    """Shows the answer with three of five seeds, and with the others a word that is none."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        hint = self.word if self.rng.random() < 0.6 else "perhaps"
        return f"{observation} ({hint}, of course)", info


class ShowsTosses(Echo):
    """Asks for a toss and shows others: one of many copies is right about half of the time."""

    def reset(self, seed: int | None = None) -> Started:
        self.word, *shown = self.rng.choices("01", k=31)
        return f"Earlier tosses: {' '.join(shown)}. Name the next.", {}

    def sample_action(self) -> str:
        return self.sample_rng.choice("01")


class SaysTheConstant(Echo):
    """Its only answer is in the text, and a guess finds it as often as a copy."""

    def reset(self, seed: int | None = None) -> Started:
        self.word = self.rng.choice(["yes", "yes", "yes", "no"])
        return f"Question {self.rng.random()}: yes or no?", {}

    def sample_action(self) -> str:
        return self.sample_rng.choice(["yes", "no", "no"])


class AsksWhich(Echo):
    """Names both answers, others with each seed, and does not say which is right."""

    def reset(self, seed: int | None = None) -> Started:
        pair = self.rng.sample(["Ann", "Bob", "Cleo", "Dan", "Eve"], 2)
        self.word = self.rng.choice(pair)
        return f"Who is older, {pair[0]} or {pair[1]}?", {}


class AsksYesOrNo(Echo):
    """Names both answers, the same with every seed. Most often one of them is right."""

    def reset(self, seed: int | None = None) -> Started:
        self.word = self.rng.choice(["yes", "yes", "yes", "yes", "no"])
        return f"Is {self.rng.randrange(10**6)} large, yes or no?", {}


class LeaksTheirMove(Echo):
    """Wins by the move that beats another's, which it shows among others."""

    _beats: ClassVar = {"rock": "paper", "paper": "scissors", "scissors": "rock"}

    def reset(self, seed: int | None = None) -> Started:
        self.word = self._beats[self.rng.choice(list(self._beats))]
        return f"Say rock, paper or scissors. {self.word}!", {}

    def sample_action(self) -> str:
        return self.sample_rng.choice(list(self._beats))


class NamesAGoodMove(Echo):
    """Has one move of many that nearly always wins, and its rules name it."""

    def reset(self, seed: int | None = None) -> Started:
        self.is_lucky = self.rng.random() < 0.04
        return f"Game {self.rng.randrange(10**6)}. Say a number up to 99, or defect.", {}

    def step(self, action: str) -> Step:
        has_won = action == "defect" and not self.is_lucky
        return Step("", float(has_won), True, False, {"success": has_won})

    def sample_action(self) -> str:
        return str(self.sample_rng.randrange(100))
