"""How many calls run at a time."""

from __future__ import annotations

import asyncio

import gem
from gem_tools.slots import MOST_CALLS, slot


@gem.tool(max_concurrent=2)
def slow() -> None: ...


@gem.tool
def fast() -> None: ...


async def waiting(tool: gem.Tool, calls: int) -> tuple[list[asyncio.Task[None]], list[int]]:
    """Begin so many calls that do not end, and let every one go as far as it can."""
    begun: list[int] = []

    async def hold(number: int) -> None:
        async with slot(tool):
            begun.append(number)
            await asyncio.Event().wait()

    tasks = [asyncio.ensure_future(hold(number)) for number in range(calls)]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks, begun


async def end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_a_tool_s_own_bound_holds_on_every_loop() -> None:
    async def begin() -> int:
        tasks, begun = await waiting(slow, 5)
        await end(tasks)
        return len(begun)

    assert [asyncio.run(begin()), asyncio.run(begin())] == [2, 2]


def test_calls_that_wait_for_their_own_tool_hold_no_place_of_others() -> None:
    async def begin() -> int:
        slows, _ = await waiting(slow, 2 * MOST_CALLS)
        fasts, begun = await waiting(fast, MOST_CALLS - 2)
        await end([*slows, *fasts])
        return len(begun)

    assert asyncio.run(begin()) == MOST_CALLS - 2


def test_all_tools_together_have_a_bound() -> None:
    async def begin() -> int:
        tasks, begun = await waiting(fast, MOST_CALLS + 5)
        await end(tasks)
        return len(begun)

    assert asyncio.run(begin()) == MOST_CALLS
