"""What a verdict may cost."""

from __future__ import annotations

import os
from typing import NamedTuple

__all__ = ["Limits", "most_workers"]

_MOST_WORKERS = 4


class Limits(NamedTuple):
    """What each worker may take for one verdict, and how long a server waits for work.

    Seconds count from when a worker begins, not from the question. Address space is limited by
    the system, resident memory by looking at it ten times a second.
    """

    deadline_s: float = 2.0
    most_address_bytes: int = 1 << 30
    most_resident_bytes: int = 512 << 20
    idle_s: float = 300.0


def most_workers() -> int:
    """Return how many workers a tree may have: one a processor, and four at most."""
    if hasattr(os, "sched_getaffinity"):
        return min(_MOST_WORKERS, len(os.sched_getaffinity(0)))
    return min(_MOST_WORKERS, os.cpu_count() or 1)  # not on Linux
