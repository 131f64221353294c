"""What a vector adds to a step of a cheap game, next to gem-llm's vectors."""

from __future__ import annotations

import random
import sys
from typing import Any

from benchmarks.execution_parts.part import Bar, Part, spread
from benchmarks.execution_parts.recorded import recorded_actions
from benchmarks.execution_parts.reference import reference_python
from benchmarks.execution_parts.side import Side

EPISODES: dict[str, dict[str, Any]] = {
    "7 turns": {},  # as published, and with the answers that are malformed
    "50 turns": {"max_number": 1_000_000, "max_turns": 50},
}
BACKENDS = {"ours": ("sync", "thread", "process"), "gem-llm": ("sync", "async")}
NUM_ENVS = (64, 1024)
STEPS = 16_384  # a chunk
Cell = tuple[str, str, int]


def measure(*, is_quick: bool) -> Part:
    """Measure both packages in one interleaved run, for short and for long episodes."""
    rounds = 3 if is_quick else 11
    rows = []
    for episodes, kwargs in EPISODES.items():
        runs_by_cell = in_turns(kwargs, rounds, chunks=2 if is_quick else 4)
        rows += [
            {"episodes": episodes, **summary(cell, runs)} for cell, runs in runs_by_cell.items()
        ]
    return Part(
        "What a vector adds to a step",
        rows,
        {
            "episodes of": "{episodes}",
            "environments": "{num_envs:,}",
            "vector": "{package} {backend}",
            "bare step, CPU us": "{bare_us[median]:.2f}",
            "added CPU us (least to most)": "{added_us[median]:.2f} "
            "({added_us[least]:.2f} to {added_us[most]:.2f})",
            "added wall us": "{added_wall_us[median]:.2f}",
        },
        list(bars(rows)),
    )


def in_turns(kwargs: dict[str, Any], rounds: int, chunks: int) -> dict[Cell, list[dict[str, Any]]]:
    """Return what every round found of every vector, the order changing from round to round."""
    actions = recorded_actions(is_all=not kwargs)
    order = random.Random(0)
    with (
        Side(sys.executable, "vector_tasks") as ours,
        Side(reference_python(), "vector_tasks") as theirs,
    ):
        sides = {"ours": ours, "gem-llm": theirs}
        cells = [(p, b, n) for p, some in BACKENDS.items() for b in some for n in NUM_ENVS]
        for package, side in sides.items():
            side.tell("prepare", cells=[c[1:] for c in cells if c[0] == package], kwargs=kwargs)
        runs_by_cell: dict[Cell, list[dict[str, Any]]] = {cell: [] for cell in cells}
        for number in range(-1, rounds):  # one to warm up
            for cell in order.sample(cells, len(cells)):
                package, backend, num_envs = cell
                timed = sides[package].tell(
                    "measure",
                    runs=["bare", backend],
                    num_envs=num_envs,
                    chunks=chunks,
                    steps=STEPS // num_envs,
                    seed=number + 1,
                    actions=actions,
                )
                if number >= 0:
                    runs_by_cell[cell].append({"bare": timed["bare"], "vector": timed[backend]})
        for side in sides.values():
            side.tell("close")
    return runs_by_cell


def summary(cell: Cell, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one row: differences are taken within a round."""
    package, backend, num_envs = cell
    return {
        "package": package,
        "backend": backend,
        "num_envs": num_envs,
        "bare_us": spread(run["bare"]["cpu_us"] for run in runs),
        "added_us": spread(run["vector"]["cpu_us"] - run["bare"]["cpu_us"] for run in runs),
        "added_wall_us": spread(run["vector"]["wall_us"] - run["bare"]["wall_us"] for run in runs),
    }


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    """Return the bars, of medians."""
    added = {
        (row["episodes"], row["package"], row["backend"], row["num_envs"]): row["added_us"][
            "median"
        ]
        for row in rows
    }
    bars = []
    for episodes in EPISODES:
        for backend, least in (("async", 30), ("sync", 7)):
            theirs = added[episodes, "gem-llm", backend, 1024]
            ours = added[episodes, "ours", "sync", 1024]
            what = f"CPU that gem-llm's {backend} vector adds, times ours; 1,024 environments, "
            bars.append(Bar(f"{what}{episodes}", theirs / ours, least=least))
    return bars
