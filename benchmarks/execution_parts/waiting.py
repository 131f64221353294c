"""How close many waiting environments come to the time of the slowest, next to other packages."""

from __future__ import annotations

import random
import sys
from typing import Any

from benchmarks.execution_parts.part import Bar, Part, spread
from benchmarks.execution_parts.reference import reference_python
from benchmarks.execution_parts.side import Side

SHORTEST_S = 0.005
LONGEST_S = 0.5
NUM_ENVS = 1024
ENOUGH = 512
FEWER = 128  # Gymnasium starts a process for each
STEPS = 10
CELLS = (
    ("ours", "thread", NUM_ENVS),
    ("ours", "thread", ENOUGH),
    ("ours", "thread", FEWER),
    ("ours", "rollout", NUM_ENVS),
    ("gem-llm", "async", NUM_ENVS),
    ("gem-llm", "async", FEWER),
    ("Gymnasium", "gymnasium", FEWER),
)
LEAST_SHARES = {NUM_ENVS: 0.95, ENOUGH: 0.9}
NAMES = {"gymnasium": "AsyncVectorEnv"}


def measure(*, is_quick: bool) -> Part:
    """Measure each in turn: the same waits for all vectors, other ones in every round."""
    rounds, steps = (1, 2) if is_quick else (3, STEPS)
    cells = [cell for cell in CELLS if not is_quick or cell[1] != "gymnasium"]
    runs_by_cell: dict[tuple[str, str, int], list[dict[str, float]]] = {cell: [] for cell in cells}
    order = random.Random(0)
    with (
        Side(sys.executable, "waiting_tasks") as ours,
        Side(reference_python(), "waiting_tasks") as theirs,
    ):
        for number in range(rounds):
            for cell in order.sample(cells, len(cells)):
                side = ours if cell[0] == "ours" else theirs
                runs_by_cell[cell].append(timed(side, *cell[1:], steps, number))
    rows = [summary(cell, runs, steps) for cell, runs in runs_by_cell.items()]
    return Part(
        "Environments that wait",
        rows,
        {
            "": "{package} {name}",
            "environments": "{num_envs:,}",
            "share of the limit (least to most)": "{share[median]:.3f} "
            "({share[least]:.3f} to {share[most]:.3f})",
            "CPU us a step": "{cpu_us[median]:.0f}",
        },
        [
            Bar(
                f"share of the limit, {row['name']}, {row['num_envs']:,} environments",
                row["share"]["median"],
                least=LEAST_SHARES[row["num_envs"]],
            )
            for row in rows
            if row["package"] == "ours" and row["num_envs"] in LEAST_SHARES
        ],
    )


def timed(side: Side, backend: str, num_envs: int, steps: int, seed: int) -> dict[str, float]:
    """Return the seconds that one run took, and the least that it could have taken."""
    if backend == "rollout":
        times: dict[str, float] = side.tell("rollout", episodes=num_envs, turns=steps)
        return times
    rng = random.Random(seed)
    waits = [[rng.uniform(SHORTEST_S, LONGEST_S) for _ in range(num_envs)] for _ in range(steps)]
    return {**side.tell("lockstep", backend=backend, waits=waits), "limit_s": sum(map(max, waits))}


def summary(cell: tuple[str, str, int], runs: list[dict[str, float]], steps: int) -> dict[str, Any]:
    """Return one row."""
    package, backend, num_envs = cell
    return {
        "package": package,
        "name": NAMES.get(backend, backend),
        "num_envs": num_envs,
        "share": spread(run["limit_s"] / run["wall_s"] for run in runs),
        "cpu_us": spread(run["cpu_s"] / steps / num_envs * 1e6 for run in runs),
    }
