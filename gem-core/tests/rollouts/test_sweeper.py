"""Deadlines: a late call is lost, whatever it does, and one timer serves for all."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from gem.rollouts._deadlines import Abandon, LateError, Limit, Sweeper, Watch

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


async def within(limit: Limit, watch: Watch, call: Coroutine[Any, Any, Any]) -> Any:
    with watch.under(limit):
        return await call


def run(test: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(test())


def test_a_call_in_time_returns_what_it_returns() -> None:
    async def test() -> Any:
        return await within(Sweeper().limit(LONG_S), watch(), value())

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
            await within(limit, watch(), call())
        assert late.value.limit is limit

    run(test)
    assert cancelled == [True]


@pytest.mark.parametrize("error", [TimeoutError("its own"), asyncio.CancelledError(), SystemExit()])
def test_an_error_of_the_call_is_not_a_deadlines(error: BaseException) -> None:
    async def test() -> None:
        with pytest.raises(type(error)):
            await within(Sweeper().limit(LONG_S), watch(), raising(error))

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
            await within(Sweeper().limit(SHORT_S), watch(), call())

    run(test)


def test_a_cancellation_from_outside_passes_through() -> None:
    async def test() -> None:
        async def play() -> None:
            await within(Sweeper().limit(LONG_S), watch(), never())

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
                await within(limit, calls, never())
        assert getattr(calls.task, "cancelling", int)() == 0  # from Python 3.11 on
        return await within(limit, calls, value())

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
            await within(Sweeper().limit(SHORT_S), watch(abandon), call())

    run(test)
    assert len(abandoned) == 1


def test_the_outer_of_two_limits_may_be_the_shorter() -> None:
    async def test() -> None:
        sweeper = Sweeper()
        inner, outer = sweeper.limit(LONG_S), sweeper.limit(SHORT_S)
        with pytest.raises(LateError) as late:
            await within(outer, watch(), within(inner, watch(), never()))
        assert late.value.limit is outer

    run(test)


def test_each_of_many_calls_is_swept_in_its_turn() -> None:
    async def test() -> None:
        limit, outcomes = Sweeper().limit(SHORT_S), []

        async def play(waits: asyncio.Event) -> None:
            try:
                await within(limit, watch(), waits.wait())
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
            await within(limit, whole, call(limit))

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
                await within(limit, calls, asyncio.sleep(0))

        await asyncio.gather(*(play() for _ in range(100)))
        sweeper.close()

    loop = CountingLoop()
    try:
        loop.run_until_complete(test())
        assert loop.timers == 1
    finally:
        loop.close()


# By a clock that stands still


class Clock(CountingLoop):
    """Has the time that a test says, and keeps what its timers were set to."""

    def __init__(self) -> None:
        self.now = 0.0
        self.alarms: list[float] = []
        super().__init__()

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        self.alarms.append(when)
        return super().call_at(when, *args, **kwargs)


def run_by_clock(
    test: Callable[[Clock], Coroutine[Any, Any, None]], clock_type: type[Clock] = Clock
) -> None:
    clock = clock_type()
    try:
        clock.run_until_complete(test(clock))
    finally:
        clock.close()


def waiting(abandoned: list[Watch] | None = None) -> Watch:
    """Return the watch of a task that waits for ever."""
    kept = [] if abandoned is None else abandoned
    made = Watch(asyncio.ensure_future(never()), lambda task: kept.append(made))
    return made


def test_a_call_is_late_at_its_very_deadline_and_not_before() -> None:
    async def test(clock: Clock) -> None:
        limit, call = Sweeper().limit(2.0), watch()
        limit.check(call)  # under no limit yet
        with call.under(limit):
            clock.now = 1.875
            limit.check(call)
            clock.now = 2.0
            with pytest.raises(LateError):
                limit.check(call)

    run_by_clock(test)


def test_each_call_is_ended_at_its_deadline_and_then_abandoned_after_the_same_time() -> None:
    async def test(clock: Clock) -> None:
        limit, abandoned = Sweeper().limit(2.0), list[Watch]()
        first, second = waiting(abandoned), waiting(abandoned)
        first.under(limit)
        clock.now = 1.0
        second.under(limit)

        found = [limit.sweep(1.875), limit.sweep(2.0)]
        assert (first.is_late, second.is_late, found) == (True, False, [2.0, 3.0])
        found = [limit.sweep(3.0), limit.sweep(3.875)]
        assert (second.is_late, abandoned, found) == (True, [], [4.0, 4.0])
        found = [limit.sweep(4.0), limit.sweep(5.0)]
        assert (abandoned, found) == ([first, second], [5.0, math.inf])
        await asyncio.gather(first.task, second.task, return_exceptions=True)
        assert first.task.cancelled()

    run_by_clock(test)


def test_a_call_that_has_ended_is_watched_no_more() -> None:
    async def test(clock: Clock) -> None:
        limit, call = Sweeper().limit(2.0), watch()
        with call.under(limit):
            pass

        assert limit.sweep(2.0) == math.inf
        assert not call.is_late

    run_by_clock(test)


def test_a_watch_is_not_late_again_for_the_call_before() -> None:
    async def test(clock: Clock) -> None:
        limit, call = Sweeper().limit(2.0), watch()
        with pytest.raises(LateError):
            await within(limit, call, _overslept(clock, 2.0))
        with call.under(limit):
            limit.check(call)

    run_by_clock(test)


async def _overslept(clock: Clock, until: float) -> None:
    clock.now = until
    for _ in range(3):
        await asyncio.sleep(0)


def test_one_timer_is_set_to_what_is_due_first() -> None:
    async def test(clock: Clock) -> None:
        sweeper = Sweeper()
        slow, quick, other = (sweeper.limit(timeout_s) for timeout_s in (8.0, 2.0, 4.0))
        calls = [waiting() for _ in range(4)]
        calls[0].under(slow)
        calls[1].under(quick)
        calls[2].under(quick)  # due at the same time
        calls[3].under(other)
        assert clock.alarms == [8.0, 2.0]

        await _overslept(clock, 2.0)
        assert [call.is_late for call in calls] == [False, True, True, False]
        assert clock.alarms == [8.0, 2.0, 4.0]
        sweeper.close()
        await _overslept(clock, 20.0)
        assert not calls[3].is_late
        for call in calls:
            call.task.cancel()

    run_by_clock(test)


def test_no_timer_is_set_where_nothing_is_due() -> None:
    async def test(clock: Clock) -> None:
        sweeper = Sweeper()
        sweeper.arm(math.inf)
        sweeper.close()
        sweeper.close()
        assert clock.alarms == []
        assert sweeper.due == math.inf

    run_by_clock(test)


class EarlyClock(Clock):
    """Rings its timers a little before their time, as the resolution of a clock allows."""

    def call_at(self, when: float, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        self.alarms.append(when)
        return asyncio.SelectorEventLoop.call_at(self, self.now, *args, **kwargs)


def test_what_is_due_when_a_timer_rings_early_is_late() -> None:
    async def test(clock: Clock) -> None:
        limit, call = Sweeper().limit(2.0), waiting()
        call.under(limit)
        await _overslept(clock, 1.999)
        assert call.is_late
        call.task.cancel()

    run_by_clock(test, EarlyClock)
