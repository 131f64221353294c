"""What thousands of concurrent episodes cost in one process: memory and CPU time."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.execution_parts.part import Bar, Part, spread
from benchmarks.execution_parts.side import Side, serve

import gem

EPISODES = 4096
TURNS = (10, 30, 50)
MAIN_TURNS = 50
MIB = 2**20


class Counter(gem.Env):
    """Counts the turns of an episode."""

    def __init__(self, turns: int) -> None:
        self.max_turns = turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Count.", {}

    def step(self, action: str) -> gem.Step:
        return gem.Step("Go on.", 1.0, False, self.turn + 1 == self.max_turns, {})


SPEC = gem.EnvSpec(id="bench:Crowd", target=f"{__name__}:Counter", blocking=False)


def measure(*, is_quick: bool) -> Part:
    """Measure each in fresh processes, one after the other."""
    episodes, rounds = (256, 1) if is_quick else (EPISODES, 5)
    rows: list[dict[str, Any]] = []
    for turns in TURNS:
        runs = []
        for _ in range(rounds):
            with Side(sys.executable, "crowd") as side:
                runs.append(side.tell("play", episodes=episodes, turns=turns))
        figures = {name: spread(row[name] for row in runs) for name in runs[0]}
        rows.append({"episodes": episodes, "turns": turns, **figures})
    main = rows[TURNS.index(MAIN_TURNS)]
    return Part(
        "Thousands of episodes in one process",
        rows,
        {
            "concurrent episodes": "{episodes:,}",
            "turns": "{turns}",
            "MiB above base (least to most)": "{mib[median]:.1f} ({mib[least]:.1f} to "
            "{mib[most]:.1f})",
            "base, MiB": "{base_mib[median]:.0f}",
            "CPU us a step (least to most)": "{cpu_us[median]:.1f} ({cpu_us[least]:.1f} to "
            "{cpu_us[most]:.1f})",
        },
        [
            Bar(f"MiB above base, {MAIN_TURNS} turns", main["mib"]["median"], most=64),
            Bar(f"CPU us a step, {MAIN_TURNS} turns", main["cpu_us"]["median"], most=15),
        ],
    )


def play(episodes: int, turns: int) -> dict[str, float]:
    """Return the process's peak above its base, and the CPU time of a step."""
    asyncio.run(played(8, turns))  # imports what is imported on first use
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from here
    base = resident("VmRSS")
    begun = time.process_time()
    asyncio.run(played(episodes, turns))
    cpu_s = time.process_time() - begun
    return {
        "base_mib": base / MIB,
        "mib": (resident("VmHWM") - base) / MIB,
        "cpu_us": cpu_s / episodes / turns * 1e6,
    }


async def played(episodes: int, turns: int) -> None:
    """Play all at once, by a policy that answers in batches, with every deadline on."""
    policy = gem.MicroBatch(answers, max_batch=256, max_wait_s=0.005)
    plays = gem.rollout(
        policy,
        SPEC,
        env_kwargs={"turns": turns},
        episodes=episodes,
        concurrency=episodes,
        step_timeout_s=30.0,
        policy_timeout_s=60.0,
        episode_timeout_s=600.0,
    )
    async for episode in plays:
        assert not episode.is_error
    await policy.aclose()


async def answers(requests: list[gem.Request]) -> list[str]:
    """Take as long as a server does."""
    await asyncio.sleep(0.05)
    return ["one"] * len(requests)


def resident(name: str) -> int:
    """Return the bytes of this process, now (VmRSS) or at most (VmHWM)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"This system does not tell {name}. Measure on Linux.")


if __name__ == "__main__":
    serve({"play": play})
