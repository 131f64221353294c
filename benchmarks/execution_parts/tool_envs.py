"""Environments whose steps take heavy-tailed times, as calls of tools do."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from benchmarks.execution_parts.simulated_server import tokens_to_generate

import gem

__all__ = ["IN_LOCKSTEP", "IN_ROLLOUT", "InLockstep", "InRollout"]

MEAN_TURNS = 5
QUICK_S = 0.005
MEDIAN_S = 0.1
SIGMA = 0.5
SLOW_S = 5.0


def step_s(rng: random.Random) -> float:
    """Draw what a step takes: 60% 5 ms, 39% lognormal about 100 ms, 1% 5 s."""
    kind = rng.random()
    if kind < 0.6:
        return QUICK_S
    return SLOW_S if kind >= 0.99 else MEDIAN_S * rng.lognormvariate(0.0, SIGMA)


class _Tool(gem.Env):
    """Observations say how many tokens the next answer has; an episode has 1 to 9 turns."""

    def _start(self) -> tuple[str, dict[str, Any]]:
        self._turns = self.rng.randint(1, 2 * MEAN_TURNS - 1)
        return str(tokens_to_generate(self.rng)), {}

    def _move(self) -> gem.Step:
        taken_s = step_s(self.rng)
        tokens = tokens_to_generate(self.rng)
        is_last = self.turn + 1 >= self._turns
        return gem.Step(str(tokens), 0.0, is_last, False, {"step_s": taken_s})


class InLockstep(_Tool):
    """Says what its step would take, and comes back at once."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return self._start()

    def step(self, action: str) -> gem.Step:
        return self._move()


class InRollout(_Tool):
    """Waits as long as its step takes."""

    async def areset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return self._start()

    async def astep(self, action: str) -> gem.Step:
        step = self._move()
        await asyncio.sleep(step.info["step_s"])
        return step


IN_LOCKSTEP, IN_ROLLOUT = (
    gem.EnvSpec(
        id=f"bench:{env_class.__name__}", target=f"{__name__}:{env_class.__name__}", blocking=False
    )
    for env_class in (InLockstep, InRollout)
)
