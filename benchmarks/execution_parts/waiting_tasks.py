"""Step many environments that wait, each as long as its action says.

Runs under this project and under gem-llm, whose interpreter has Gymnasium too.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable
from typing import Any

from benchmarks.execution_parts.cpu import CpuClock, descendants
from benchmarks.execution_parts.side import serve

import gem

IS_OURS = hasattr(gem, "rollout")
SHORTEST_S = 0.005
LONGEST_S = 0.5
TURNS = 1000  # no episode ends in a vector


class Waiter(gem.Env):
    """Waits in each step for as many seconds as the action says."""

    def __init__(self, **_: Any) -> None:
        super().__init__()  # gem-llm hands over arguments of its own

    def reset(self, seed: int | None = None, **_: Any) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return "How long?", {}

    def step(self, action: str) -> Any:
        time.sleep(float(action))
        step = ("How long?", 0.0, False, False, dict[str, Any]())
        return gem.Step(*step) if IS_OURS else step


def lockstep(backend: str, waits: list[list[float]]) -> dict[str, float]:
    """Return the seconds of CPU and of wall time that a vector took, from its first step on."""
    num_envs = len(waits[0])
    if backend == "gymnasium":
        vector = gymnasium_vector(num_envs)
    elif IS_OURS:
        vector = gem.make_vec(WAITER, num_envs=num_envs, backend=backend, seed=0)
    else:
        make: Any = gem.make_vec
        vector = make(["bench:Waiter"] * num_envs, async_mode=True, seed=0)
    vector.reset(seed=0)
    vector.step(as_actions([0.001] * num_envs, backend))  # starts what starts on first use
    clock = CpuClock(descendants())
    begun = time.perf_counter()
    for wait in waits:
        vector.step(as_actions(wait, backend))
    times = {"wall_s": time.perf_counter() - begun, "cpu_s": clock.spent_s()}
    if hasattr(vector, "close"):
        vector.close()
    return times


def as_actions(waits: Iterable[float], backend: str) -> Any:
    """Return a batch of actions as the vector takes them."""
    return tuple(map(repr, waits)) if backend == "gymnasium" else list(map(repr, waits))


def gymnasium_vector(num_envs: int) -> Any:
    """Return Gymnasium's vector, with a process for each environment."""
    import gymnasium  # type: ignore[import-not-found, unused-ignore]  # the other interpreter has it

    text = gymnasium.spaces.Text(40, charset="".join(map(chr, range(32, 127))))

    class GymnasiumWaiter(gymnasium.Env):  # type: ignore[misc, unused-ignore]
        observation_space = action_space = text

        def reset(self, *, seed: Any = None, options: Any = None) -> tuple[str, dict[str, Any]]:
            return "How long?", {}

        def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            time.sleep(float(action))
            return "How long?", 0.0, False, False, {}

    return gymnasium.vector.AsyncVectorEnv([GymnasiumWaiter] * num_envs)


def rollout(episodes: int, turns: int) -> dict[str, float]:
    """Return what a rollout took, and the longest time that one of its episodes waited in all.

    Its environment waits in `astep`, so that no thread does.
    """
    waited = asyncio.run(played(episodes, 1))  # imports what is imported on first use
    clock = CpuClock(descendants())
    begun = time.perf_counter()
    waited = asyncio.run(played(episodes, turns))
    times = {"wall_s": time.perf_counter() - begun, "cpu_s": clock.spent_s()}
    return {**times, "limit_s": max(waited)}


async def played(episodes: int, turns: int) -> list[float]:
    """Return how long each episode waited."""
    plays = gem.rollout(
        any_wait,
        NAPPER,
        episodes=episodes,
        concurrency=episodes,
        max_turns=turns,
        step_timeout_s=10.0,
    )
    return [sum(float(turn.action) for turn in episode.turns) async for episode in plays]


async def any_wait(request: gem.Request) -> str:
    """Answer how long to wait."""
    return repr(random.Random(request.seed).uniform(SHORTEST_S, LONGEST_S))


if IS_OURS:

    class Napper(gem.Env):
        """Waits like Waiter, and holds up nobody."""

        async def areset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            return "How long?", {}

        async def astep(self, action: str) -> gem.Step:
            await asyncio.sleep(float(action))
            return gem.Step("How long?", 0.0, False, False, {})

    WAITER = gem.EnvSpec(id="bench:Waiter", target=f"{__name__}:Waiter")
    NAPPER = gem.EnvSpec(id="bench:Napper", target=f"{__name__}:Napper", blocking=False)
else:
    register: Any = gem.register
    register("bench:Waiter", Waiter)

if __name__ == "__main__":
    serve({"lockstep": lockstep, "rollout": rollout})
