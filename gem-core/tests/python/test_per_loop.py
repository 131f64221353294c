"""One value for each event loop, closed with it, on real loops and threads."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import AsyncGenerator

import pytest

from gem.env import PerLoop, in_thread, wait_for

BACKGROUND = "gem-background"


class Doors:
    """Opens numbered values, and writes down on which thread each is opened and closed."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.one_is_closed = threading.Event()

    async def open(self) -> AsyncGenerator[int, None]:
        self.opened.append(threading.current_thread().name)
        try:
            yield len(self.opened)
        finally:
            self.closed.append(threading.current_thread().name)
            self.one_is_closed.set()


def test_a_loop_has_one_value_and_closes_it_as_it_ends() -> None:
    doors = Doors()
    values = PerLoop(doors.open)

    async def use() -> list[int]:
        return [await values.get(), await values.get()]

    assert asyncio.run(use()) == [1, 1]
    assert doors.closed == ["MainThread"]
    assert asyncio.run(use()) == [2, 2]  # another loop, after the end of the first
    assert doors.closed == ["MainThread"] * 2


def test_calls_of_one_moment_share_a_value() -> None:
    values = PerLoop(Doors().open)

    async def crowd() -> list[int]:
        return await asyncio.gather(*(values.get() for _ in range(9)))

    assert asyncio.run(crowd()) == [1] * 9


def test_closing_reaches_the_value_of_every_loop_on_its_own_thread() -> None:
    doors = Doors()
    values = PerLoop(doors.open)

    async def close() -> int:
        await values.get()
        await values.aclose()
        assert sorted(doors.closed) == ["MainThread", BACKGROUND]
        return await values.get()  # a value of its own, opened anew

    wait_for(values.get())
    assert asyncio.run(close()) == 3


def test_a_loop_that_is_held_up_is_not_waited_for_and_closes_its_value_later() -> None:
    doors = Doors()
    values = PerLoop(doors.open, closing_timeout_s=0.05)
    held_up, may_go_on = threading.Event(), threading.Event()

    async def hold_up() -> None:
        await values.get()
        held_up.set()
        await asyncio.sleep(0)
        may_go_on.wait(30)  # holds up its loop
        while not doors.closed:
            await asyncio.sleep(0)

    other = threading.Thread(target=asyncio.run, args=[hold_up()], name="held up")
    other.start()
    try:
        assert held_up.wait(30)
        asyncio.run(values.aclose())
        assert doors.closed == []
    finally:
        may_go_on.set()
        other.join(30)
    assert doors.closed == ["held up"]


def test_what_fails_to_close_on_another_loop_is_raised() -> None:
    async def open_value() -> AsyncGenerator[str, None]:
        try:
            yield "open"
        finally:
            raise OSError("no way out")

    values = PerLoop(open_value)
    wait_for(values.get())

    with pytest.raises(OSError, match="no way out"):
        asyncio.run(values.aclose())


def test_a_value_of_a_loop_that_has_ended_is_closed_by_that_loop_alone() -> None:
    doors = Doors()
    values = PerLoop(doors.open)
    asyncio.run(values.get())

    asyncio.run(values.aclose())

    assert doors.closed == ["MainThread"]


def test_what_nobody_closes_is_closed_when_the_last_reference_is_gone() -> None:
    doors = Doors()
    values = PerLoop(doors.open)
    wait_for(values.get())
    asyncio.run(values.get())
    doors.one_is_closed.clear()

    del values
    gc.collect()

    assert doors.one_is_closed.wait(30)
    assert doors.closed == ["MainThread", BACKGROUND]  # nothing twice


def test_what_fails_to_open_is_tried_anew() -> None:
    failures = [OSError("no room")]

    async def open_value() -> AsyncGenerator[str, None]:
        if failures:
            raise failures.pop()
        yield "open"

    values = PerLoop(open_value)

    async def use() -> str:
        with pytest.raises(OSError, match="no room"):
            await values.get()
        return await values.get()

    assert asyncio.run(use()) == "open"


def test_a_forked_process_opens_values_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    doors = Doors()
    values = PerLoop(doors.open)

    async def fork() -> list[int]:
        found = [await values.get()]
        monkeypatch.setattr(os, "getpid", lambda: -1)  # the same memory, another process
        await values.aclose()
        assert doors.closed == []  # that is for the parent to do
        return [*found, await values.get()]

    assert asyncio.run(fork()) == [1, 2]


def test_loops_come_and_go_while_others_ask() -> None:
    doors = Doors()
    values = PerLoop(doors.open)

    async def use() -> list[int]:
        first = await values.get()
        other = await in_thread(asyncio.run, values.get())
        return [first, other, await values.get()]

    assert asyncio.run(use()) == [1, 2, 1]
