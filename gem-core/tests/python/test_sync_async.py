"""Crossing between synchronous and asynchronous code, on real threads and loops."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from gem._python import sync_async
from gem._python.sync_async import in_thread, is_awaitable, on_background, wait_for
from gem.errors import EnvUsageError


async def answer(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


def until(condition: Any) -> None:
    """Wait for another thread, at most twenty seconds."""
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit
        threading.Event().wait(0.001)


def test_awaitables_are_told_from_values() -> None:
    class Ready:
        def __await__(self) -> Iterator[None]:
            yield from ()

    coroutine = answer(1)
    assert is_awaitable(coroutine)
    assert is_awaitable(Ready())
    assert not is_awaitable(answer)
    assert not is_awaitable(("a", {}))
    assert not is_awaitable(Ready)
    coroutine.close()


def test_wait_for_returns_the_result() -> None:
    assert wait_for(answer(3)) == 3


def test_wait_for_takes_any_awaitable() -> None:
    class Ready:
        def __await__(self) -> Generator[Any, None, int]:
            yield from asyncio.sleep(0).__await__()
            return 4

    assert wait_for(Ready()) == 4


def test_wait_for_raises_what_was_raised() -> None:
    async def fail() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        wait_for(fail())


def test_wait_for_uses_one_background_thread() -> None:
    async def where() -> threading.Thread:
        return threading.current_thread()

    thread = wait_for(where())
    assert thread is wait_for(where())
    assert thread.daemon
    assert thread is not threading.main_thread()


def test_wait_for_works_inside_another_loop() -> None:
    async def outer() -> Any:
        return wait_for(answer(5))

    assert asyncio.run(outer()) == 5


def test_wait_for_on_the_background_loop_is_refused() -> None:
    async def coroutine() -> None:
        wait_for(answer(1))

    async def future() -> None:
        wait_for(asyncio.get_running_loop().create_future())

    for misuse in (coroutine, future):
        with pytest.raises(EnvUsageError, match="wait for itself for ever"):
            wait_for(misuse())
    assert wait_for(answer(6)) == 6


def is_asleep(thread: threading.Thread) -> bool:
    """A signal that comes just before a thread falls asleep does not wake it."""
    state = Path(f"/proc/self/task/{thread.native_id}/stat").read_text(encoding="utf-8")
    assert thread.ident is not None
    waits = sys._current_frames()[thread.ident].f_code.co_name == "wait"
    return waits and state.rpartition(")")[2].split()[0] == "S"


@pytest.mark.skipif(sys.platform != "linux", reason="what a thread does is seen in /proc")
def test_an_interrupt_cancels_what_is_waited_for() -> None:
    cancelled = threading.Event()
    main = threading.get_ident()
    waiting = threading.current_thread()

    async def interrupt() -> None:
        while not is_asleep(waiting):
            await asyncio.sleep(0)
        signal.pthread_kill(main, signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(KeyboardInterrupt):
        wait_for(interrupt())
    assert cancelled.wait(60)


def test_in_thread_returns_the_result_from_a_daemon_thread() -> None:
    thread = asyncio.run(in_thread(threading.current_thread))
    assert thread.daemon
    assert thread is not threading.current_thread()
    assert asyncio.run(in_thread(max, 3, 9)) == 9


def test_in_thread_raises_what_was_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_thread(lambda: 1 // 0))


def test_in_thread_carries_even_an_exit() -> None:
    async def leave() -> str:
        try:
            await in_thread(sys.exit, 3)
        except SystemExit as error:
            return f"left with {error.code}"
        raise AssertionError

    assert asyncio.run(leave()) == "left with 3"


def test_in_thread_carries_stop_iteration_as_a_runtime_error() -> None:
    with pytest.raises(RuntimeError, match="StopIteration left a blocking call") as caught:
        asyncio.run(in_thread(next, iter(())))
    assert isinstance(caught.value.__cause__, StopIteration)


def test_calls_run_at_the_same_time_and_their_threads_are_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sync_async, "_IDLE_S", 60.0)
    barrier = threading.Barrier(8)

    def meet() -> threading.Thread:
        barrier.wait(60)
        return threading.current_thread()

    async def all_at_once() -> set[threading.Thread]:
        return set(await asyncio.gather(*(in_thread(meet) for _ in range(8))))

    first = asyncio.run(all_at_once())
    assert len(first) == 8
    until(lambda: len(sync_async._threads._idle) >= 8)
    assert asyncio.run(all_at_once()) & first


def test_an_abandoned_call_costs_only_its_thread() -> None:
    release, finished = threading.Event(), threading.Event()

    def hang() -> None:
        release.wait(60)
        finished.set()

    async def play() -> int:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(in_thread(hang), 0.01)
        others = await asyncio.gather(*(in_thread(int, "4") for _ in range(5)))
        release.set()
        await in_thread(finished.wait, 20)
        return sum(others)

    assert asyncio.run(play()) == 20


def test_an_abandoned_call_may_outlive_its_loop() -> None:
    release, thread = threading.Event(), []

    def hang() -> None:
        thread.append(threading.current_thread())
        release.wait(60)

    async def play() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(in_thread(hang), 0.01)

    asyncio.run(play())
    release.set()
    until(lambda: set(thread) & set(sync_async._threads._idle))  # it may begin only now


def test_an_idle_thread_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync_async, "_IDLE_S", 0.001)
    monkeypatch.setattr(sync_async, "_threads", sync_async._IdleThreads())
    thread = asyncio.run(in_thread(threading.current_thread))
    until(lambda: not thread.is_alive())
    assert not sync_async._threads._idle


def test_an_idle_thread_that_was_just_taken_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, done = threading.Event(), threading.Event()

    class Threads(sync_async._IdleThreads):
        def retire(self, thread: sync_async._BlockingThread) -> bool:
            may_go = super().retire(thread)
            asked.set()
            return may_go

    monkeypatch.setattr(sync_async, "_IDLE_S", 0.001)
    thread = sync_async._BlockingThread(Threads())  # taken: it never offered itself
    thread.start()
    assert asked.wait(60)  # it found its queue empty
    thread.calls.put(done.set)
    assert done.wait(60)


def test_a_forked_child_has_its_own_loop_and_threads() -> None:
    program = """
import asyncio, os, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads is the point
from gem._python.sync_async import in_thread, wait_for

async def one():
    return 1

assert wait_for(one()) == 1 and asyncio.run(in_thread(int, "2")) == 2
child = os.fork()
if child == 0:
    os._exit(wait_for(one()) + asyncio.run(in_thread(int, "2")))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    assert done.stdout.strip() == "3"


def test_a_coroutine_of_any_loop_can_run_on_the_background_loop() -> None:
    async def thread() -> str:
        return threading.current_thread().name

    async def twice() -> str:
        return await on_background(thread())

    assert asyncio.run(on_background(thread())) == "gem-background"
    assert asyncio.run(on_background(twice())) == "gem-background"


def test_cancelling_the_await_cancels_what_runs_on_the_background_loop() -> None:
    began, ended = threading.Event(), threading.Event()

    async def hang() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def leave() -> None:
        task = asyncio.ensure_future(on_background(hang()))
        await in_thread(began.wait, 30)
        task.cancel()

    asyncio.run(leave())

    assert ended.wait(30)
