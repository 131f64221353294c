"""Worker processes that hold many environments each, and answer batches of plain tuples."""

from __future__ import annotations

from gem.workers.awaiting import AsyncWorkers
from gem.workers.messages import ASK, DROP, MAKE, RESET, STEP, Failure
from gem.workers.pool import Pool
from gem.workers.processes import WorkerPool

__all__ = ["ASK", "DROP", "MAKE", "RESET", "STEP", "AsyncWorkers", "Failure", "Pool", "WorkerPool"]
