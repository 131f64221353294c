"""Measure what each layer around a step costs, side by side in one interleaved run.

Run it with `python benchmarks/overhead.py [--rounds N] [--steps N]`. Every round times every
layer once, in an order that changes, so that a machine that slows down slows all of them. The
figure of a layer is the median over rounds of CPU seconds a step; ratios are taken within a
round. The results go to benchmarks/results/overhead.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gem

RESULTS = Path(__file__).parent / "results" / "overhead.json"
NUM_ENVS = 64
TURNS = 50


class Bare:
    """A counter with the shape of an environment and nothing around it: the floor."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.count = 0
        return "Count.", {}

    def step(self, action: str) -> gem.Step:
        self.count += 1
        is_last = self.count >= TURNS
        return gem.Step("Go on.", 1.0, False, is_last, {})


class Counter(gem.Env):
    """The same as an environment, with its guard."""

    max_turns = TURNS

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.count = 0
        return "Count.", {}

    def step(self, action: str) -> gem.Step:
        self.count += 1
        is_last = self.count >= TURNS
        return gem.Step("Go on.", 1.0, False, is_last, {})


class Nothing(gem.Wrapper):
    """A layer that changes nothing."""


def loop(env: Any) -> Callable[[int], None]:
    """Return a function that plays episodes one after another."""

    def run(steps: int) -> None:
        for _ in range(steps // TURNS):
            env.reset()
            for _ in range(TURNS):
                env.step("one")

    return run


def vector(steps: int) -> None:
    """Step many environments in lock-step."""
    envs = gem.make_vec("bench:Counter", num_envs=NUM_ENVS, backend="sync", seed=0)
    envs.reset()
    actions = ["one"] * NUM_ENVS
    for _ in range(steps // NUM_ENVS):
        envs.step(actions)
    envs.close()


async def answer(request: gem.Request) -> str:
    """Answer at once, so that only the rollout's own cost is left."""
    return "one"


def rollout(steps: int) -> None:
    """Run episodes under `gem.rollout`, conversation and record included."""

    async def run() -> None:
        plays = gem.rollout(answer, "bench:Counter", episodes=steps // TURNS, concurrency=NUM_ENVS)
        async for _ in plays:
            pass

    asyncio.run(run())


def layers() -> dict[str, Callable[[int], None]]:
    """Return what is timed, from the floor up: a function that takes so many steps."""
    gem.register(gem.EnvSpec(id="bench:Counter", target="bench:Counter", blocking=False), Counter)
    return {
        "a plain object": loop(Bare()),
        "gem.Env": loop(Counter()),
        "gem.make": loop(gem.make("bench:Counter")),
        "gem.make, one empty wrapper": loop(Nothing(gem.make("bench:Counter"))),
        f"SyncVectorEnv of {NUM_ENVS}": vector,
        f"rollout, {NUM_ENVS} in flight": rollout,
    }


def measure(rounds: int, steps: int) -> dict[str, list[float]]:
    """Return CPU seconds a step for each layer, one figure a round."""
    timed = layers()
    for run in timed.values():
        run(NUM_ENVS * TURNS)  # imports and caches are paid for before the first round
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    order = random.Random(0)
    for _ in range(rounds):
        for name in order.sample(list(timed), len(timed)):
            before = time.process_time()
            timed[name](steps)
            seconds[name].append((time.process_time() - before) / steps)
    return seconds


def report(seconds: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Return a row for each layer: microseconds a step, and ratios within a round."""
    floor = next(iter(seconds.values()))
    rows = []
    for name, figures in seconds.items():
        ratios = [figure / least for figure, least in zip(figures, floor, strict=True)]
        added = statistics.median(figures) - statistics.median(floor)
        rows.append(
            {
                "layer": name,
                "us_per_step": round(statistics.median(figures) * 1e6, 3),
                "added_us": round(added * 1e6, 3),
                "ratio": round(statistics.median(ratios), 2),
                "ratio_range": [round(min(ratios), 2), round(max(ratios), 2)],
            }
        )
    return rows


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| layer | CPU us a step | added us | times the floor (least to most) |"
    yield "|---|---|---|---|"
    for row in rows:
        low, high = row["ratio_range"]
        figures = f"{row['us_per_step']:.2f} | {row['added_us']:.2f} | {row['ratio']:.1f}"
        yield f"| {row['layer']} | {figures} ({low:.1f} to {high:.1f}) |"


def main() -> None:
    """Measure, print the table, and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=32_000, help="steps of each layer a round")
    options = parser.parse_args()
    rows = report(measure(options.rounds, options.steps))
    print("\n".join(table(rows)))
    facts = {
        "command": "python " + " ".join(["benchmarks/overhead.py", *sys.argv[1:]]),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "rounds": options.rounds,
        "steps": options.steps,
        "rows": rows,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
