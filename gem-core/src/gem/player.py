"""Play one episode to its end, whatever ends it: an answer of the policy, a step, and so on.

Knows nothing about how many are played beside it.
"""

from __future__ import annotations

import asyncio
import json
import math
import operator
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from gem.bridge import in_thread, is_awaitable
from gem.content import Action, Message, is_shallow, normalise_text
from gem.conversation import Policy, Reply, Request, Usage, as_reply
from gem.counting import RolloutStats
from gem.deadlines import Abandon, LateError, Limit, Watch
from gem.env import Env
from gem.episode import Episode, StopReason
from gem.planning import Assignment
from gem.scene import Scene
from gem.seeding import stream
from gem.stage import Stage, blocks, call

__all__ = ["Player", "Terms"]

_NO_HINTS = (None, None)
_UNHARMED = frozenset({"terminated", "truncated", "max_turns", "policy_error"})
_REASONS: dict[str, StopReason] = {"environment": "step_timeout", "policy": "policy_error"}


@dataclass(frozen=True)
class Terms:
    """What the episodes of a run share."""

    policy: Policy
    stage: Stage
    max_turns: int | None = None
    retries: int = 0
    retry_wait_s: float = 0.0
    stats: RolloutStats | None = None
    step_limit: Limit | None = None
    policy_limit: Limit | None = None
    episode_limit: Limit | None = None


class _StoppedError(Exception):
    """An error that ends an episode, with the name that its record gives it."""

    def __init__(self, reason: StopReason, error: BaseException) -> None:
        super().__init__(reason)
        self.reason: StopReason = reason
        self.text = _text_of(error)


def _text_of(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(type(error), error)).strip()


