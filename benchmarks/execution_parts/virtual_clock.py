"""An event loop whose time passes only while everybody waits."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["run_in_virtual_time"]

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Passes the time at once that a loop wants to wait."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("Everybody waits, and nobody for the clock.")
        self.now_s += max(0.0, timeout)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self, selector: _Selector) -> None:
        super().__init__(selector)
        self._virtual = selector

    def time(self) -> float:
        return self._virtual.now_s


def run_in_virtual_time(main: Coroutine[Any, Any, T]) -> T:
    """Run like `asyncio.run`. Nothing in it may wait for a thread, a process or a socket."""
    loop = _Loop(_Selector())
    try:
        return loop.run_until_complete(main)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
