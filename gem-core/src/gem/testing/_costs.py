"""The line on costs: time and memory of a step, for information. Nothing is required."""

from __future__ import annotations

import time
import tracemalloc

from gem.testing._playing import play
from gem.testing._subject import Subject, drive

__all__ = ["costs_are_known"]


def costs_are_known(subject: Subject) -> str:
    """Time resets and steps of sampled actions, and measure what an episode allocates."""
    with subject.make() as env:
        reset_s = step_s = 0.0
        steps = 0
        for seed in subject.seeds:
            started = time.perf_counter()
            env.reset(seed=seed)
            reset_s += time.perf_counter() - started
            for action in subject.driven(seed).actions:
                started = time.perf_counter()
                env.step(action)
                step_s += time.perf_counter() - started
                steps += 1
        peak = _peak(subject)
    return (
        f"{step_s / max(steps, 1) * 1e6:.0f} us a step, "
        f"{reset_s / len(subject.seeds) * 1e6:.0f} us a reset, "
        f"{peak / 1024:.0f} KiB at most in an episode"
    )


def _peak(subject: Subject) -> int:
    # In an episode of its own: tracing allocations would slow the steps that are timed.
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    with subject.make() as env:
        play(env, drive, subject.seeds[0])
    _, peak = tracemalloc.get_traced_memory()
    if not was_tracing:  # who traces outside goes on
        tracemalloc.stop()
    return max(peak - before, 0)
