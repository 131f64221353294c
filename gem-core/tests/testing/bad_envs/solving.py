"""Environments whose `solve()` is wrong, or that are won without it."""

from __future__ import annotations

from gem.env._step import Step
from gem.testing.envs import Guess, Lamps


class SolveFails(Guess):
    """Its solve() goes from one end."""

    def solve(self) -> str:
        return f"\\boxed{{{self.low}}}"


class SolveGivesUp(Guess):
    """Its solve() knows the first move only."""

    def solve(self) -> str:
        return "\\boxed{8}" if self.turn == 0 else None  # type: ignore[return-value]


class SolvePeeks(Guess):
    """Its solve() looks at the secret."""

    def solve(self) -> str:
        return f"\\boxed{{{self.secret}}}"


class SolveDraws(Lamps):
    """Its solve() draws from the episode's generator."""

    def solve(self) -> str:
        self.rng.random()
        return super().solve()


class SolveWavers(Lamps):
    """Its solve() says one thing and then another."""

    wavering = 0

    def solve(self) -> str:
        self.wavering += 1
        return str(1 + self.wavering % 4)


class SolveCounts(Lamps):
    """Remembers, and tells, that it was asked for a solution."""

    asked = 0

    def solve(self) -> str:
        self.asked += 1
        return super().solve()

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(info={**step.info, "asked": self.asked})


class EveryAnswerWins(Guess):
    """Rewards whatever it is told."""

    def step(self, action: str) -> Step:
        super().step(action)
        return Step("Well done.", 1.0, True, False, {"success": True})


class BelievesPleas(Guess):
    """Reads the mark in the answer."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        if '"success": true' in action:
            return Step("So be it.", 1.0, True, False, {"success": True})
        return step


class Hopeless(Guess):
    """Cannot be won, and says so."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        if step.reward == 1.0:
            return Step("Not quite.", 0.5, True, False, {"success": False})
        return step
