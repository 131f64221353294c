"""Runs that are waited for: without a loop, beside one, and interrupted."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import random
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, EnvUsageError
from gem.testing.envs import Echo, Guess

WHO = contextvars.ContextVar("who", default="nobody")


def sampled(request: gem.Request) -> str:
    return random.Random(request.seed).choice(["\\boxed{1}", "\\boxed{2}", "\\boxed{3}"])


def places(episodes: list[gem.Episode]) -> list[tuple[int, int, int]]:
    return [(each.env_index, each.episode_index, each.repeat) for each in episodes]


async def started() -> list[gem.Episode]:
    return gem.run(sampled, [Guess, Echo], episodes=3, repeats=2)


def test_episodes_come_in_the_order_of_the_plan() -> None:
    order = [(env, episode, repeat) for env in (0, 1) for episode in range(3) for repeat in (0, 1)]

    episodes = gem.run(sampled, [Guess, Echo], episodes=3, repeats=2)

    assert places(episodes) == order
    assert [each.env_id for each in episodes[::6]] == [
        "gem.testing.envs:Guess",
        "gem.testing.envs:Echo",
    ]


def test_a_running_loop_makes_no_difference() -> None:
    alone = gem.run(sampled, [Guess, Echo], episodes=3, repeats=2)

    beside = asyncio.run(started())

    assert [each.fingerprint() for each in beside] == [each.fingerprint() for each in alone]


def test_the_context_of_the_caller_is_that_of_the_policy() -> None:
    def who(request: gem.Request) -> str:
        return WHO.get()

    async def asked() -> list[gem.Episode]:
        WHO.set("ada")
        return gem.run(who, Echo)

    assert [each.turns[0].action for each in asyncio.run(asked())] == ["ada"]


def test_an_interrupt_beside_a_loop_ends_the_run_first() -> None:
    ended = []

    async def waits(request: gem.Request) -> str:
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)
        try:
            while True:
                # Who is interrupted just before it waits sees that only once it is woken.
                await asyncio.sleep(0.01)
                signal.pthread_kill(main, signal.SIGUSR1)
        finally:
            ended.append(request.turn)

    async def interrupted() -> None:
        with pytest.raises(KeyboardInterrupt):
            gem.run(waits, Echo)

    loop = asyncio.new_event_loop()  # without the handler of `asyncio.run`: a notebook has none
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        loop.run_until_complete(interrupted())
    finally:
        signal.signal(signal.SIGUSR1, before)
        loop.close()
    assert ended == [0]


def test_what_a_policy_left_behind_beside_a_loop_is_cancelled() -> None:
    ended = []

    async def lingers() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def leaves(request: gem.Request) -> str:
        tasks.append(asyncio.ensure_future(lingers()))
        await asyncio.sleep(0)
        return "yes"

    async def beside() -> None:
        gem.run(leaves, Echo)

    tasks: list[asyncio.Future[None]] = []
    asyncio.run(beside())

    assert ended == ["cancelled"]


STUBBORN = """
import asyncio, os, signal, sys, threading
import gem
from gem.rollouts import _run
from gem.testing.envs import Echo

begun, is_beside, is_interrupted = ("begun" in sys.argv, "beside" in sys.argv, "hit" in sys.argv)
_run._CLOSING_S = 10 if is_interrupted else 0.1
if is_interrupted:  # while the run waits for the tasks, as a rule
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()

async def sleeps():
    await asyncio.sleep(0.2)

async def tries_again(request):
    while True:
        try:
            await (asyncio.wait([asyncio.ensure_future(sleeps())]) if begun else sleeps())
        except:
            continue

def played():
    return gem.run(tries_again, Echo, episodes=2, policy_timeout_s=0.01)

async def beside():
    return played()

try:
    episodes = asyncio.run(beside()) if is_beside else played()
    print([episode.stop_reason for episode in episodes])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ([], ["policy_error"] * 2),
        (["begun"], ["policy_error"] * 2),
        (["beside"], ["policy_error"] * 2),
        (["hit"], "interrupted"),
    ],
)
def test_a_policy_that_ignores_its_cancellation_keeps_neither_run_nor_process_from_its_end(
    how: list[str], told: object
) -> None:
    line = [sys.executable, "-c", STUBBORN, *how]

    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.strip() == str(told)
    assert ("RuntimeWarning: " in done.stderr) or told == "interrupted"


def test_tasks_that_go_on_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    async def closes_slowly() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(60)

    async def leaves(request: gem.Request) -> str:
        tasks.append(asyncio.ensure_future(closes_slowly()))
        await asyncio.sleep(0)
        return "yes"

    tasks: list[asyncio.Future[None]] = []
    monkeypatch.setattr("gem.rollouts._run._CLOSING_S", 0.01)

    with pytest.warns(RuntimeWarning, match="1 tasks of a policy went on"):
        gem.run(leaves, Echo)


def test_an_interrupt_while_its_thread_starts_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = threading.Thread.start
    asked: list[gem.Request] = []

    def answers(request: gem.Request) -> str:
        asked.append(request)
        return "yes"

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        if thread.name.startswith("gem-run"):
            monkeypatch.setattr(threading.Thread, "start", start)
            raise KeyboardInterrupt  # after the thread has begun, before the pool knows of it

    async def beside() -> None:
        monkeypatch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            gem.run(answers, Echo)

    asyncio.run(beside())

    for thread in threading.enumerate():
        if thread.name.startswith("gem-run"):
            thread.join(60)
    gc.collect()  # a loop or a task left open would warn here, which fails the test
    assert asked == []


@pytest.mark.parametrize("options", [{"episodes": 0}, {"concurrency": 0}])
def test_what_cannot_be_run_is_refused_as_by_a_rollout(options: dict[str, Any]) -> None:
    with pytest.raises(BadArguments):
        gem.run(sampled, Guess, **options)


@pytest.mark.parametrize("take", [list, sum, enumerate])
def test_a_plain_loop_over_a_rollout_says_how(take: Any) -> None:
    with pytest.raises(EnvUsageError, match=r"for episode in gem\.run\(\.\.\.\).*async for"):
        take(gem.rollout(sampled, Guess))
