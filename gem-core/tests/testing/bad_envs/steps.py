"""Environments whose steps pay, end or refuse wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np

from gem.env._step import Step
from gem.errors import ResetNeeded
from gem.testing.envs import Guess, Lamps

Started = tuple[str, dict[str, Any]]


class RewardOutOfRange(Guess):
    """Pays more than it declares."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(reward=step.reward * 2)


class RewardIsNoNumber(Guess):
    """Pays with numpy's narrow floats, which are not floats."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        narrow: Any = np.float32(step.reward)
        return step._replace(reward=narrow)


class StepsAfterEnd(Guess):
    """Puts a faster step on the instance, which no rule guards."""

    def __init__(self, highest: int = 15) -> None:
        super().__init__(highest)
        self.step = self.fast_step  # type: ignore[method-assign]

    def fast_step(self, action: str) -> Step:
        step = Guess.step.__wrapped__(self, action)  # type: ignore[attr-defined]
        self.turn += 1
        return step  # type: ignore[no-any-return]

    def reset(self, seed: int | None = None) -> Started:
        self.secret = 1
        return super().reset(seed)


class RefusesInItsWay(StepsAfterEnd):
    """Refuses a step before reset by an error of its own."""

    def fast_step(self, action: str) -> Step:
        if not hasattr(self, "secret"):
            raise ValueError("call reset first, please")
        return super().fast_step(action)


class RefusesEarly(Guess):
    """Refuses by raising what it should, though in its own way."""

    def step(self, action: str) -> Step:
        if not hasattr(self, "secret"):
            raise ResetNeeded("not yet")
        return super().step(action)


class EndsBothWays(Guess):
    """Terminates and truncates at the turn limit."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(terminated=step.terminated or step.truncated)


class LimitTerminates(Guess):
    """Terminates at the turn limit."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(terminated=step.terminated or step.truncated, truncated=False)


class IgnoresLimit(Guess):
    """States a turn limit and does not keep it."""

    def step(self, action: str) -> Step:
        return super().step(action)._replace(truncated=False)


class NotSingle(Guess):
    """Says that it has a single turn, and has more."""

    single_turn = True


class FlagsAreNumbers(Guess):
    """Returns 1 and 0 for flags."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(terminated=int(step.terminated))  # type: ignore[arg-type]


class NeverEnds(Lamps):
    """Has no limit and no end."""

    max_turns = None  # type: ignore[assignment]

    def step(self, action: str) -> Step:
        return Step(f"Day {self.rng.random()}.", 0.0, False, False, {})

    def solve(self) -> str:
        return None  # type: ignore[return-value]
