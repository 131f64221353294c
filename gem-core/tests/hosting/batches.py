"""Batches of calls to a pool, and what the same calls give without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gem
from gem.hosting import RESET, STEP
from gem.hosting._processes import ProcessHost
from gem.hosting._recipes import Recipe

TIMEOUT_S = 0.3


def done(pool: ProcessHost, *commands: tuple[Any, ...]) -> dict[int, Any]:
    """Submit commands and return every outcome by slot."""
    pool.submit(commands)
    return dict(pool.collect(len(commands)))


def started(
    pool: ProcessHost, number: int, name: str = "Walk", wrappers: Sequence[Any] = (), **kwargs: Any
) -> list[int]:
    """Open slots and reset them, each with its number as the seed."""
    slots = [pool.open(Recipe(f"trouble:{name}", wrappers, kwargs)) for _ in range(number)]
    done(pool, *((RESET, slot, slot) for slot in slots))
    return slots


def stepped(pool: ProcessHost, slots: list[int], action: str = "on") -> dict[int, Any]:
    return done(pool, *((STEP, slot, action) for slot in slots))


def shown(outcomes: Mapping[int, Any]) -> dict[int, Any]:
    """Return what the steps showed, without the info, where the process's id is."""
    return {slot: outcome[:4] for slot, outcome in outcomes.items()}


def alone(seed: int, *actions: str) -> list[Any]:
    """Step an environment of this process and return what each step showed."""
    with gem.make("trouble:Walk") as env:
        env.reset(seed=seed)
        return [tuple(env.step(action))[:4] for action in actions]


def processes_of(pool: ProcessHost) -> tuple[int, ...]:
    """Return the ids of the workers once each has one: to kill process 0 would kill ourselves."""
    while 0 in pool.processes:
        pool.pump(1)
    return pool.processes


def process_of(pool: ProcessHost) -> int:
    return processes_of(pool)[0]
