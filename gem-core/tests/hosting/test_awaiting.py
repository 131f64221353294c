"""Workers awaited: one coroutine a command, one message for all that are given together."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

import gem
from gem.errors import EnvBusy, EnvClosed, GemError, ResetNeeded
from gem.hosting import ASK, DROP, RESET, STEP, Failure, Host
from gem.hosting._awaiting import AwaitedHost
from gem.hosting._messages import Command
from gem.hosting._processes import ProcessHost
from gem.hosting._recipes import Recipe
from gem.hosting._threads import ThreadHost

HANGS_S = 10.0  # what a close waits for, unless the test lets it go on

Scenario = Callable[[AwaitedHost], Awaitable[Any]]


@asynccontextmanager
async def workers(**options: Any) -> AsyncIterator[AwaitedHost]:
    workers = AwaitedHost(ProcessHost(2, start_method="fork", **options))
    try:
        yield workers
    finally:
        await workers.aclose()


def run(scenario: Scenario, **options: Any) -> Any:
    """Run a scenario with workers on an event loop of its own."""

    async def main() -> Any:
        async with workers(**options) as mine:
            return await scenario(mine)

    return asyncio.run(main())


async def started(mine: AwaitedHost, seed: int = 1, name: str = "Walk") -> int:
    slot = mine.host.open(Recipe(f"trouble:{name}"))
    await mine.do((RESET, slot, seed))
    return slot


async def played(mine: AwaitedHost, seed: int) -> list[Any]:
    slot = await started(mine, seed)
    return [(await mine.do((STEP, slot, action)))[:4] for action in "abc"]


def test_coroutines_play_their_episodes_side_by_side() -> None:
    async def scenario(mine: AwaitedHost) -> Any:
        return await asyncio.gather(*(played(mine, seed) for seed in range(8)))

    episodes = run(scenario)

    with gem.make("trouble:Walk") as env:
        for seed, episode in enumerate(episodes):
            env.reset(seed=seed)
            assert episode == [tuple(env.step(action))[:4] for action in "abc"]


def test_commands_given_together_travel_together(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    async def scenario(mine: AwaitedHost) -> None:
        slots = [mine.host.open(Recipe("trouble:Walk")) for _ in range(6)]
        submit = mine.host.submit

        def counted(commands: list[Command]) -> None:
            sizes.append(len(commands))
            submit(commands)

        monkeypatch.setattr(mine.host, "submit", counted)
        await asyncio.gather(*(mine.do((RESET, slot, 1)) for slot in slots))

    run(scenario)

    assert sizes == [6]


def test_a_command_out_of_turn_is_refused_alone() -> None:
    async def scenario(mine: AwaitedHost) -> Any:
        well, new = await started(mine), mine.host.open(Recipe("trouble:Walk"))
        commands = [(STEP, well, "a"), (STEP, new, "a"), (STEP, well, "a"), (STEP, 99, "a")]
        return await asyncio.gather(*map(mine.do, commands), return_exceptions=True)

    kinds = [type(outcome) for outcome in run(scenario)]

    assert kinds == [tuple, ResetNeeded, EnvBusy, EnvClosed]


def test_a_fault_is_an_outcome_and_others_go_on() -> None:
    async def scenario(mine: AwaitedHost) -> Any:
        slots = [await started(mine) for _ in range(3)]
        commands = [(STEP, slots[0], "a"), (STEP, slots[1], "crash"), (STEP, slots[2], object())]
        return await asyncio.gather(*map(mine.do, commands))

    well, crashed, refused = run(scenario)

    assert well[0].startswith("0: a")
    assert (crashed.reason, refused.reason) == ("worker_lost", "env_error")


@pytest.mark.parametrize("harm", ["hang", "deaf"])
def test_a_deadline_is_kept_while_nothing_else_happens(harm: str) -> None:
    async def scenario(mine: AwaitedHost) -> Any:
        return await mine.do((STEP, await started(mine), harm))

    assert run(scenario, timeout_s=0.5) == Failure(
        "step_timeout", "TimeoutError: the environment did not answer within 0.5 s"
    )


def test_a_cancelled_command_is_left_behind_and_its_slot_dropped_after_it() -> None:
    async def scenario(mine: AwaitedHost) -> None:
        slot = await started(mine)
        task = asyncio.ensure_future(mine.do((STEP, slot, "hang")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(EnvBusy):
            await mine.do((ASK, slot, "solve"))
        mine.drop(slot)
        assert isinstance(mine.host, ProcessHost)
        while slot in mine.host._slots:
            await asyncio.sleep(0.001)

    run(scenario)


def test_what_is_cancelled_before_it_is_sent_is_never_sent() -> None:
    async def scenario(mine: AwaitedHost) -> Any:
        slot = await started(mine)
        mine.do((STEP, slot, "crash")).cancel()
        return await mine.do((STEP, slot, "a"))

    assert run(scenario)[0].startswith("0: a")


def test_an_idle_slot_is_dropped_at_once() -> None:
    async def scenario(mine: AwaitedHost) -> Any:
        slot = await started(mine)
        mine.drop(slot)
        return await asyncio.gather(mine.do((DROP, slot)), return_exceptions=True)

    assert isinstance(run(scenario)[0], (EnvBusy, EnvClosed))  # being dropped, or gone already


def test_closing_cancels_what_is_awaited() -> None:
    async def scenario(mine: AwaitedHost) -> bool:
        slot = await started(mine)
        sent = asyncio.ensure_future(mine.do((STEP, slot, "hang")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        queued = mine.do((ASK, slot, "solve"))
        await mine.aclose()
        await asyncio.wait({sent, queued})
        return sent.cancelled() and queued.cancelled()

    assert run(scenario, close_timeout_s=0.01)


def test_workers_that_nobody_used_are_closed_too() -> None:
    async def scenario(mine: AwaitedHost) -> Host:
        return mine.host

    with pytest.raises(EnvClosed):
        run(scenario).collect()


def test_all_who_wait_are_told_when_the_pool_cannot_go_on() -> None:
    async def scenario(mine: AwaitedHost) -> Any:
        slots = [await started(mine) for _ in range(2)]
        waiting = [asyncio.ensure_future(mine.do((STEP, slot, "hang"))) for slot in slots]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting[0].cancel()
        assert isinstance(mine.host, ProcessHost)
        os.kill(mine.host._supervisor._forked, signal.SIGKILL)
        return await asyncio.gather(*waiting, return_exceptions=True)

    cancelled, told = run(scenario)

    assert isinstance(cancelled, asyncio.CancelledError)
    assert isinstance(told, GemError)


def test_what_is_given_up_while_the_host_closes_is_closed_once() -> None:
    closed: list[str] = []
    may_close = threading.Event()

    class SlowToClose(gem.Env):
        def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            return "", {}

        def step(self, action: Any) -> gem.Step:
            return gem.Step("")

        def close(self) -> None:
            may_close.wait(HANGS_S)
            closed.append("once")

    async def scenario() -> asyncio.Future[Any]:
        host = ThreadHost(most_threads=1, timeout_s=None)
        mine = AwaitedHost(host)
        slot = host.open(SlowToClose)
        await mine.do((RESET, slot, 1, {}, 0))
        closing = asyncio.ensure_future(mine.aclose())
        while not (host._busy or closing.done()):  # until the environment is being closed
            await asyncio.sleep(0)
        mine.drop(slot)
        asked_late = mine.do((ASK, slot, "solve"))
        await asyncio.sleep(0)
        may_close.set()
        await closing
        return asked_late

    asked_late = asyncio.run(scenario())

    assert asked_late.cancelled()
    assert closed == ["once"]
