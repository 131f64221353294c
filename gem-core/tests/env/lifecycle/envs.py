"""Small environments that the rules of use are shown on."""

from __future__ import annotations

import asyncio
from typing import Any

from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper

Started = tuple[str, dict[str, Any]]


def going(observation: str = "") -> Step:
    return Step(observation, 0.0, False, False, {})


def over(observation: str = "") -> Step:
    return Step(observation, 1.0, True, False, {})


class Dice(Env):
    """Shows a number, echoes actions, and ends at "end" or "limit"; "raise" raises."""

    closed = 0

    def reset(self, seed: int | None = None) -> Started:
        return str(self.rng.random()), {}

    def step(self, action: str) -> Step:
        if action == "raise":
            raise RuntimeError("broken")
        return Step(action, 0.0, action == "end", action == "limit", {"turn": self.turn})

    def close(self) -> None:
        self.closed += 1


class AsyncDice(Env):
    """The same, and it waits."""

    closed = 0

    async def areset(self, seed: int | None = None) -> Started:
        await asyncio.sleep(0)
        return str(self.rng.random()), {}

    async def astep(self, action: str) -> Step:
        await asyncio.sleep(0)
        if action == "raise":
            raise RuntimeError("broken")
        return Step(action, 0.0, action == "end", action == "limit", {"turn": self.turn})

    async def aclose(self) -> None:
        self.closed += 1


class OldStyle(Wrapper):
    """Calls `self.env` by hand, as wrappers of Gymnasium do."""

    def reset(self, seed: int | None = None, **options: Any) -> Started:
        observation, _ = self.env.reset(seed=seed, **options)
        return f"<{observation}>", {}

    def step(self, action: str) -> Step:
        return self.env.step(action)._replace(reward=7.0)

    def close(self) -> None:
        self.env.close()
