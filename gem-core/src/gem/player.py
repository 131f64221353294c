"""Play one episode to its end, whatever ends it: an answer of the policy, a step, and so on.

Knows nothing about how many are played beside it.
"""

from __future__ import annotations

import asyncio
import json
import math
import operator
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from gem.bridge import is_awaitable
from gem.content import Message, is_shallow, normalise_text
from gem.conversation import Policy, PolicyAnswer, Reply, Request, Usage, as_reply, name_of
from gem.counting import RolloutStats
from gem.deadlines import Abandon, LateError, Limit, Watch
from gem.episode import Episode, StopReason
from gem.errors import ModelLengthError, text_of
from gem.hosting import Failure
from gem.hosting.rollout_envs import HostedEnv, RolloutEnvs
from gem.planning import Assignment
from gem.scene import Scene
from gem.step import Step
from gem.tokens.context import TokenTerms

__all__ = ["Player", "Record", "Terms"]

T = TypeVar("T")

_NO_HINTS = (None, None)
_REASONS: dict[str, StopReason] = {"environment": "step_timeout", "policy": "policy_error"}


Record = Callable[[], Episode]
"""Makes the record of an episode that has ended. Until it is called, less room is taken."""


@dataclass(frozen=True)
class Terms:
    """What the episodes of a run share.

    `waiting` counts the episodes of each environment that have not begun.
    """

    policy: Policy
    envs: RolloutEnvs
    waiting: Counter[int]
    max_turns: int | None = None
    retries: int = 0
    retry_wait_s: float = 0.0
    stats: RolloutStats | None = None
    step_limit: Limit | None = None
    policy_limit: Limit | None = None
    episode_limit: Limit | None = None


