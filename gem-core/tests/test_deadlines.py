"""Deadlines: a late call is lost, whatever it does, and one timer serves for all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from gem.deadlines import Abandon, LateError, Limit, Sweeper, Watch

SHORT_S, LONG_S = 0.01, 60.0


def watch(abandon: Abandon = lambda task: None) -> Watch:
    task = asyncio.current_task()
    assert task is not None
    return Watch(task, abandon)


async def value(found: Any = 7) -> Any:
    return found


async def raising(error: BaseException) -> None:
    raise error


def never() -> Coroutine[Any, Any, Any]:
    return asyncio.Event().wait()


def run(test: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(test())


def test_a_call_in_time_returns_what_it_returns() -> None:
    async def test() -> Any:
        return await Sweeper().limit(LONG_S).within(watch(), value())

    assert run(test) == 7


def test_a_late_call_is_cancelled() -> None:
    cancelled: list[bool] = []

    async def call() -> None:
        try:
            await never()
        finally:
            cancelled.append(True)

    async def test() -> None:
        limit = Sweeper().limit(SHORT_S)
        with pytest.raises(LateError, match=r"not within 0\.01 s") as late:
            await limit.within(watch(), call())
        assert late.value.limit is limit

    run(test)
    assert cancelled == [True]


@pytest.mark.parametrize("error", [TimeoutError("its own"), asyncio.CancelledError(), SystemExit()])
def test_an_error_of_the_call_is_not_a_deadlines(error: BaseException) -> None:
    async def test() -> None:
        with pytest.raises(type(error)):
            await Sweeper().limit(LONG_S).within(watch(), raising(error))

    run(test)


@pytest.mark.parametrize("error", [None, ValueError("late"), SystemExit(3)])
def test_what_a_late_call_makes_of_its_cancellation_is_lost(error: BaseException | None) -> None:
    async def call() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await never()
        if error is not None:
            raise error

    async def test() -> None:
        with pytest.raises(LateError):
            await Sweeper().limit(SHORT_S).within(watch(), call())

    run(test)


def test_a_cancellation_from_outside_passes_through() -> None:
    async def test() -> None:
        async def play() -> None:
            await Sweeper().limit(LONG_S).within(watch(), never())

        task = asyncio.ensure_future(play())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(test)


def test_a_task_goes_on_after_a_late_call_as_if_never_cancelled() -> None:
    async def test() -> Any:
        limit, calls = Sweeper().limit(SHORT_S), watch()
        for _ in range(2):
            with pytest.raises(LateError):
                await limit.within(calls, never())
        assert getattr(calls.task, "cancelling", int)() == 0  # from Python 3.11 on
        return await limit.within(calls, value())

    assert run(test) == 7


def test_a_call_that_goes_on_all_the_same_is_abandoned_once() -> None:
    abandoned: list[asyncio.Task[Any]] = []

    async def test() -> None:
        end = asyncio.Event()

        async def call() -> None:
            while not end.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await end.wait()

        def abandon(task: asyncio.Task[Any]) -> None:
            abandoned.append(task)
            end.set()

        with pytest.raises(LateError):
            await Sweeper().limit(SHORT_S).within(watch(abandon), call())

    run(test)
    assert len(abandoned) == 1


def test_the_outer_of_two_limits_may_be_the_shorter() -> None:
    async def test() -> None:
        sweeper = Sweeper()
        inner, outer = sweeper.limit(LONG_S), sweeper.limit(SHORT_S)
        with pytest.raises(LateError) as late:
            await outer.within(watch(), inner.within(watch(), never()))
        assert late.value.limit is outer

    run(test)


def test_each_of_many_calls_is_swept_in_its_turn() -> None:
    async def test() -> None:
        limit, outcomes = Sweeper().limit(SHORT_S), []

        async def play(waits: asyncio.Event) -> None:
            try:
                await limit.within(watch(), waits.wait())
            except LateError:
                outcomes.append("late")
            else:
                outcomes.append("in time")

        events = [asyncio.Event() for _ in range(9)]
        plays = [asyncio.ensure_future(play(event)) for event in events]
        await asyncio.sleep(0)
        for event in events[::3]:
            event.set()
        plays.append(asyncio.ensure_future(play(asyncio.Event())))  # due after the others
        await asyncio.gather(*plays)
        assert sorted(outcomes) == ["in time"] * 3 + ["late"] * 7

    run(test)


def test_an_episode_that_never_waits_is_late_when_it_is_checked() -> None:
    async def test() -> None:
        limit, whole = Sweeper().limit(LONG_S), watch()

        async def call(limit: Limit) -> None:
            limit.check(whole)
            whole.due = 0.0
            limit.check(whole)

        with pytest.raises(LateError):
            await limit.within(whole, call(limit))

    run(test)


class CountingLoop(asyncio.SelectorEventLoop):
    """Counts its timers."""

    timers = 0

    def call_at(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        self.timers += 1
        return super().call_at(*args, **kwargs)


def test_a_thousand_calls_take_one_timer() -> None:
    async def test() -> None:
        sweeper = Sweeper()
        limits = [sweeper.limit(LONG_S), sweeper.limit(2 * LONG_S)]

        async def play() -> None:
            calls = watch()
            for limit in limits * 5:
                await limit.within(calls, asyncio.sleep(0))

        await asyncio.gather(*(play() for _ in range(100)))
        sweeper.close()

    loop = CountingLoop()
    try:
        loop.run_until_complete(test())
        assert loop.timers == 1
    finally:
        loop.close()
