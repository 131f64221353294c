"""Ask a policy for an answer, again where it fails or is late, and make data of what it says.

Knows nothing about the episode that the answer is for.
"""

from __future__ import annotations

import asyncio
import json
import math
import operator
from collections.abc import Callable
from dataclasses import replace

from gem._python.sync_async import is_awaitable
from gem.content import Message, is_shallow, normalise_text
from gem.conversation import Policy, PolicyAnswer, PolicyTokens, Reply, Request, Usage, as_reply
from gem.errors import ModelLengthError
from gem.hosting._failure import Failure
from gem.rollouts._deadlines import LateError, Limit, Watch
from gem.rollouts._stats import RolloutStats

__all__ = ["AskedPolicy"]


class AskedPolicy:
    """One policy of a run, which all of its episodes ask, many of them at once.

    `name` is for records, `position` is that among the run's policies. `wants` names the hints that
    it asks for, and `tokens` are those that it plays by.
    """

    def __init__(
        self,
        policy: Policy,
        name: str,
        position: int,
        *,
        retries: int,
        retry_wait_s: float,
        limit: Limit | None,
        stats: RolloutStats | None,
    ) -> None:
        self.name = name
        self.position = position
        self.wants = frozenset(getattr(policy, "wants", ()))
        self.tokens = _tokens_of(policy)
        self._policy = policy
        self._retries = retries
        self._retry_wait_s = retry_wait_s
        self._limit = limit
        self._stats = stats

    @property
    def state(self) -> str:
        """What it waits for beside its answer, in one line; empty where it does not say."""
        return getattr(self._policy, "state", "")

    async def answer(
        self, request: Request, watch: Watch, count_late: Callable[[], None]
    ) -> tuple[Reply, str]:
        """Ask the policy, again where it fails or is late, up to `retries` times.

        `watch` is over the task that asks, and `count_late` is called for an answer that is late
        and tried again. Raises Failure with what the last try raised, LateError where that was
        late, and ModelLengthError at once.
        """
        stats = self._stats
        tried = 0
        while True:
            try:
                if tried:
                    await self._wait_to_retry(tried)
                answer = self._policy(request)
                if is_awaitable(answer):
                    if stats is not None:
                        stats.begin_call(watch)
                    try:
                        with watch.under(self._limit):
                            answer = await answer  # type: ignore[misc]
                    finally:
                        # A call that fails or is late was waited for too.
                        if stats is not None:
                            stats.end_call(watch)
                return _recordable_reply(answer)  # type: ignore[arg-type]
            except LateError:
                if tried == self._retries:
                    raise
                count_late()
            except ModelLengthError:
                raise  # the same prompt is as long the next time
            except (Exception, SystemExit, asyncio.CancelledError) as error:
                # A cancellation is never tried again: it is the run's end, or the policy's own. A
                # deadline's does not come here, the watch makes a LateError of it.
                if tried == self._retries or isinstance(error, asyncio.CancelledError):
                    raise Failure.of(error, "policy_error") from error
            tried += 1

    async def _wait_to_retry(self, tried: int) -> None:
        if self._stats is not None:
            self._stats.retries += 1
        await asyncio.sleep(self._retry_wait_s * 2 ** (tried - 1))


def _tokens_of(policy: object) -> PolicyTokens | None:
    """Return the tokens of a policy that plays by them."""
    # A policy may have an attribute of that name for something else of its own.
    tokens = getattr(policy, "tokens", None)
    return tokens if hasattr(tokens, "open_episode") else None


def _recordable_reply(answer: PolicyAnswer) -> tuple[Reply, str]:
    """Return an answer as a reply, and its text as a record keeps it. Raises as `_recordable`."""
    if type(answer) is str:  # as most are: there is nothing in it that a record could not hold
        return as_reply(answer), normalise_text(answer)
    reply = _recordable(as_reply(answer))
    return reply, str(normalise_text(reply.message.text))


def _recordable(reply: Reply) -> Reply:
    """Return the reply as plain data. Raises on what no record could hold, such as NaN."""
    if reply.message.tool_calls:
        _refuse_unrecordable(reply.message)
    if reply.finish_reason is not None:
        json.dumps(reply.finish_reason, allow_nan=False)
    if reply.reasoning is not None:
        reply = replace(reply, reasoning=normalise_text(reply.reasoning))
    if reply.token_ids is None and reply.logprobs is None and reply.usage is None:
        return reply
    logprobs = reply.logprobs and tuple(map(float, reply.logprobs))
    if logprobs and not all(map(math.isfinite, logprobs)):
        raise ValueError("A logprob of a reply is not finite")
    return replace(
        reply,
        token_ids=reply.token_ids and tuple(map(int, reply.token_ids)),
        logprobs=logprobs,
        usage=reply.usage and _plain_usage(reply.usage),
    )


def _refuse_unrecordable(message: Message) -> None:
    # By way of JSON and back: what a call's arguments are as a record reads them.
    recorded = Message.from_json(Message("assistant", "", message.tool_calls).to_json())
    arguments = [dict(call.arguments) for call in recorded.tool_calls]
    json.dumps(arguments, allow_nan=False)
    if not is_shallow(arguments):
        raise ValueError("The arguments of a tool call are nested too deep")


def _plain_usage(usage: Usage) -> Usage:
    if not isinstance(usage, Usage):
        raise TypeError(f"A reply's usage is {usage!r:.60}, and must be a gem.Usage")
    return Usage(operator.index(usage.prompt_tokens), operator.index(usage.completion_tokens))
