"""What a worker is doing right now, in memory that it shares with its host.

A worker that hangs or dies can tell nothing; what it wrote here before is still there.
"""

from __future__ import annotations

import mmap
import os
import tempfile

__all__ = ["NUMBER", "REVIVING", "SINCE", "STOP", "STOP_ALL", "Heartbeat", "new_heartbeat"]

NUMBER, SINCE, STOP, REVIVING = range(4)
"""Cells. The number of the command being done (from 1; 0: none) and the monotonic second when it
began, written by the worker, the number last; the number of the command that the host wants
stopped, or STOP_ALL; whether an episode is being restored."""

STOP_ALL = -1.0

_BYTES = 8 * 4


class Heartbeat:
    """The four numbers of one worker. Keeps a descriptor of its own."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _BYTES)
        self.cells = memoryview(self._memory).cast("d")

    def close(self) -> None:
        """Let the memory go."""
        self.cells.release()
        self._memory.close()


def new_heartbeat() -> int:
    """Return a descriptor of new memory, all 0, that has no name: the last to close it frees it."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("gem-heartbeat")
    else:  # pragma: no cover - not on Linux
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.truncate(descriptor, _BYTES)
    return descriptor
