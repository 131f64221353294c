"""Answer many requests at once: gather those that wait, call a batched function, hand out replies.

Knows nothing about episodes or environments.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Union

from gem.bridge import in_thread, is_awaitable
from gem.conversation import PolicyAnswer, Request, name_of
from gem.errors import BadArguments
from gem.quantities import check_count, check_wait

__all__ = ["MicroBatch"]

Answers = Union[Awaitable[Iterable[PolicyAnswer]], Iterable[PolicyAnswer]]


class MicroBatch:
    """A policy made of a batched function, which keeps an accelerator busy.

    `fn` takes a list of requests and returns as many answers in their order. A batch begins as
    soon as `max_batch` requests wait, or when the first of them has waited `max_wait_s` (seconds;
    0: what asks in the same turn of the event loop goes together). Where `fn` is a coroutine
    function several batches are in flight at once. A plain function computes on a thread, one
    batch at a time, and the requests that come meanwhile are the next batch.

    A batch that raises, or returns another number of answers, fails each of its own requests and
    no other. A cancelled request is left out if its batch has not begun, and disturbs nothing if
    it has; an asynchronous batch of which every request was cancelled is cancelled too. Which
    requests share a batch depends on timing, so answers should depend on the request alone: a
    policy that samples takes `request.seed`. `name`, `wants` and `aclose` are those of `fn`.

        def answer(requests: list[gem.Request]) -> list[str]:
            return model.generate([request.messages for request in requests])

        policy = gem.MicroBatch(answer, max_batch=256, max_wait_s=0.005)
        async for episode in gem.rollout(policy, "game:Mastermind-v0", concurrency=1024):
            ...
    """

    def __init__(
        self, fn: Callable[[list[Request]], Answers], *, max_batch: int, max_wait_s: float
    ) -> None:
        if not callable(fn):
            raise BadArguments(
                f"{fn!r:.60} was given to MicroBatch, and cannot be called. Give a function from "
                "a list of requests to a list of as many answers.",
                subject="fn",
            )
        check_count("max_batch", max_batch)
        check_wait("max_wait_s", max_wait_s)
        self._fn = fn
        self._max_batch = max_batch
        self._max_wait_s = max_wait_s
        self._desk: _Desk | None = None
        self.name = name_of(fn)
        self.wants = frozenset(getattr(fn, "wants", ()))

    def __call__(self, request: Request) -> Awaitable[PolicyAnswer]:
        """Return the awaitable answer to one request. Call it on a running event loop."""
        loop = asyncio.get_running_loop()
        if self._desk is None or self._desk.loop is not loop:
            self._desk = _Desk(loop, self._fn, self._max_batch, self._max_wait_s)
        return self._desk.ask(request)

    async def aclose(self) -> None:
        """Cancel what waits or is in flight on this loop, and close `fn` if it can be.

        What a plain function computes on its thread runs on to its end, for nobody.
        """
        desk, self._desk = self._desk, None
        if desk is not None and desk.loop is asyncio.get_running_loop():
            await desk.close()
        aclose = getattr(self._fn, "aclose", None)
        if aclose is not None:
            await aclose()


_Seat = tuple[Request, "asyncio.Future[PolicyAnswer]", float]
"""A request, its answer to be, and since when it waits."""


class _Batch:
    """Requests that are answered together."""

    def __init__(self, seats: list[_Seat]) -> None:
        self.requests = [request for request, _, _ in seats]
        self.answers = [answer for _, answer, _ in seats]
        self.unwatched = iter(self.answers)


class _Desk:
    """Where the requests of one event loop wait, and the batches that it has in flight."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fn: Callable[[list[Request]], Answers],
        max_batch: int,
        max_wait_s: float,
    ) -> None:
        self.loop = loop
        self._fn, self._max_batch, self._max_wait_s = fn, max_batch, max_wait_s
        self._waits = _is_asynchronous(fn)
        self._waiting: list[_Seat] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flying: dict[_Batch, asyncio.Task[None]] = {}

    def ask(self, request: Request) -> asyncio.Future[PolicyAnswer]:
        """Let a request wait for a batch with others, and return its answer to be."""
        # A plain future: a task waits for a subclass of it by a slower way.
        answer: asyncio.Future[PolicyAnswer] = self.loop.create_future()
        self._waiting.append((request, answer, self.loop.time()))
        if len(self._waiting) >= self._max_batch:
            self._begin()
        elif self._timer is None:
            self._timer = self.loop.call_later(self._max_wait_s, self._on_time)
        return answer

    def _watch(self, batch: _Batch, _: object = None) -> None:
        """Cancel a batch when nobody waits for it any more.

        One answer is watched at a time, the next when that one is done: all of them are done when
        none is left, and each was looked at once.
        """
        for answer in batch.unwatched:
            if not answer.done():
                answer.add_done_callback(partial(self._watch, batch))
                return
        if batch in self._flying:
            self._flying[batch].cancel()  # nothing, if it has ended

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_time(self) -> None:
        self._timer = None
        self._begin()

    def _begin(self) -> None:
        """Send off what is full or due, as far as it may be in flight."""
        while self._waits or not self._flying:
            self._waiting = [seat for seat in self._waiting if not seat[1].done()]
            if not self._waiting:
                return
            _, _, since = self._waiting[0]
            due_s = since + self._max_wait_s - self.loop.time()
            if len(self._waiting) < self._max_batch and due_s > 0:
                if self._timer is None:
                    self._timer = self.loop.call_later(due_s, self._on_time)
                return
            self._stop_timer()
            batch = _Batch(self._waiting[: self._max_batch])
            del self._waiting[: self._max_batch]
            task = self._flying[batch] = self.loop.create_task(self._answer(batch))
            task.add_done_callback(partial(self._land, batch))
            if self._waits:
                self._watch(batch)

    def _land(self, batch: _Batch, _: asyncio.Task[None]) -> None:
        del self._flying[batch]
        for answer in batch.answers:
            answer.cancel()  # nothing, unless the batch was cancelled, begun or not
        batch.answers.clear()  # their callbacks name their batch: no circle is left
        self._begin()

    async def _answer(self, batch: _Batch) -> None:
        try:
            answers = await self._call(batch.requests)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - theirs, and nobody else's
            for future in batch.answers:
                if not future.done():
                    future.set_exception(error)
        else:
            for future, answer in zip(batch.answers, answers, strict=True):
                if not future.done():
                    future.set_result(answer)

    async def _call(self, requests: list[Request]) -> list[PolicyAnswer]:
        """Return as many answers as there are requests, or raise."""
        many = len(requests)
        called: Any = self._fn(requests) if self._waits else await in_thread(self._fn, requests)
        given: Any = await called if is_awaitable(called) else called
        if isinstance(given, str):
            raise TypeError("A batched policy returned a str. It must return a list of answers.")
        answers: list[PolicyAnswer] = list(given)
        if len(answers) != many:
            raise ValueError(
                f"A batched policy returned {len(answers)} answers to {many} requests. It must "
                "return one for each, in their order."
            )
        return answers

    async def close(self) -> None:
        """Cancel everything, and wait until it has stopped."""
        self._stop_timer()
        for _, answer, _ in self._waiting:
            answer.cancel()
        flying = list(self._flying.values())
        for task in flying:
            task.cancel()
        await asyncio.gather(*flying, return_exceptions=True)


def _is_asynchronous(fn: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(type(fn).__call__)
