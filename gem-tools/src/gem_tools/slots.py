"""How many calls run at a time: first the tool's own bound, then one for all tools together.

In the other order, slow calls that wait for their tool would hold places that fast ones need.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from gem.tools import Tool

__all__ = ["MOST_CALLS", "slot"]

MOST_CALLS = 64
"""Calls of all tools that run at a time in a process."""

_OfTools = WeakKeyDictionary[Tool, asyncio.Semaphore]


class _Slots:
    """The bounds on one event loop."""

    def __init__(self) -> None:
        self.all = asyncio.Semaphore(MOST_CALLS)
        self.of: _OfTools = WeakKeyDictionary()


_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, _Slots] = WeakKeyDictionary()


@asynccontextmanager
async def slot(tool: Tool) -> AsyncIterator[None]:
    """Wait until a call of this tool may begin, and keep its place until it is over."""
    slots = _slots.setdefault(asyncio.get_running_loop(), _Slots())
    if tool.max_concurrent is None:
        async with slots.all:
            yield
        return
    own = slots.of.setdefault(tool, asyncio.Semaphore(tool.max_concurrent))
    async with own, slots.all:
        yield
