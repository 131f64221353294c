"""What worker processes cost a cheap step, and what they gain where a step computes."""

from __future__ import annotations

import random
import sys
import time
from typing import Any

from benchmarks.execution_parts.cpu import Machine
from benchmarks.execution_parts.part import Bar, Part, spread
from benchmarks.execution_parts.recorded import recorded_actions
from benchmarks.execution_parts.side import Side, serve

import gem

TARGET = "benchmarks.execution_parts.worker_envs:Busy"
NUM_ENVS = 1024
BUSY_ENVS = 16
WORKERS = (1, 2)
MOST_DISTURBANCE = 0.03  # in a round that counts, where there is one


def measure(*, is_quick: bool) -> Part:
    """Measure both, one after the other."""
    cheap = cheap_row(3 if is_quick else 15)
    busy = busy_row(2 if is_quick else 15, is_quick)
    return Part(
        "Worker processes",
        [cheap, busy],
        {
            "": "{what}",
            "figure (least to most)": "{figure[median]:.2f} ({figure[least]:.2f} to "
            "{figure[most]:.2f})",
            "beside it": "{beside}",
        },
        [
            Bar(
                "CPU us of a cheap step above inline, 2 workers", cheap["figure"]["median"], most=6
            ),
            Bar("2 workers on a CPU-bound step, times 1", busy["figure"]["median"], least=1.8),
        ],
    )


def cheap_row(rounds: int) -> dict[str, Any]:
    """Compare two workers, deadlines on, with the vector that steps in its caller's thread."""
    actions = recorded_actions(is_all=True)
    with Side(sys.executable, "vector_tasks") as side:
        side.tell("prepare", cells=[("sync", NUM_ENVS), ("process", NUM_ENVS)], kwargs={})
        asked = {"num_envs": NUM_ENVS, "chunks": 6, "steps": 8, "actions": actions}
        pairs = [
            side.tell("measure", runs=["sync", "process"], seed=number, **asked)
            for number in range(rounds + 1)
        ][1:]
        side.tell("close")
    inline = spread(pair["sync"]["cpu_us"] for pair in pairs)["median"]
    return {
        "what": f"cheap game, {NUM_ENVS:,} environments: CPU us of a step in 2 workers, parent "
        "included, above the sync vector",
        "figure": spread(pair["process"]["cpu_us"] - pair["sync"]["cpu_us"] for pair in pairs),
        "beside": f"sync {inline:.2f} us",
    }


def busy_row(rounds: int, is_quick: bool) -> dict[str, Any]:
    """Compare two workers with one, in wall time, where a step computes for 5 ms of CPU time.

    Only rounds count in which the cores were there for it, as the bar says, if there is one.
    """
    order = random.Random(0)
    runs = {number: list[dict[str, float]]() for number in WORKERS}
    steps = 4 if is_quick else 20
    with Side(sys.executable, "processes") as side:
        side.tell("prepare")
        for _ in range(rounds):
            for number in order.sample(WORKERS, len(WORKERS)):
                runs[number].append(side.tell("busy", num_workers=number, steps=steps))
        side.tell("close")
    pairs = list(zip(*(runs[number] for number in WORKERS), strict=True))
    alone = [pair for pair in pairs if max(map(disturbance, pair)) <= MOST_DISTURBANCE]
    most = max(disturbance(run) for pair in alone or pairs for run in pair)
    return {
        "what": f"5 ms of CPU time a step, {BUSY_ENVS} environments: steps a second of 2 workers, "
        "times 1",
        "figure": spread(one["wall_s"] / two["wall_s"] for one, two in alone or pairs),
        "beside": f"{len(alone or pairs)} of {rounds} rounds, others had at most {most:.1%} of the "
        f"cores; load {max(run['load'] for pair in pairs for run in pair):.1f}",
        "rounds": pairs,
    }


def disturbance(run: dict[str, float]) -> float:
    """Return the share of the cores that was not there for this benchmark."""
    return run["others"] + run["stolen"]


_vectors: dict[int, gem.VectorEnv] = {}


def prepare() -> None:
    """Make both vectors."""
    spec = gem.EnvSpec(id="bench:Busy", target=TARGET)
    for number in WORKERS:
        vector = _vectors[number] = gem.make_vec(
            spec,
            num_envs=BUSY_ENVS,
            backend="process",
            num_workers=number,
            step_timeout_s=10.0,
            seed=0,
        )
        vector.reset()
        vector.step(["go"] * BUSY_ENVS)


def busy(num_workers: int, steps: int) -> dict[str, float]:
    """Return the seconds of so many steps, and what else the machine did meanwhile."""
    machine = Machine()
    begun = time.perf_counter()
    for _ in range(steps):
        _vectors[num_workers].step(["go"] * BUSY_ENVS)
    return {"wall_s": time.perf_counter() - begun, **machine.shares()}


def close() -> None:
    """Close both."""
    for vector in _vectors.values():
        vector.close()


if __name__ == "__main__":
    serve({"prepare": prepare, "busy": busy, "close": close})
