"""Environments that count, and vectors of them."""

from __future__ import annotations

import math
import sys
from typing import Any

from gem._python.seeding import episode_seed
from gem.env import Env
from gem.env._step import Step
from gem.vector import make_vec
from gem.vector._hosted import HostedVectorEnv


class Count(Env):
    """Count up to `length`; some actions do harm."""

    max_turns = 9
    closed: list[int]

    def __init__(self, length: int = 3) -> None:
        self.length = length
        self.closed = []

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.start = self.rng.randrange(1000)
        return f"from {self.start}", {"start": self.start}

    def step(self, action: str) -> Step:
        if action == "exit":
            sys.exit("gone")
        if action == "raise":
            raise RuntimeError("out of order")
        if action == "short":
            return ("no", "step")  # type: ignore[return-value]
        reward: Any = {"nan": math.nan, "inf": -math.inf, "text": "much"}.get(action, 1)
        number = self.turn + 1
        is_last = number >= self.length
        cut = is_last and action == "cut"
        return Step(f"{number}", reward, is_last and not cut, cut, {"number": number})

    def close(self) -> None:
        self.closed.append(1)


class Faulty(Count):
    """Harm on demand: `faults` are what to raise next, in reset, in close or when made."""

    made: list[Faulty] = []  # noqa: RUF012 - the class keeps the list on purpose
    make_faults: list[str] = []  # noqa: RUF012
    reset_faults: list[str] = []  # noqa: RUF012
    close_faults: list[str] = []  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        if self.make_faults:
            raise RuntimeError(self.make_faults.pop())
        self.made.append(self)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        if self.reset_faults:
            raise RuntimeError(self.reset_faults.pop())
        return super().reset()

    def close(self) -> None:
        super().close()
        if self.close_faults:
            raise RuntimeError(self.close_faults.pop())


def made(env_id: str, **options: Any) -> HostedVectorEnv:
    vector = make_vec(env_id, **options)
    assert isinstance(vector, HostedVectorEnv)
    return vector


def started(number: int = 3, **options: Any) -> HostedVectorEnv:
    vector = made("vec:Count", num_envs=number, seed=5, **options)
    vector.reset()
    return vector


def first_of(index: int, episode: int, run_seed: int = 5) -> str:
    """Return the observation that opens an episode, from an environment of its own."""
    return str(Count().reset(seed=episode_seed(run_seed, index, episode))[0])
