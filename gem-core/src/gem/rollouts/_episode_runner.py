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
from typing import Literal, TypeVar

from gem._python.sync_async import is_awaitable
from gem.content import Message, is_shallow, normalise_text
from gem.conversation import Policy, PolicyAnswer, Reply, Request, Usage, as_reply, name_of
from gem.env._step import Step
from gem.episode._episode import Episode, StopReason
from gem.errors import ModelLengthError, text_of
from gem.hosting._failure import Failure
from gem.hosting._rollout_envs import HostedEnv, RolloutEnvs
from gem.rollouts._deadlines import Abandon, LateError, Limit, Watch
from gem.rollouts._planning import PlannedEpisode
from gem.rollouts._recording import Recording
from gem.rollouts._stats import RolloutStats

__all__ = ["EpisodeRunner", "MakeEpisode", "RunContext"]

T = TypeVar("T")

_NO_HINTS = (None, None)
_REASONS: dict[str, StopReason] = {"environment": "step_timeout", "policy": "policy_error"}
"""Why an episode ends that is late, by whom it waited for."""


MakeEpisode = Callable[[], Episode]
"""Makes the record of an episode that has ended. Until it is called, less room is taken."""


@dataclass(frozen=True)
class RunContext:
    """What the episodes of a run share.

    `waiting` counts, by environment, the episodes that have not begun: an environment that none of
    them will take is closed and not kept. `policy_name` is that of a policy which was asked for by
    it: the run made it, records it so, and closes it.
    """

    policy: Policy
    envs: RolloutEnvs
    waiting: Counter[int]
    policy_name: str | None = None
    max_turns: int | None = None
    retries: int = 0
    retry_wait_s: float = 0.0
    stats: RolloutStats | None = None
    step_limit: Limit | None = None
    policy_limit: Limit | None = None
    episode_limit: Limit | None = None


