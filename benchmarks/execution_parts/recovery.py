"""How soon a worker's other environments answer again after it died of one of them."""

from __future__ import annotations

import os
import random
import select
import statistics
import sys
import threading
import time

from benchmarks.execution_parts.part import Bar, Part, spread
from benchmarks.execution_parts.side import Side, serve
from benchmarks.execution_parts.worker_envs import FAULTS, MOST_MEMORY_BYTES

import gem

TARGET = "benchmarks.execution_parts.worker_envs:Faulty"
NUM_ENVS = 256
NUM_WORKERS = 2
TURNS = 20
TIMEOUT_S = 1.0
DEATH_S = 10.0  # in which a faulty worker must have ended


def measure(*, is_quick: bool) -> Part:
    """Let workers die of every fault, in an order that changes."""
    rounds = 1 if is_quick else 8
    order = random.Random(0)
    runs = {fault: list[dict[str, float]]() for fault in FAULTS}
    with Side(sys.executable, "recovery") as side:
        side.tell("prepare")
        for _ in range(rounds):
            for fault in order.sample(list(FAULTS), len(FAULTS)):
                env = order.randrange(NUM_ENVS)
                runs[fault].append(side.tell("recovered", fault=fault, env=env))
        side.tell("close")
    rows = [
        {"fault": fault, **{name: spread(x[name] for x in rows) for name in ("first_ms", "all_ms")}}
        for fault, rows in runs.items()
    ]
    every = [row["first_ms"] for rows in runs.values() for row in rows]
    return Part(
        "Recovery from a fault",
        rows,
        {
            "the worker ended by": "{fault}",
            "ms to the next answer of another (least to most)": "{first_ms[median]:.0f} "
            "({first_ms[least]:.0f} to {first_ms[most]:.0f})",
            "ms until all others answered": "{all_ms[median]:.0f}",
        },
        [Bar("ms from a worker's death to the next answer", statistics.median(every), most=150)],
    )


_vectors: list[gem.VectorEnv] = []


def prepare() -> None:
    """Make the vector, and play for a while, so that there is something to restore."""
    spec = gem.EnvSpec(id="bench:Faulty", target=TARGET)
    vector = gem.make_vec(
        spec,
        num_envs=NUM_ENVS,
        backend="process",
        num_workers=NUM_WORKERS,
        step_timeout_s=TIMEOUT_S,
        backend_options={"most_memory_bytes": MOST_MEMORY_BYTES},
        seed=0,
    )
    _vectors.append(vector)
    vector.reset()
    for _ in range(TURNS):
        vector.step(["go"] * NUM_ENVS)


def recovered(fault: str, env: int) -> dict[str, float]:
    """Return the milliseconds from the death of an environment's worker to answers of others."""
    (vector,) = _vectors
    processes = [info["process"] for info in vector.step(["go"] * NUM_ENVS).infos]
    others = {i for i, process in enumerate(processes) if process == processes[env] and i != env}
    death = Death(processes[env])
    vector.send({env: fault})
    vector.send(dict.fromkeys(others, "go"))
    answered_s = []
    missing = {env, *others}
    while missing:
        ready = vector.recv()
        if not others.isdisjoint(ready.indices):
            answered_s.append(time.monotonic())
        missing.difference_update(ready.indices)
        assert all(info.get("process") != processes[env] for info in ready.infos)
    died_s = death.at_s()
    return {"first_ms": (answered_s[0] - died_s) * 1e3, "all_ms": (answered_s[-1] - died_s) * 1e3}


class Death:
    """When a process ends, watched from its side of the kernel."""

    def __init__(self, process: int) -> None:
        self._descriptor = os.pidfd_open(process)
        self._at_s: float | None = None
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        if select.select([self._descriptor], [], [], DEATH_S)[0]:
            self._at_s = time.monotonic()

    def at_s(self) -> float:
        """Return the monotonic second of it. Raises RuntimeError where it did not end."""
        self._thread.join()
        os.close(self._descriptor)
        if self._at_s is None:
            raise RuntimeError("The worker did not end of the fault.")
        return self._at_s


def close() -> None:
    """Close the vector."""
    while _vectors:
        _vectors.pop().close()


if __name__ == "__main__":
    serve({"prepare": prepare, "recovered": recovered, "close": close})
