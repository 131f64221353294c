"""How many requests may be in flight, decided without any server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from gem_eval.policies.throttle import Throttle

Play = Callable[[Throttle], Awaitable[Any]]


def played(play: Play) -> Any:
    async def run() -> Any:
        return await play(Throttle())

    return asyncio.run(run())


async def several(throttle: Throttle, count: int) -> list[int]:
    return [await throttle.begin() for _ in range(count)]


async def through(throttle: Throttle) -> int:
    """Return how many may begin at once now, and let none of them end."""
    begun = 0

    async def begin() -> None:
        nonlocal begun
        await throttle.begin()
        begun += 1

    tasks = [asyncio.ensure_future(begin()) for _ in range(100)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return begun


async def narrowed(throttle: Throttle, count: int) -> list[int]:
    """Have so many in flight, all of which the server refuses, and that have ended."""
    turns = await several(throttle, count)
    for turn in turns:
        throttle.overloaded(turn)
    for _ in turns:
        throttle.end()
    return turns


def test_any_number_is_let_through_at_first() -> None:
    assert played(through) == 100


def test_half_is_let_through_once_a_round_trip() -> None:
    async def play(throttle: Throttle) -> int:
        await narrowed(throttle, 64)  # 64 refusals, and one round trip
        return await through(throttle)

    assert played(play) == 32


def test_the_next_round_trip_halves_again() -> None:
    async def play(throttle: Throttle) -> int:
        await narrowed(throttle, 64)
        await narrowed(throttle, 32)
        return await through(throttle)

    assert played(play) == 16


def test_one_is_always_let_through() -> None:
    async def play(throttle: Throttle) -> int:
        for count in (8, 4, 2, 1, 1, 1):
            await narrowed(throttle, count)
        return await through(throttle)

    assert played(play) == 1


def test_half_is_of_what_was_in_flight() -> None:
    async def play(throttle: Throttle) -> int:
        turns = await several(throttle, 64)
        for _ in range(54):
            throttle.end()
        throttle.overloaded(turns[0])
        for _ in range(10):
            throttle.end()
        return await through(throttle)

    assert played(play) == 5


def test_answers_raise_the_number_by_a_sixteenth_a_round_trip() -> None:
    async def play(throttle: Throttle) -> int:
        await narrowed(throttle, 64)
        for turn in await several(throttle, 32):
            throttle.answered(turn)
        for _ in range(32):
            throttle.end()
        return await through(throttle)

    assert played(play) == 35  # nearly 4 more: each answer counts as one of a few more already


def test_a_small_number_grows_by_one_a_round_trip() -> None:
    async def play(throttle: Throttle) -> int:
        await narrowed(throttle, 4)
        await narrowed(throttle, 2)
        throttle.answered(await throttle.begin())
        throttle.end()
        return await through(throttle)

    assert played(play) == 2


def test_answers_lift_the_limit_in_the_end() -> None:
    async def play(throttle: Throttle) -> tuple[str, int]:
        await narrowed(throttle, 64)
        for _ in range(1000):
            throttle.answered(await throttle.begin())
            throttle.end()
        return throttle.state, await through(throttle)

    assert played(play) == ("", 100)


def test_answers_to_what_was_sent_before_say_nothing() -> None:
    async def play(throttle: Throttle) -> int:
        turns = await several(throttle, 64)
        throttle.overloaded(turns[0])
        for turn in turns:
            throttle.answered(turn)
        for _ in turns:
            throttle.end()
        return await through(throttle)

    assert played(play) == 32


def test_backing_off_helps_who_was_not_alone() -> None:
    async def play(throttle: Throttle) -> list[bool]:
        turns = await several(throttle, 2)
        helps = [throttle.overloaded(turn) for turn in turns]
        throttle.end()
        throttle.end()
        alone = await throttle.begin()
        return [*helps, throttle.overloaded(alone)]

    assert played(play) == [True, True, False]


def test_who_asks_alone_is_never_throttled() -> None:
    async def play(throttle: Throttle) -> str:
        await narrowed(throttle, 1)
        return throttle.state

    assert played(play) == ""


def test_who_waits_goes_on_in_order() -> None:
    async def play(throttle: Throttle) -> list[int]:
        turns = await several(throttle, 2)
        throttle.overloaded(turns[0])
        throttle.end()
        order: list[int] = []

        async def ask(number: int) -> None:
            await throttle.begin()
            order.append(number)
            throttle.end()

        asking = [asyncio.ensure_future(ask(number)) for number in range(5)]
        await asyncio.sleep(0)
        assert order == []
        assert throttle.state == "throttled to 1 at once, 5 wait for their turn"
        throttle.end()
        await asyncio.wait(asking)
        return order

    assert played(play) == [0, 1, 2, 3, 4]


def test_who_is_cancelled_while_waiting_leaves_the_turn_to_the_next() -> None:
    async def play(throttle: Throttle) -> str:
        turns = await several(throttle, 2)
        throttle.overloaded(turns[0])
        throttle.end()
        first, second = (asyncio.ensure_future(throttle.begin()) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        throttle.end()
        await second
        return throttle.state

    assert played(play) == "throttled to 1 at once"


def test_who_is_cancelled_as_its_turn_comes_leaves_it_to_the_next() -> None:
    async def play(throttle: Throttle) -> str:
        turns = await several(throttle, 2)
        throttle.overloaded(turns[0])
        throttle.end()
        first, second = (asyncio.ensure_future(throttle.begin()) for _ in range(2))
        await asyncio.sleep(0)
        throttle.end()  # this is the first one's turn now
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        await second
        return throttle.state

    assert played(play) == "throttled to 1 at once"


def test_nobody_begins_before_the_time_that_the_server_names(skipping_loop: Any) -> None:
    async def play() -> tuple[bool, str]:
        throttle = Throttle()
        turns = await several(throttle, 2)
        throttle.overloaded(turns[0], 1000.0)
        throttle.overloaded(turns[1], 5000.0)  # the later time counts
        throttle.overloaded(turns[1], 2000.0)
        throttle.end()
        throttle.end()
        asking = asyncio.ensure_future(throttle.begin())
        skipping_loop.skipped_s += 4000.0
        for _ in range(3):  # rounds of the loop: for the task, a timer that is due, and its waiter
            await asyncio.sleep(0)
        state = throttle.state
        has_begun = asking.done()
        skipping_loop.skipped_s += 1000.0
        await asking
        return has_begun, state

    state = "throttled to 1 at once, 1 wait for their turn, paused, as the server asks"
    assert skipping_loop.run_until_complete(play()) == (False, state)


def test_a_pause_alone_is_said() -> None:
    async def play(throttle: Throttle) -> str:
        throttle.overloaded(await throttle.begin(), 60.0)
        return throttle.state

    assert played(play) == "paused, as the server asks"
