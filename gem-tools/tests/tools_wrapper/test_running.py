"""The calls of one action side by side: order, bounds, deadlines, seeds."""

from __future__ import annotations

import asyncio
import threading

import gem

from .ledger import begun, called, results, search


@gem.tool
def told(context: gem.ToolContext) -> str:
    return f"{context.seed}"


def test_the_calls_of_one_action_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3)

    @gem.tool
    def meet() -> int:
        return meeting.wait(30)

    step = begun(meet).step(called(*[("meet", {})] * 3))

    assert {text for text, _ in results(step)} == {"0", "1", "2"}


def test_a_tool_s_own_bound_is_kept_and_results_stay_in_order() -> None:
    running = [0]
    most = [0]

    @gem.tool(max_concurrent=1)
    async def alone(number: int) -> int:
        running[0] += 1
        most[0] = max(most[0], running[0])
        await asyncio.sleep(0)
        running[0] -= 1
        return number

    step = begun(alone).step(called(*[("alone", {"number": n}) for n in range(5)]))

    assert [text for text, _ in results(step)] == ["0", "1", "2", "3", "4"]
    assert most == [1]


def test_a_call_that_hangs_costs_only_itself() -> None:
    freed = threading.Event()

    @gem.tool
    def hang() -> None:
        freed.wait(60)

    # What needs no thread is done by when any deadline is looked at.
    step = begun(hang, search, timeout_s=0.05).step(
        called(("hang", {}), ("search", {"query": "gem"}))
    )
    freed.set()

    assert results(step) == [
        ("hang was stopped after 0.05 s.", True),
        ("Nothing on gem.", False),
    ]


def test_a_seed_is_fixed_by_the_episode_and_the_call() -> None:
    ask = called(("told", {}), ("told", {}))
    env = begun(told)
    other = begun(told)

    first = env.step(ask)
    again = other.step(ask)
    later = env.step(ask)

    assert results(first) == results(again)
    assert len({text for text, _ in results(first) + results(later)}) == 4
