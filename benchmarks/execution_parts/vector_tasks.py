"""Step vectors of a cheap game and the bare environments, on the same actions, in one process.

Runs under this project and under gem-llm, with the public functions of either.
"""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.execution_parts.cpu import CpuClock, descendants
from benchmarks.execution_parts.side import serve

import gem
from gem.env import episode_seed

GAME = "game:GuessTheNumber-v0-hard"
IS_OURS = hasattr(gem, "rollout")
OPTIONS: dict[str, dict[str, Any]] = {
    "sync": {},
    "thread": {},
    "process": {"num_workers": 2, "step_timeout_s": 10.0},
}
Run = Callable[[list[list[str]]], None]
_vectors: dict[tuple[str, int], Any] = {}
_envs: dict[int, list[Any]] = {}


def prepare(cells: list[tuple[str, int]], kwargs: dict[str, Any]) -> None:
    """Make the vectors, which live until the end, and as many environments outside of them."""
    for backend, num_envs in cells:
        _vectors[backend, num_envs] = made(backend, num_envs, kwargs)
        if num_envs not in _envs:
            _envs[num_envs] = [gem.make(GAME, **kwargs) for _ in range(num_envs)]
    gc.collect()
    gc.freeze()  # a collection must not pay for what other measurements hold


def made(backend: str, num_envs: int, kwargs: dict[str, Any]) -> Any:
    """Return a vector of this package."""
    make: Any = gem.make_vec
    if IS_OURS:
        return make(GAME, num_envs=num_envs, backend=backend, seed=0, **OPTIONS[backend], **kwargs)
    vec_kwargs = [kwargs] * num_envs
    return make([GAME] * num_envs, vec_kwargs=vec_kwargs, async_mode=backend == "async", seed=0)


def measure(
    runs: list[str], num_envs: int, chunks: int, steps: int, seed: int, actions: list[str]
) -> dict[str, dict[str, float]]:
    """Return microseconds a step, of CPU and of wall time, of "bare" or of vectors.

    They take turns, a chunk of steps each, so that all see the same machine.
    """
    dealt = itertools.cycle(actions)
    below = descendants()
    timed = {run: begun(run, num_envs, seed) for run in runs}
    spent = {run: {"cpu_us": 0.0, "wall_us": 0.0} for run in runs}
    for chunk in range(chunks):
        ahead = [list(itertools.islice(dealt, num_envs)) for _ in range(steps)]
        for run in runs[:: 1 if (seed + chunk) % 2 else -1]:
            clock = CpuClock(below)
            since = time.perf_counter()
            timed[run](ahead)
            cpu_s = clock.spent_s()
            wall_s = time.perf_counter() - since
            spent[run]["cpu_us"] += cpu_s / chunks / steps / num_envs * 1e6
            spent[run]["wall_us"] += wall_s / chunks / steps / num_envs * 1e6
    return spent


def begun(run: str, num_envs: int, seed: int) -> Run:
    """Return what takes steps, its episodes begun."""
    return bare(num_envs, seed) if run == "bare" else in_vector(_vectors[run, num_envs], seed)


def bare(num_envs: int, seed: int) -> Run:
    """Return a plain loop over environments that were reset, with the resets of a vector."""
    envs = _envs[num_envs]
    seeds = [reset_seeds(seed, index) for index in range(num_envs)]
    for env, ahead in zip(envs, seeds, strict=True):
        env.reset(seed=next(ahead))

    def run(dealt: list[list[str]]) -> None:
        for actions in dealt:
            for env, action, ahead in zip(envs, actions, seeds, strict=True):
                _, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    env.reset(seed=next(ahead))

    return run


def reset_seeds(seed: int, index: int) -> Iterator[int | None]:
    """Return the seeds that a vector resets one of its environments with."""
    if not IS_OURS:  # which seeds an environment once
        return itertools.chain([seed + index], itertools.repeat(None))
    # Computed here, outside of the time: to find the seed is a vector's own work.
    return iter([episode_seed(seed, index, episode) for episode in range(MOST)])


MOST = 300  # episodes that an environment may play in one measurement


def in_vector(vector: Any, seed: int) -> Run:
    """Return a loop over a vector that was reset."""
    vector.reset(seed=seed)

    def run(dealt: list[list[str]]) -> None:
        for actions in dealt:
            vector.step(actions)

    return run


def close() -> None:
    """Close every vector that can be closed."""
    for vector in _vectors.values():
        if IS_OURS:
            vector.close()
    _vectors.clear()


if __name__ == "__main__":
    serve({"prepare": prepare, "measure": measure, "close": close})
