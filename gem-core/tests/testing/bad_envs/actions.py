"""Environments that cannot take every action, or sample wrong ones."""

from __future__ import annotations

import re

from gem.env._step import Step
from gem.testing.envs import Guess, Lamps


class RaisesOnMalformed(Guess):
    """Trusts that there is a number in the box."""

    def step(self, action: str) -> Step:
        found = re.search(r"\\boxed\{(.*?)\}", action)
        if found:
            int(found[1])
        return super().step(action)


class SquareTime(Guess):
    """Takes time in proportion to the square of the action's length."""

    def step(self, action: str) -> Step:
        for _ in range(20 * (len(action) > 10_000)):
            re.search(r" +x", action[:20_000])
        return super().step(action)


class BadSample(Guess):
    """Samples numbers without their box."""

    def sample_action(self) -> str:
        return str(self.sample_rng.randint(1, self.highest))


class SampleIsNoText(Guess):
    """Samples a number."""

    def sample_action(self) -> str:
        return self.sample_rng.randint(1, self.highest)  # type: ignore[return-value]


class NoSample(Guess):
    """Has nothing to sample."""

    def sample_action(self) -> str:
        raise NotImplementedError("nothing to sample")


class SampleDrawsChance(Lamps):
    """Samples from the episode's own generator."""

    def sample_action(self) -> str:
        return str(self.rng.randint(1, 4))


class SampleCounts(Lamps):
    """Remembers, and tells, that it was asked for a sample."""

    asked = 0

    def sample_action(self) -> str:
        self.asked += 1
        return super().sample_action()

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(info={**step.info, "asked": self.asked})
