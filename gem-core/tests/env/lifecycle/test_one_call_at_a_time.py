"""One call at a time: another thread or task, and a call from inside a step, are refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import EnvBusy, EnvClosed, ResetNeeded

from .envs import Dice, Started, going


class Slow(Env):
    """Waits inside each step until it is told to go on."""

    shared = ("entered", "go_on")

    def __init__(self) -> None:
        self.entered, self.go_on = threading.Event(), threading.Event()

    def reset(self, seed: int | None = None) -> Started:
        return "", {}

    def step(self, action: str) -> Step:
        self.entered.set()
        assert self.go_on.wait(60)
        return going()


@pytest.fixture
def slow() -> Iterator[Slow]:
    env = Slow()
    yield env
    env.go_on.set()


@pytest.mark.parametrize("wrap", [lambda env: env, Wrapper, lambda env: Wrapper(Wrapper(env))])
def test_a_second_call_from_another_thread_is_refused(slow: Slow, wrap: Any) -> None:
    env: Env = wrap(slow)
    env.reset()
    snapshot = env.snapshot()
    thread = threading.Thread(target=env.step, args=("a",))
    thread.start()
    assert slow.entered.wait(60)
    for call in (lambda: env.step("b"), env.reset, env.snapshot, env.fork):
        with pytest.raises(EnvBusy, match="one call at a time"):
            call()
    with pytest.raises(EnvBusy):
        env.restore(snapshot)
    slow.go_on.set()
    thread.join()
    env.step("c")
    assert env.turn == 2


def test_another_thread_may_close_an_environment_that_hangs(slow: Slow) -> None:
    slow.reset()
    thread = threading.Thread(target=slow.step, args=("a",))
    thread.start()
    assert slow.entered.wait(60)
    slow.close()
    slow.go_on.set()
    thread.join()
    with pytest.raises(EnvClosed):
        slow.step("b")


class Waiting(Env):
    async def areset(self, seed: int | None = None) -> Started:
        await asyncio.sleep(0)
        return "", {}

    async def astep(self, action: str) -> Step:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("wrap", [lambda env: env, Wrapper])
def test_a_second_task_is_refused_and_a_cancellation_ends_the_episode(wrap: Any) -> None:
    async def play() -> None:
        env: Env = wrap(Waiting())
        resets = [asyncio.create_task(env.areset(seed=1)) for _ in range(2)]
        assert await resets[0] == ("", {})
        with pytest.raises(EnvBusy):
            await resets[1]
        task = asyncio.create_task(env.astep("a"))
        await asyncio.sleep(0)
        with pytest.raises(EnvBusy):
            await env.astep("b")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ResetNeeded):
            await env.astep("c")
        await env.areset()

    asyncio.run(play())


def test_a_second_call_of_a_layer_that_waits_in_a_hook_is_refused() -> None:
    class Asks(Wrapper):
        async def on_action(self, action: str) -> str:
            await asyncio.sleep(0)
            return action

    async def play() -> None:
        env = Asks(Dice())
        await env.areset()
        task = asyncio.create_task(env.astep("a"))
        await asyncio.sleep(0)
        with pytest.raises(EnvBusy):
            await env.astep("b")
        with pytest.raises(EnvBusy):
            env.snapshot()
        assert (await task).observation == "a"
        assert env.turn == 1

    asyncio.run(play())


def test_a_call_of_itself_from_inside_a_step_is_refused() -> None:
    class Recursive(Dice):
        def step(self, action: str) -> Step:
            return self.step(action)

    env = Recursive()
    env.reset()
    with pytest.raises(EnvBusy):
        env.step("a")
