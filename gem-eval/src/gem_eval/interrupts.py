"""Run a coroutine to its end, or to Ctrl-C: which cancels it between two steps, on every Python.

Before 3.11 `asyncio.run` lets an interrupt be raised anywhere: between the line that keeps an
episode and the one that counts it, or where a task is woken, which then never ends.
"""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

if sys.version_info >= (3, 11):
    from asyncio import Runner
else:
    from backports.asyncio.runner import Runner

__all__ = ["run_to_end"]

T = TypeVar("T")


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Return what it returns. Raises what it raises, and KeyboardInterrupt once it has ended."""
    with Runner() as runner:
        result: T = runner.run(work)
    return result
