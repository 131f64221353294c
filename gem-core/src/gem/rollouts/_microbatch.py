"""Answer many requests at once: gather those that wait, call a batched function, hand out replies.

Knows nothing about episodes or environments.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Union

from gem._python.quantities import check_count, check_wait
from gem._python.sync_async import in_thread, is_awaitable
from gem.conversation import PolicyAnswer, Request, name_of
from gem.errors import BadArguments

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
        self._queue: _Queue | None = None
        self.name = name_of(fn)
        self.wants = frozenset(getattr(fn, "wants", ()))

    def __call__(self, request: Request) -> Awaitable[PolicyAnswer]:
        """Return the awaitable answer to one request. Call it on a running event loop."""
        loop = asyncio.get_running_loop()
        # Futures are of one loop: in a program with several, one after another, each has its own.
        if self._queue is None or self._queue.loop is not loop:
            self._queue = _Queue(loop, self._fn, self._max_batch, self._max_wait_s)
        return self._queue.ask(request)

    async def aclose(self) -> None:
        """Cancel what waits or is in flight on this loop, and close `fn` if it can be.

        What a plain function computes on its thread runs on to its end, for nobody.
        """
        queue = self._queue
        self._queue = None  # before the wait below: a request that comes meanwhile opens another
        if queue is not None and queue.loop is asyncio.get_running_loop():
            await queue.close()
        aclose = getattr(self._fn, "aclose", None)
        if aclose is not None:
            await aclose()


_Waiting = tuple[Request, "asyncio.Future[PolicyAnswer]", float]
"""A request, its answer to be, and since when it waits."""


class _Batch:
    """Requests that are answered together."""

    def __init__(self, waiting: list[_Waiting]) -> None:
        self.requests = [request for request, _, _ in waiting]
        self.answers = [answer for _, answer, _ in waiting]
        self.unwatched = iter(self.answers)  # those whose end nobody has looked for yet


class _Queue:
    """Where the requests of one event loop wait, and the batches that it has in flight."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fn: Callable[[list[Request]], Answers],
        max_batch: int,
        max_wait_s: float,
    ) -> None:
        self.loop = loop
        self._fn = fn
        self._max_batch = max_batch
        self._max_wait_s = max_wait_s
        self._is_asynchronous = _is_asynchronous(fn)
        self._waiting: list[_Waiting] = []
        self._timer: asyncio.TimerHandle | None = None
        self._in_flight: dict[_Batch, asyncio.Task[None]] = {}

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
        if batch in self._in_flight:
            self._in_flight[batch].cancel()  # does nothing, if it has ended

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_time(self) -> None:
        self._timer = None
        self._begin()

    def _begin(self) -> None:
        """Send off what is full or due, as far as it may be in flight.

        A plain function computes one batch at a time: the end of that one calls this again.
        """
        while self._is_asynchronous or not self._in_flight:
            # Those that were cancelled while they waited take no room in a batch.
            self._waiting = [entry for entry in self._waiting if not entry[1].done()]
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
            task = self.loop.create_task(self._answer(batch))
            # Before it can end or be cancelled, both of which look it up.
            self._in_flight[batch] = task
            task.add_done_callback(partial(self._clear, batch))
            # A function on a thread cannot be cancelled: nothing would be gained by watching it.
            if self._is_asynchronous:
                self._watch(batch)

    def _clear(self, batch: _Batch, _: asyncio.Task[None]) -> None:
        del self._in_flight[batch]
        for answer in batch.answers:
            answer.cancel()  # does nothing, unless the batch was cancelled, begun or not
        # Their callbacks name their batch: without this they would be a circle, which only the
        # garbage collector frees, with every request in it.
        batch.answers.clear()
        self._begin()

    async def _answer(self, batch: _Batch) -> None:
        try:
            answers = await self._call(batch.requests)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - theirs, and nobody else's
            for future in batch.answers:
                if not future.done():  # it may have been cancelled
                    future.set_exception(error)
        else:
            for future, answer in zip(batch.answers, answers, strict=True):
                if not future.done():
                    future.set_result(answer)

    async def _call(self, requests: list[Request]) -> list[PolicyAnswer]:
        """Return as many answers as there are requests, or raise."""
        wanted = len(requests)  # counted now: the function may change the list
        returned: Any
        if self._is_asynchronous:
            returned = self._fn(requests)
        else:
            returned = await in_thread(self._fn, requests)
        if is_awaitable(returned):
            returned = await returned
        if isinstance(returned, str):  # whose letters would be taken for answers
            raise TypeError("A batched policy returned a str. It must return a list of answers.")
        answers: list[PolicyAnswer] = list(returned)
        if len(answers) != wanted:
            raise ValueError(
                f"A batched policy returned {len(answers)} answers to {wanted} requests. It must "
                "return one for each, in their order."
            )
        return answers

    async def close(self) -> None:
        """Cancel everything, and wait until it has stopped."""
        self._stop_timer()
        for _, answer, _ in self._waiting:
            answer.cancel()
        in_flight = list(self._in_flight.values())
        for task in in_flight:
            task.cancel()
        await asyncio.gather(*in_flight, return_exceptions=True)


def _is_asynchronous(fn: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(type(fn).__call__)
