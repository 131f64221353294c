"""Measure how long rounds take whose policies wait: the seats of a round are asked at once.

Run it with `python benchmarks/rounds.py`, which writes benchmarks/results/rounds.json. An episode
is three rounds of rock, paper, scissors; each answer of either policy comes after 50 ms. Asked one
after another they would take 300 ms.
"""

from __future__ import annotations

import asyncio
import json
import platform
import statistics
import time
from pathlib import Path

import gem
from gem.testing.envs import Signs

RESULTS = Path(__file__).parent / "results" / "rounds.json"
WAIT_S = 0.05
EPISODES = 15


async def slow(request: gem.Request) -> str:
    """Answer after a while."""
    await asyncio.sleep(WAIT_S)
    return ("rock", "paper", "scissors")[request.turn]


async def episode_s(seed: int) -> float:
    """Return how long an episode takes, in seconds."""
    start = time.perf_counter()
    async for episode in gem.rollout([slow, slow], Signs, seed=seed, max_turns=6):
        assert (episode.error, len(episode.turns)) == (None, 6)
    return time.perf_counter() - start


async def measured() -> list[float]:
    """Return how long each of the episodes takes, in seconds."""
    await episode_s(EPISODES)  # the first imports what it needs
    return [await episode_s(seed) for seed in range(EPISODES)]


def main() -> None:
    """Print the median and the longest of the episodes."""
    times_ms = [1000 * seconds for seconds in asyncio.run(measured())]
    median_ms = statistics.median(times_ms)
    print(
        f"three rounds of two policies of {1000 * WAIT_S:.0f} ms: {median_ms:.0f} ms at the median "
        f"of {EPISODES} episodes, {max(times_ms):.0f} ms at most"
    )
    figures = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "episodes": EPISODES,
        "median_ms": round(median_ms, 1),
        "highest_ms": round(max(times_ms), 1),
    }
    RESULTS.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