class Player:
    """Plays one episode. `play` runs as a task of its own, which deadlines cancel.

    `abandon` is called with that task where it does not end: `abandoned` is then its episode.
    """

    def __init__(self, terms: Terms, assignment: Assignment, abandon: Abandon) -> None:
        self._terms, self._policy = terms, terms.policy
        self._wants = frozenset(getattr(terms.policy, "wants", ()))
        tokens = getattr(terms.policy, "tokens", None)
        self._scene = Scene(
            assignment,
            terms.envs.specs[assignment.env_index],
            tokens if isinstance(tokens, TokenTerms) else None,
        )
        self._abandon, self._is_abandoned = abandon, False
        self._step_limit = terms.step_limit
        self._began = time.perf_counter()

    async def play(self) -> Record:
        """Play the episode to its end, whatever ends it."""
        scene, envs = self._scene, self._terms.envs
        task = asyncio.current_task()
        assert task is not None
        self._whole, self._calls = Watch(task, self._abandon), Watch(task, self._abandon)
        is_failed = is_running = False  # what the environment is after this
        try:
            with self._whole.under(self._terms.episode_limit):
                await self._perform()
        except LateError as late:
            self._count_late()
            is_running = scene.waits_for == "environment"
            scene.fail(_REASONS[scene.waits_for], f"TimeoutError: {self._lateness(late.limit)}")
        except Failure as stopped:
            if stopped.reason == "step_timeout":
                self._count_late()
            scene.fail(stopped.reason, stopped.text)
        except asyncio.CancelledError as error:
            # Cancelled by the run's end, nobody asks for the episode; by another, it is an error.
            is_running = True
            scene.fail("env_error", text_of(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anything
            is_failed = True
            scene.fail("env_error", text_of(error))
        record, env_index = self._record(), scene.assignment.env_index
        if scene.env is None:
            pass
        elif is_running or self._is_abandoned:
            envs.abandon(scene.env)
        elif is_failed or self._terms.waiting[env_index] <= envs.idle(env_index):
            await envs.discard(scene.env)  # no call of it runs on: what it holds can be freed
        else:
            envs.give_back(env_index, scene.env)
        return record

    def abandoned(self) -> Record:
        """End the episode of a task that did not end when it was cancelled."""
        self._count_late()
        self._is_abandoned, who = True, self._scene.waits_for
        self._scene.fail(_REASONS[who], f"TimeoutError: the {who} did not end when it was late")
        return self._record()

    def _record(self) -> Record:
        duration_s = time.perf_counter() - self._began
        return partial(self._scene.record, name_of(self._policy), duration_s)

    def _lateness(self, limit: Limit) -> str:
        who: str = self._scene.waits_for
        state = getattr(self._policy, "state", "") if who == "policy" else ""
        if state:
            who = f"policy ({state})"
        if limit is self._terms.episode_limit:
            return f"the episode did not end within {limit.timeout_s} s; it waited for the {who}"
        return f"the {who} did not answer within {limit.timeout_s} s"

    async def _perform(self) -> None:
        scene, place, terms = self._scene, self._scene.assignment, self._terms
        env = scene.env = await terms.envs.take(place.env_index)
        if env.keeps_time:
            self._step_limit = None
        options = {} if place.task is None else {"task": place.task}
        scene.start(*await self._in_env(env.reset(place.seed, options, place.repeat)))
        while scene.stop_reason is None:
            before = time.perf_counter()
            hints = await self._hints(env) if self._wants else _NO_HINTS
            request = scene.request(*hints)
            if request is None:
                break
            try:
                reply, text = await self._ask(request)
            except ModelLengthError:
                scene.exceed_model_length()
                break
            answered = time.perf_counter()
            self._refuse_if_late(answered)
            step = env.step(scene.act(reply, text, answered - before))
            if not isinstance(step, Step):
                # Where the environment lives, its time is kept: nothing is to be watched here.
                step = await (step if self._step_limit is None else self._in_env(step))
            stepped = time.perf_counter()
            self._refuse_if_late(stepped)
            if terms.stats is not None:
                terms.stats.count_step(stepped - answered)
            scene.land(step, stepped - answered, terms.max_turns)
            del reply, text, step  # while the next answer is waited for, nothing holds the last

    def _refuse_if_late(self, now: float) -> None:
        """Hold the episode to its time where nothing in it ever waits."""
        limit = self._terms.episode_limit
        if limit is not None and now - self._began > limit.timeout_s:
            limit.check(self._whole)

    async def _in_env(self, call: Awaitable[T]) -> T:
        with self._calls.under(self._step_limit):
            return await call

    async def _ask(self, request: Request) -> tuple[Reply, str]:
        tried, retries, stats = 0, self._terms.retries, self._terms.stats
        while True:
            try:
                if tried:
                    await self._wait_to_retry(tried)
                answer = self._policy(request)
                if is_awaitable(answer):
                    if stats is not None:
                        stats.begin_call(self)
                    try:
                        with self._calls.under(self._terms.policy_limit):
                            answer = await answer  # type: ignore[misc]
                    finally:
                        if stats is not None:
                            stats.end_call(self)
                return _taken(answer)  # type: ignore[arg-type]
            except LateError:
                if tried == retries:
                    raise
                self._count_late()
            except ModelLengthError:
                raise  # the same prompt is as long the next time
            except (Exception, SystemExit, asyncio.CancelledError) as error:
                if tried == retries or isinstance(error, asyncio.CancelledError):
                    raise Failure("policy_error", text_of(error)) from error
            tried += 1

    async def _wait_to_retry(self, tried: int) -> None:
        if self._terms.stats is not None:
            self._terms.stats.retries += 1
        await asyncio.sleep(self._terms.retry_wait_s * 2 ** (tried - 1))

    def _count_late(self) -> None:
        if self._terms.stats is not None and not self._is_abandoned:
            self._terms.stats.deadline_hits += 1

    async def _hints(self, env: HostedEnv) -> tuple[str | None, str | None]:
        """Ask the environment for what the policy wants of it, and blame the policy if it fails."""
        self._scene.waits_for = "environment"
        try:
            sample = await self._hint(env, "sample", "sample_action")
            solution = await self._hint(env, "solution", "solve")
        except Failure as stopped:
            if stopped.reason != "env_error":
                raise
            raise Failure("policy_error", stopped.text) from stopped
        except LateError:
            raise
        except (Exception, SystemExit) as error:
            raise Failure("policy_error", text_of(error)) from error
        self._scene.waits_for = "policy"
        return sample, solution

    async def _hint(self, env: HostedEnv, want: str, method: str) -> str | None:
        return await self._in_env(env.ask(method)) if want in self._wants else None


def _taken(answer: PolicyAnswer) -> tuple[Reply, str]:
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
    said = Message.from_json(Message("assistant", "", message.tool_calls).to_json())
    arguments = [dict(called.arguments) for called in said.tool_calls]
    json.dumps(arguments, allow_nan=False)
    if not is_shallow(arguments):
        raise ValueError("The arguments of a tool call are nested too deep")


def _plain_usage(usage: Usage) -> Usage:
    if not isinstance(usage, Usage):
        raise TypeError(f"A reply's usage is {usage!r:.60}, and must be a gem.Usage")
    return Usage(operator.index(usage.prompt_tokens), operator.index(usage.completion_tokens))
