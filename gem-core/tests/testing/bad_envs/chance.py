"""Environments whose episodes do not follow from the seed alone."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import numpy as np

from gem.env._step import Step
from gem.testing.envs import Coin, Guess, Lamps

Started = tuple[str, dict[str, Any]]


class GlobalChance(Guess):
    """Draws the secret from the global generator, which it seeds."""

    def reset(self, seed: int | None = None) -> Started:
        started = super().reset(seed)
        random.seed(self.rng.random())
        self.secret = random.randint(1, self.highest)
        return started


class NumpyChance(Guess):
    """Seeds numpy's global generator, so that its own draws look fixed."""

    def reset(self, seed: int | None = None) -> Started:
        started = super().reset(seed)
        np.random.seed(self.rng.randrange(1000))  # noqa: NPY002 - the fault to be found
        self.secret = int(np.random.randint(1, self.highest))  # noqa: NPY002
        return started


class ReadsGlobalChance(Lamps):
    """Reads the global generator's state without drawing from it."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        return f"{observation} {random.getstate()[1][0]}", info


class IgnoresSeed(Guess):
    """Draws from a generator of its own, which nobody seeds."""

    def reset(self, seed: int | None = None) -> Started:
        started = super().reset(seed)
        self.secret = random.SystemRandom().randint(1, self.highest)
        return started


class UnseededSamples(Guess):
    """Samples actions from a generator that nobody seeds."""

    def sample_action(self) -> str:
        return f"\\boxed{{{random.SystemRandom().randint(1, self.highest)}}}"


class OneEpisode(Guess):
    """Hides the same number whatever the seed."""

    def reset(self, seed: int | None = None) -> Started:
        started = super().reset(seed)
        self.secret = 7
        return started


class FixedStart(Lamps):
    """Declares a fixed start, and draws one."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        return f"{observation} Day {self.rng.randrange(100)}.", info


class KeepsState(Guess):
    """Tells how many guesses were made since it was built."""

    guesses = 0

    def step(self, action: str) -> Step:
        self.guesses += 1
        step = super().step(action)
        return step._replace(observation=f"{step.observation} {self.guesses} guesses so far.")


class SharesLog(Coin):
    """Has a list that all instances share, and shows its length in the end."""

    log: ClassVar[list[str]] = []

    def step(self, action: str) -> Step:
        self.log.append(action)
        return super().step(action)._replace(observation=f"{len(self.log)} calls so far.")


class ByHash(Lamps):
    """Depends on the hashes of this process."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        return f"{observation} {hash('lamps')}", info


class CountsInstances(Lamps):
    """Depends on how many were made before it."""

    made = 0

    def __init__(self) -> None:
        CountsInstances.made += 1
        self.number = CountsInstances.made

    def reset(self, seed: int | None = None) -> Started:
        return f"Number {self.number}. {super().reset(seed)[0]}", {}