class Player:
    """Plays one episode. `play` runs as a task of its own, which deadlines cancel.

    `abandon` is called with that task where it does not end: `abandoned` is then its episode.
    """

    def __init__(self, terms: Terms, assignment: Assignment, abandon: Abandon) -> None:
        self._terms, self._policy = terms, terms.policy
        self._wants = frozenset(getattr(terms.policy, "wants", ()))
        self._scene = Scene(assignment, terms.stage.specs[assignment.env_index])
        self._abandon, self._is_abandoned = abandon, False
        self._began = time.perf_counter()

    async def play(self) -> Episode:
        """Play the episode to its end, whatever ends it."""
        scene, stage = self._scene, self._terms.stage
        task = asyncio.current_task()
        assert task is not None
        self._whole, self._calls = Watch(task, self._abandon), Watch(task, self._abandon)
        try:
            await self._within(self._terms.episode_limit, self._whole, self._perform())
        except LateError as late:
            self._count_late()
            scene.fail(_REASONS[scene.waits_for], f"TimeoutError: {self._lateness(late.limit)}")
        except _StoppedError as stopped:
            scene.fail(stopped.reason, stopped.text)
        except asyncio.CancelledError as error:
            # Cancelled by the run's end, nobody asks for the episode; by another, it is an error.
            scene.fail("env_error", _text_of(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anything
            scene.fail("env_error", _text_of(error))
            if scene.env is not None:  # no call of it runs on: what it holds can be freed
                await stage.discard(scene.env)
        if scene.env is not None and scene.stop_reason in _UNHARMED and not self._is_abandoned:
            stage.give_back(scene.assignment.env_index, scene.env)
        return self._record()

    def abandoned(self) -> Episode:
        """Return the episode of a task that did not end when it was cancelled."""
        self._count_late()
        self._is_abandoned, who = True, self._scene.waits_for
        self._scene.fail(_REASONS[who], f"TimeoutError: the {who} did not end when it was late")
        return self._record()

    def _record(self) -> Episode:
        return self._scene.record(_name_of(self._policy), time.perf_counter() - self._began)

    def _lateness(self, limit: Limit) -> str:
        who = self._scene.waits_for
        if limit is self._terms.episode_limit:
            return f"the episode did not end within {limit.timeout_s} s; it waited for the {who}"
        return f"the {who} did not answer within {limit.timeout_s} s"

    async def _perform(self) -> None:
        scene, place, terms = self._scene, self._scene.assignment, self._terms
        env = scene.env = await terms.stage.take(place.env_index)
        options = {} if place.task is None else {"task": place.task}
        scene.observe(*await self._in_env(env, "reset", seed=place.seed, **options))
        if place.repeat:  # a repeat is another try: what is sampled differs
            env.unwrapped.sample_rng = stream("sample", place.seed, place.repeat)
        while scene.stop_reason is None:
            before = time.perf_counter()
            reply, action = await self._ask(env)
            self._refuse_if_late()
            scene.act(reply, action, time.perf_counter() - before)
            before = time.perf_counter()
            step = await self._in_env(env, "step", action)
            self._refuse_if_late()
            step_s = time.perf_counter() - before
            if terms.stats is not None:
                terms.stats.count_step(step_s)
            scene.land(step, step_s, terms.max_turns)

    def _refuse_if_late(self) -> None:
        """Hold the episode to its time where nothing in it ever waits."""
        if self._terms.episode_limit is not None:
            self._terms.episode_limit.check(self._whole)

    def _in_env(self, env: Env, method: str, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        return self._within(self._terms.step_limit, self._calls, call(env, method, *args, **kwargs))

    @staticmethod
    def _within(limit: Limit | None, watch: Watch, awaited: Awaitable[Any]) -> Awaitable[Any]:
        return awaited if limit is None else limit.within(watch, awaited)

    async def _ask(self, env: Env) -> tuple[Reply, Action]:
        try:
            hints = await self._hints(env) if self._wants else _NO_HINTS
            request = self._scene.request(env, *hints)
            for tried in range(self._terms.retries):
                try:
                    return await self._try(request)
                except LateError:
                    self._count_late()
                except (Exception, SystemExit):  # noqa: BLE001 - a policy may raise anything
                    pass
                if self._terms.stats is not None:
                    self._terms.stats.retries += 1
                await asyncio.sleep(self._terms.retry_wait_s * 2**tried)
            return await self._try(request)
        except LateError:
            raise
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            raise _StoppedError("policy_error", error) from error  # a policy may raise anything

    def _count_late(self) -> None:
        if self._terms.stats is not None and not self._is_abandoned:
            self._terms.stats.deadline_hits += 1

    async def _try(self, request: Request) -> tuple[Reply, Action]:
        answer = self._policy(request)
        if is_awaitable(answer):
            answer = await self._within(self._terms.policy_limit, self._calls, answer)  # type: ignore[arg-type]
        reply = _recordable(as_reply(answer))  # type: ignore[arg-type]
        said = reply.message
        return reply, Action(normalise_text(said.text), tool_calls=said.tool_calls)

    async def _hints(self, env: Env) -> tuple[str | None, str | None]:
        sample = await self._hint(env, "sample", "sample_action")
        return sample, await self._hint(env, "solution", "solve")

    async def _hint(self, env: Env, want: str, method: str) -> str | None:
        if want not in self._wants:
            return None
        ask: Callable[[], str | None] = getattr(env, method)
        if not blocks(env):
            return ask()
        self._scene.waits_for = "environment"
        hint: str | None = await self._within(self._terms.step_limit, self._calls, in_thread(ask))
        self._scene.waits_for = "policy"
        return hint


def _name_of(policy: Policy) -> str:
    name = getattr(policy, "name", None) or getattr(policy, "__name__", None)
    return str(name or type(policy).__name__)


def _recordable(reply: Reply) -> Reply:
    """Return the reply as plain data. Raises on what no record could hold, such as NaN."""
    if reply.message.tool_calls:
        _refuse_unrecordable(reply.message)
    if reply.finish_reason is not None:
        json.dumps(reply.finish_reason, allow_nan=False)
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
    said = Message.from_json(Message("assistant", "", message.tool_calls).to_json())
    arguments = [dict(called.arguments) for called in said.tool_calls]
    json.dumps(arguments, allow_nan=False)
    if not is_shallow(arguments):
        raise ValueError("The arguments of a tool call are nested too deep")


def _plain_usage(usage: Usage) -> Usage:
    if not isinstance(usage, Usage):
        raise TypeError(f"A reply's usage is {usage!r:.60}, and must be a gem.Usage")
    return Usage(operator.index(usage.prompt_tokens), operator.index(usage.completion_tokens))
