"""MicroBatch: requests that wait are answered together, and a batch harms nobody but its own."""

from __future__ import annotations

import asyncio
import functools
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

import gem
from gem.conversation import Request
from gem.env import Env
from gem.env._step import Step
from gem.episode import Episode
from gem.errors import BadArguments
from gem.specs import EnvSpec

LONG_S = 60.0


class Countdown(Env):
    """Takes three turns."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Go.", {}

    def step(self, action: str) -> Step:
        return Step("On.", 1.0, self.turn == 2, False, {})


@pytest.fixture(autouse=True)
def _env() -> None:
    spec = EnvSpec(id="demo:Countdown", target=f"{__name__}:Countdown", blocking=False)
    gem.register(spec, Countdown)


class Batches:
    """Answers with each request's turn, and notes the turns of every batch."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []

    def __call__(self, requests: list[Request]) -> list[str]:
        self.seen.append([request.turn for request in requests])
        return [str(request.turn) for request in requests]


class AsyncBatches(Batches):
    """The same as a coroutine, which waits until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.cancelled = 0

    async def __call__(self, requests: list[Request]) -> list[str]:  # type: ignore[override]
        answers = super().__call__(requests)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return answers


async def noon() -> None:
    """Let everything that is ready run."""
    for _ in range(10):
        await asyncio.sleep(0)


def ask(policy: Any, *turns: int) -> list[asyncio.Task[Any]]:
    return [asyncio.ensure_future(policy(Request(turn=turn))) for turn in turns]


async def answers(asked: list[asyncio.Task[Any]]) -> list[Any]:
    return await asyncio.gather(*asked, return_exceptions=True)


def in_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    @functools.wraps(test)
    def run() -> None:
        asyncio.run(asyncio.wait_for(test(), 30))

    return run


def rollout(policy: Any, **options: Any) -> list[Episode]:
    async def collect() -> list[Episode]:
        return [each async for each in gem.rollout(policy, "demo:Countdown", **options)]

    return asyncio.run(collect())


@in_loop
async def test_a_full_batch_begins_at_once() -> None:
    fn = Batches()
    policy = gem.MicroBatch(fn, max_batch=2, max_wait_s=LONG_S)
    assert await answers(ask(policy, 1, 2, 3, 4)) == ["1", "2", "3", "4"]
    assert fn.seen == [[1, 2], [3, 4]]


@in_loop
async def test_what_waits_goes_together_when_its_time_is_up() -> None:
    fn = Batches()
    policy = gem.MicroBatch(fn, max_batch=64, max_wait_s=0)
    assert await answers(ask(policy, 1, 2, 3)) == ["1", "2", "3"]
    assert fn.seen == [[1, 2, 3]]


@in_loop
async def test_several_batches_of_a_coroutine_function_are_in_flight() -> None:
    fn = AsyncBatches()
    asked = ask(gem.MicroBatch(fn, max_batch=2, max_wait_s=LONG_S), 1, 2, 3, 4)
    await noon()
    assert fn.seen == [[1, 2], [3, 4]]
    fn.go.set()
    assert await answers(asked) == ["1", "2", "3", "4"]


@in_loop
async def test_a_plain_function_computes_one_batch_at_a_time() -> None:
    gate, computing = threading.Semaphore(0), [0]

    def slow(requests: list[Request]) -> list[str]:
        computing[0] += 1
        assert gate.acquire(timeout=30)
        assert computing[0] == 1
        computing[0] -= 1
        return [str(len(requests)) for _ in requests]

    policy = gem.MicroBatch(slow, max_batch=2, max_wait_s=LONG_S)
    asked = ask(policy, 1, 2, 3, 4, 5)
    await noon()
    gate.release(3)
    assert await answers(asked[:4]) == ["2"] * 4
    asked += ask(policy, 6)  # fills the batch that the fifth waits in
    assert await answers(asked) == ["2"] * 6


@in_loop
async def test_a_plain_function_does_not_hold_up_the_event_loop() -> None:
    gate = threading.Event()

    def slow(requests: list[Request]) -> list[str]:
        assert gate.wait(30)
        return ["late"]

    asked = ask(gem.MicroBatch(slow, max_batch=1, max_wait_s=0), 1)
    await noon()
    gate.set()  # only a loop that is free gets here
    assert await answers(asked) == ["late"]


@in_loop
async def test_a_plain_function_may_return_an_awaitable() -> None:
    fn = AsyncBatches()
    fn.go.set()

    def plain(requests: list[Request]) -> Awaitable[list[str]]:
        return fn(requests)

    policy = gem.MicroBatch(plain, max_batch=1, max_wait_s=0)
    assert await answers(ask(policy, 1)) == ["1"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda requests: ["one"], "ValueError: A batched policy returned 1 answers to 2 requests"),
        (lambda requests: ["a", "b", "c"], "ValueError: A batched policy returned 3 answers"),
        (lambda requests: "ab", "TypeError: A batched policy returned a str"),
        (lambda requests: None, "TypeError: 'NoneType' object is not iterable"),
        (lambda requests: next(iter(())), "RuntimeError: StopIteration"),
        (lambda requests: sys.exit(3), "SystemExit: 3"),
    ],
)
def test_a_bad_batch_is_the_policys_error_in_each_of_its_episodes(answer: Any, error: str) -> None:
    policy = gem.MicroBatch(answer, max_batch=2, max_wait_s=LONG_S)
    episodes = rollout(policy, episodes=2)
    assert [episode.stop_reason for episode in episodes] == ["policy_error"] * 2
    assert all((episode.error or "").startswith(error) for episode in episodes)


@in_loop
async def test_a_batch_that_raises_fails_no_other() -> None:
    async def fn(requests: list[Request]) -> list[str]:
        if requests[0].turn == 1:
            raise ConnectionError("refused")
        return ["fine", "fine"]

    policy = gem.MicroBatch(fn, max_batch=2, max_wait_s=LONG_S)
    first, second, *others = await answers(ask(policy, 1, 2, 3, 4))
    assert (str(first), str(second), others) == ("refused", "refused", ["fine", "fine"])


def test_an_answer_of_the_wrong_kind_fails_its_own_episode_only() -> None:
    policy: Any = gem.MicroBatch(
        lambda requests: ["fine", 7],  # type: ignore[list-item]
        max_batch=2,
        max_wait_s=LONG_S,
    )
    reasons = [each.stop_reason for each in rollout(policy, episodes=2, max_turns=1)]
    assert sorted(reasons) == ["max_turns", "policy_error"]


@in_loop
async def test_a_request_that_is_cancelled_before_its_batch_is_left_out() -> None:
    fn = Batches()
    policy = gem.MicroBatch(fn, max_batch=2, max_wait_s=LONG_S)
    [gone] = ask(policy, 1)
    await noon()
    gone.cancel()
    await noon()
    asked = ask(policy, 2)
    await noon()
    assert not asked[0].done()
    assert await answers(asked + ask(policy, 3)) == ["2", "3"]
    assert fn.seen == [[2, 3]]


@pytest.mark.parametrize("fails", [False, True])
def test_a_request_that_is_cancelled_in_flight_disturbs_nobody(fails: bool) -> None:
    async def test() -> None:
        go = asyncio.Event()

        async def fn(requests: list[Request]) -> list[str]:
            await go.wait()
            return ["1"] if fails else ["1", "2"]

        first, second = ask(gem.MicroBatch(fn, max_batch=2, max_wait_s=LONG_S), 1, 2)
        await noon()
        first.cancel()
        await noon()
        go.set()
        [answer] = await answers([second])
        assert isinstance(answer, ValueError) if fails else answer == "2"

    asyncio.run(test())


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_a_batch_is_cancelled_when_the_last_who_waits_for_it_has_left(
    order: tuple[int, ...],
) -> None:
    async def test() -> None:
        before = asyncio.all_tasks()
        fn = AsyncBatches()
        asked = ask(gem.MicroBatch(fn, max_batch=3, max_wait_s=LONG_S), 1, 2, 3)
        await noon()
        cancelled = []
        for place in order:
            asked[place].cancel()
            await noon()
            cancelled.append(fn.cancelled)
        assert cancelled == [0, 0, 1]
        assert asyncio.all_tasks() == before

    asyncio.run(test())


@in_loop
async def test_a_thread_that_computes_for_nobody_is_left_alone() -> None:
    gate, done = threading.Event(), threading.Event()

    def fn(requests: list[Request]) -> list[str]:
        assert gate.wait(30)
        done.set()
        return ["late"]

    policy = gem.MicroBatch(fn, max_batch=1, max_wait_s=0)
    asked = ask(policy, 1)
    await noon()
    asked[0].cancel()
    await noon()
    gate.set()
    assert await answers(ask(policy, 2)) == ["late"]
    assert done.is_set()


@in_loop
async def test_a_call_cancelled_inside_fails_its_requests() -> None:
    async def fn(requests: list[Request]) -> list[str]:
        raise asyncio.CancelledError

    asked = ask(gem.MicroBatch(fn, max_batch=2, max_wait_s=LONG_S), 1, 2)
    assert [type(each) for each in await answers(asked)] == [asyncio.CancelledError] * 2


@in_loop
async def test_closing_cancels_what_waits_and_what_is_in_flight() -> None:
    before = asyncio.all_tasks()
    fn = AsyncBatches()
    policy = gem.MicroBatch(fn, max_batch=2, max_wait_s=LONG_S)
    asked = ask(policy, 1, 2)
    await noon()
    asked += ask(policy, 3, 4, 5)  # the second batch is made, and has not begun
    await policy.aclose()
    assert [type(each) for each in await answers(asked)] == [asyncio.CancelledError] * 5
    assert (fn.seen, fn.cancelled) == ([[1, 2]], 1)
    assert asyncio.all_tasks() == before


@in_loop
async def test_closing_closes_the_function_and_it_may_be_asked_again() -> None:
    class Model(Batches):
        closed = 0

        async def aclose(self) -> None:
            self.closed += 1

    fn = Model()
    policy = gem.MicroBatch(fn, max_batch=1, max_wait_s=0)
    await policy.aclose()
    assert fn.closed == 1
    assert await answers(ask(policy, 1)) == ["1"]


def test_a_rollout_takes_it_on_one_event_loop_after_another() -> None:
    fn = Batches()
    policy = gem.MicroBatch(fn, max_batch=4, max_wait_s=0)
    for _ in range(2):
        episodes = rollout(policy, episodes=8, concurrency=4)
        assert {tuple(turn.action for turn in each.turns) for each in episodes} == {("0", "1", "2")}
    assert max(map(len, fn.seen)) == 4


def test_closing_on_another_loop_leaves_the_first_alone() -> None:
    policy = gem.MicroBatch(Batches(), max_batch=1, max_wait_s=0)
    rollout(policy)
    asyncio.run(policy.aclose())
    assert rollout(policy)[0].stop_reason == "terminated"


@in_loop
async def test_leaving_a_rollout_early_leaves_no_batch() -> None:
    before = asyncio.all_tasks()
    fn = AsyncBatches()
    policy = gem.MicroBatch(fn, max_batch=3, max_wait_s=LONG_S)
    episodes = gem.rollout(policy, "demo:Countdown", episodes=8, concurrency=8)
    first = asyncio.ensure_future(episodes.__anext__())
    await noon()
    assert len(fn.seen) == 2
    first.cancel()
    await answers([first])
    await episodes.aclose()
    assert asyncio.all_tasks() == before


def test_name_and_wants_are_those_of_the_function() -> None:
    class Solver(Batches):
        name = "solver"
        wants = ("solution",)

    policy = gem.MicroBatch(Solver(), max_batch=1, max_wait_s=0)
    assert (policy.name, policy.wants) == ("solver", frozenset({"solution"}))
    plain = gem.MicroBatch(functools.partial(Batches()), max_batch=1, max_wait_s=0)
    assert (plain.name, plain.wants) == ("partial", frozenset())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"fn": "model"}, "'model' was given to MicroBatch"),
        ({"max_batch": 0}, "max_batch=0 was asked for"),
        ({"max_batch": 2.0}, "max_batch=2.0 was asked for"),
        ({"max_wait_s": -1}, "max_wait_s=-1 was asked for"),
        ({"max_wait_s": float("inf")}, "max_wait_s=inf was asked for"),
        ({"max_wait_s": float("nan")}, "max_wait_s=nan was asked for"),
    ],
)
def test_wrong_use_is_one_clear_error(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArguments, match=message):
        gem.MicroBatch(**{"fn": Batches(), "max_batch": 1, "max_wait_s": 0.0, **changed})