class EpisodeRunner:
    """Runs one episode. `run` is a task of its own, which deadlines cancel.

    `abandon` is called with that task where it does not end when it is cancelled. `abandoned` then
    ends the episode in its stead.
    """

    def __init__(self, context: RunContext, planned: PlannedEpisode, abandon: Abandon) -> None:
        self._context = context
        self._planned = planned
        self._policy = context.policy
        self._wants = frozenset(getattr(context.policy, "wants", ()))
        # A policy may have an attribute of that name for something else of its own.
        tokens = getattr(context.policy, "tokens", None)
        self._recording = Recording(
            planned,
            context.envs.specs[planned.env_index],
            tokens if hasattr(tokens, "open_episode") else None,
        )
        self._env: HostedEnv | None = None
        self._waits_for: Literal["environment", "policy"] = "environment"
        self._abandon = abandon
        self._is_abandoned = False
        self._step_limit = context.step_limit
        self._began = time.perf_counter()

    async def run(self) -> MakeEpisode:
        """Run the episode to its end, whatever ends it: an error of others is on its record."""
        recording = self._recording
        envs = self._context.envs
        task = asyncio.current_task()
        assert task is not None
        # Two watches over the one task: the limit of the episode runs while a call's begins anew.
        self._whole = Watch(task, self._abandon)
        self._calls = Watch(task, self._abandon)
        # What the environment is after this: it may have failed, or a call of it may run on.
        is_failed = False
        is_running = False
        try:
            with self._whole.under(self._context.episode_limit):
                await self._play()
        except LateError as late:
            self._count_late()
            is_running = self._waits_for == "environment"
            reason = _REASONS[self._waits_for]
            recording.fail(reason, f"TimeoutError: {self._lateness(late.limit)}")
        except Failure as stopped:
            if stopped.reason == "step_timeout":
                self._count_late()
            recording.fail(stopped.reason, stopped.text)
        except asyncio.CancelledError as error:
            # Cancelled by the run's end, nobody asks for the episode; by another, it is an error.
            is_running = True
            recording.fail("env_error", text_of(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anything
            is_failed = True
            recording.fail("env_error", text_of(error))
        # Before the environment is closed: that takes time which is not the episode's.
        make_episode = self._episode_maker()
        env_index = self._planned.env_index
        if self._env is None:
            pass
        elif is_running or self._is_abandoned:
            # A call of it goes on: neither another episode nor a close may meet it.
            envs.abandon(self._env)
        elif is_failed or self._context.waiting[env_index] <= envs.idle(env_index):
            await envs.discard(self._env)  # no call of it runs on: what it holds can be freed
        else:
            envs.give_back(env_index, self._env)
        return make_episode

    def abandoned(self) -> MakeEpisode:
        """End the episode of a task that did not end when it was cancelled."""
        self._count_late()
        # Set first: should the task end after all, it leaves its environment behind.
        self._is_abandoned = True
        who = self._waits_for
        error = f"TimeoutError: the {who} did not end when it was late"
        self._recording.fail(_REASONS[who], error)
        return self._episode_maker()

    def _episode_maker(self) -> MakeEpisode:
        duration_s = time.perf_counter() - self._began
        policy = self._context.policy_name or name_of(self._policy)
        return partial(self._recording.record, policy, duration_s)

    def _lateness(self, limit: Limit) -> str:
        who: str = self._waits_for
        state = getattr(self._policy, "state", "") if who == "policy" else ""
        if state:
            who = f"policy ({state})"
        if limit is self._context.episode_limit:
            return f"the episode did not end within {limit.timeout_s} s; it waited for the {who}"
        return f"the {who} did not answer within {limit.timeout_s} s"

    async def _play(self) -> None:
        """Begin the episode, and take turns until it ends.

        `_waits_for` says at every wait whose fault a deadline is. It changes before a call begins,
        and to the policy only once what the environment answered is on record.
        """
        recording = self._recording
        planned = self._planned
        context = self._context
        env = await context.envs.take(planned.env_index)
        self._env = env
        recording.place_in(env)
        if env.keeps_time:
            self._step_limit = None  # its host ends what is late, and says so by a Failure
        options = {} if planned.task is None else {"task": planned.task}
        start = await self._in_env(env.reset(planned.seed, options, planned.repeat))
        recording.start(*start)
        del start
        self._waits_for = "policy"
        while recording.stop_reason is None:
            before = time.perf_counter()
            hints = await self._hints(env) if self._wants else _NO_HINTS
            request = recording.request(*hints)
            if request is None:
                break
            try:
                reply, text = await self._ask(request)
            except ModelLengthError:
                recording.exceed_model_length()
                break
            answered = time.perf_counter()
            self._refuse_if_late(answered)
            action = recording.act(reply, text, answered - before)
            self._waits_for = "environment"
            step = env.step(action)
            if not isinstance(step, Step):
                # Where the environment lives, its time is kept: nothing is to be watched here.
                step = await (step if self._step_limit is None else self._in_env(step))
            stepped = time.perf_counter()
            self._refuse_if_late(stepped)
            if context.stats is not None:
                context.stats.count_step(stepped - answered)
            recording.finish_turn(step, stepped - answered, context.max_turns)
            self._waits_for = "policy"
            # While the next answer is waited for, nothing holds the last: thousands may wait.
            del reply, text, action, step

    def _refuse_if_late(self, now: float) -> None:
        """Hold the episode to its time where nothing in it ever waits."""
        limit = self._context.episode_limit
        if limit is not None and now - self._began > limit.timeout_s:
            limit.check(self._whole)

    async def _in_env(self, call: Awaitable[T]) -> T:
        with self._calls.under(self._step_limit):
            return await call

    async def _ask(self, request: Request) -> tuple[Reply, str]:
        """Ask the policy, again where it fails or is late, up to `retries` times.

        Raises Failure with what the last try raised, LateError where that was late, and
        ModelLengthError at once.
        """
        retries = self._context.retries
        stats = self._context.stats
        tried = 0
        while True:
            try:
                if tried:
                    await self._wait_to_retry(tried)
                answer = self._policy(request)
                if is_awaitable(answer):
                    if stats is not None:
                        stats.begin_call(self)
                    try:
                        with self._calls.under(self._context.policy_limit):
                            answer = await answer  # type: ignore[misc]
                    finally:
                        # A call that fails or is late was waited for too.
                        if stats is not None:
                            stats.end_call(self)
                return _recordable_reply(answer)  # type: ignore[arg-type]
            except LateError:
                if tried == retries:
                    raise
                self._count_late()
            except ModelLengthError:
                raise  # the same prompt is as long the next time
            except (Exception, SystemExit, asyncio.CancelledError) as error:
                # A cancellation is never tried again: it is the run's end, or the policy's own. A
                # deadline's does not come here, the watch makes a LateError of it.
                if tried == retries or isinstance(error, asyncio.CancelledError):
                    raise Failure("policy_error", text_of(error)) from error
            tried += 1

    async def _wait_to_retry(self, tried: int) -> None:
        if self._context.stats is not None:
            self._context.stats.retries += 1
        await asyncio.sleep(self._context.retry_wait_s * 2 ** (tried - 1))

    def _count_late(self) -> None:
        # An abandoned episode was counted when it was left behind, and may be late a second time.
        if self._context.stats is not None and not self._is_abandoned:
            self._context.stats.deadline_hits += 1

    async def _hints(self, env: HostedEnv) -> tuple[str | None, str | None]:
        """Ask the environment for what the policy wants of it, and blame the policy if it fails."""
        self._waits_for = "environment"
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
        self._waits_for = "policy"
        return sample, solution

    async def _hint(self, env: HostedEnv, want: str, method: str) -> str | None:
        return await self._in_env(env.ask(method)) if want in self._wants else None


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
