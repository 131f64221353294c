"""Run episodes: one coroutine each, many in flight, the same content in whatever order.

Knows nothing about where policies come from or where episodes are kept.
"""

from __future__ import annotations

import asyncio
import json
import operator
import time
import traceback
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Literal, NamedTuple

from gem.bridge import in_thread, is_awaitable
from gem.content import Action, Message, is_shallow, normalise_text
from gem.conversation import Policy, Reply, Request, Usage, as_reply
from gem.env import Env
from gem.episode import Episode, StopReason
from gem.errors import BadArguments
from gem.hooks import announce
from gem.planning import Assignment, Envs, as_list, is_count, plan_episodes
from gem.registry import EnvLike, WrapperLike, make, resolve
from gem.scene import Scene
from gem.seeding import stream

__all__ = ["rollout"]


def rollout(
    policy: Policy,
    env: Envs,
    *,
    episodes: int | Literal["all"] = 1,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 64,
    backend: str = "inline",
    wrappers: Sequence[WrapperLike] = (),
    env_kwargs: Mapping[str, Any] | None = None,
    max_turns: int | None = None,
    step_timeout_s: float | None = None,
    policy_timeout_s: float | None = None,
    plan: Sequence[Assignment] | None = None,
) -> AsyncGenerator[Episode, None]:
    """Yield finished episodes in completion order; their content is the same in any order.

    `env` is an id or a spec, or a list of them; `episodes` counts for each. `plan` runs exactly
    these assignments instead. At most `concurrency` episodes are in flight, and no more are
    started than are taken. An error of the environment or of the policy ends its own episode as
    truncated, with a `stop_reason` and the error's text, and no other. Blocking steps run on
    threads; one that outlasts `step_timeout_s` is abandoned with its environment. A step that
    declares `blocking=False` runs inline, where no deadline can interrupt it.

        async for episode in gem.rollout(policy, "game:GuessTheNumber-v0-hard", episodes=8):
            print(episode.total_reward)
    """
    if not callable(policy):
        raise BadArguments(
            f"{policy!r:.60} was given as the policy, and cannot be called. Give a function, or an "
            "object with `__call__`, from a Request to a Reply, a Message or a string.",
            subject="policy",
        )
    if backend != "inline":
        raise BadArguments(
            f"backend={backend!r} was asked for, and only 'inline' is installed.", subject="backend"
        )
    if not is_count(concurrency):
        raise BadArguments(
            f"concurrency={concurrency} was asked for, and must be 1 or more.",
            subject="concurrency",
        )
    _refuse_bad_limits(
        max_turns=max_turns, step_timeout_s=step_timeout_s, policy_timeout_s=policy_timeout_s
    )
    kwargs = dict(env_kwargs or {})
    if plan is None:
        plan = plan_episodes(
            env, episodes=episodes, seed=seed, repeats=repeats, env_kwargs=kwargs, wrappers=wrappers
        )
    deadlines = _Deadlines(step_timeout_s, policy_timeout_s)
    stage = _Stage(as_list(env), kwargs, wrappers, step_timeout_s)
    play = _Play(policy, stage, max_turns, deadlines)
    return _run(play, plan, concurrency)


def _refuse_bad_limits(*, max_turns: int | None, **timeouts: float | None) -> None:
    if not (max_turns is None or is_count(max_turns)):
        raise BadArguments(
            f"max_turns={max_turns!r} was asked for. It is an int from 1 on, or None.",
            subject="max_turns",
        )
    for name, timeout_s in timeouts.items():
        if timeout_s is not None and not timeout_s > 0:
            raise BadArguments(
                f"{name}={timeout_s!r} was asked for. It is a number of seconds above 0, or None.",
                subject=name,
            )


async def _run(
    play: _Play, plan: Sequence[Assignment], concurrency: int
) -> AsyncGenerator[Episode, None]:
    finished: asyncio.Queue[asyncio.Task[Episode]] = asyncio.Queue()
    running: set[asyncio.Task[Episode]] = set()

    def start(assignment: Assignment) -> None:
        task = asyncio.ensure_future(play.episode(assignment))
        running.add(task)
        task.add_done_callback(finished.put_nowait)

    waiting = iter(plan)
    try:
        for assignment in islice(waiting, concurrency):
            start(assignment)
        while running:
            task = await finished.get()
            running.discard(task)
            episode = task.result()
            announce("gem_episode_finished", episode=episode)
            yield episode
            for assignment in islice(waiting, 1):
                start(assignment)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await play.stage.close()


class _Deadlines(NamedTuple):
    step_s: float | None
    policy_s: float | None


class _Stage:
    """The environments of a run: made on demand, used again, given up when they fail."""

    def __init__(
        self,
        envs: Sequence[EnvLike],
        kwargs: Mapping[str, Any],
        wrappers: Sequence[WrapperLike],
        close_timeout_s: float | None,
    ) -> None:
        self._close_timeout_s = close_timeout_s
        self.specs = [resolve(env) for env in envs]
        self._kwargs, self._wrappers = kwargs, wrappers
        self._idle: list[list[Env]] = [[] for _ in envs]

    async def take(self, env_index: int) -> Env:
        """Return an environment that nobody else uses."""
        if self._idle[env_index]:
            return self._idle[env_index].pop()
        if self.specs[env_index].blocking:
            return await in_thread(self._make, env_index)
        return self._make(env_index)

    def _make(self, env_index: int) -> Env:
        return make(self.specs[env_index], wrappers=self._wrappers, **self._kwargs)

    def give_back(self, env_index: int, env: Env) -> None:
        """Offer an unharmed environment to the next episode."""
        self._idle[env_index].append(env)

    async def close(self) -> None:
        """Close every idle environment; a failure is warned of and stops no other."""
        for env in [env for idle in self._idle for env in idle]:
            await self.discard(env)

    async def discard(self, env: Env) -> None:
        """Close an environment that nobody uses again; a failure is warned of."""
        try:
            await _call(env, "close", self._close_timeout_s)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - nothing else may be lost by it
            warnings.warn(f"Closing {env} failed: {error!r}", RuntimeWarning, stacklevel=2)


async def _call(env: Env, method: str, timeout_s: float | None, *args: Any, **kwargs: Any) -> Any:
    """Call the environment where it can harm nobody: on a thread of its own if it blocks."""
    if env.spec is None or env.spec.blocking:
        call = in_thread(partial(getattr(env, method), *args, **kwargs))
    else:
        call = getattr(env, f"a{method}")(*args, **kwargs)
    return await _timely(call, timeout_s)


async def _timely(call: Awaitable[Any], timeout_s: float | None) -> Any:
    if timeout_s is None:
        return await call
    return await _within(timeout_s, call, "step_timeout", "environment")


async def _within(timeout_s: float, call: Awaitable[Any], reason: StopReason, who: str) -> Any:
    """Await a call, or give it up. A TimeoutError of the call's own is not a deadline's."""
    task = asyncio.ensure_future(_carrying_exits(call))
    try:
        await asyncio.wait({task}, timeout=timeout_s)
        if task.done():
            result, exited = task.result()
            if exited is not None:
                raise exited
            return result
    finally:
        task.cancel()
    late = TimeoutError(f"the {who} did not answer within {timeout_s} s")
    raise _StoppedError(reason, late)


async def _carrying_exits(call: Awaitable[Any]) -> tuple[Any, SystemExit | None]:
    """Await a call in a task of its own, out of which a SystemExit would stop the event loop."""
    try:
        return await call, None
    except SystemExit as error:
        return None, error


class _StoppedError(Exception):
    """An error that ends an episode, with the name that its record gives it."""

    def __init__(self, reason: StopReason, error: BaseException) -> None:
        super().__init__(reason)
        self.reason: StopReason = reason
        self.text = _text_of(error)


def _text_of(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(type(error), error)).strip()


class _Play:
    """Plays one assignment after another; everything that they share."""

    def __init__(
        self,
        policy: Policy,
        stage: _Stage,
        max_turns: int | None,
        deadlines: _Deadlines,
    ) -> None:
        self.stage = stage
        self._policy, self._max_turns, self._deadlines = policy, max_turns, deadlines
        self._policy_name = _name_of(policy)
        self._wants = frozenset(getattr(policy, "wants", ()))

    async def episode(self, assignment: Assignment) -> Episode:
        """Play one episode to its end, whatever ends it."""
        started = time.perf_counter()
        scene = Scene(assignment, self.stage.specs[assignment.env_index])
        try:
            scene.env = await self.stage.take(assignment.env_index)
            await self._play(scene, scene.env)
        except _StoppedError as stopped:
            scene.fail(stopped.reason, stopped.text)
        except asyncio.CancelledError as error:
            # Cancelled by the run's end, nobody asks for the episode; by another, it is an error.
            scene.fail("env_error", _text_of(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anything
            scene.fail("env_error", _text_of(error))
            if scene.env is not None:  # no call of it runs on: what it holds can be freed
                await self.stage.discard(scene.env)
        if scene.env is not None and scene.stop_reason in _UNHARMED:
            self.stage.give_back(assignment.env_index, scene.env)
        return scene.record(self._policy_name, time.perf_counter() - started)

    async def _play(self, scene: Scene, env: Env) -> None:
        options = {} if scene.assignment.task is None else {"task": scene.assignment.task}
        scene.observe(*await self._in_env(env, "reset", seed=scene.assignment.seed, **options))
        if scene.assignment.repeat:  # a repeat is another try: what is sampled differs
            place = scene.assignment
            env.unwrapped.sample_rng = stream("sample", place.seed, place.repeat)
        while scene.stop_reason is None:
            before = time.perf_counter()
            reply = await self._ask(scene, env)
            action = Action(normalise_text(reply.action), tool_calls=reply.action.tool_calls)
            scene.act(reply, action, time.perf_counter() - before)
            before = time.perf_counter()
            step = await self._in_env(env, "step", action)
            scene.land(step, time.perf_counter() - before, self._max_turns)

    def _in_env(self, env: Env, method: str, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        return _call(env, method, self._deadlines.step_s, *args, **kwargs)

    async def _ask(self, scene: Scene, env: Env) -> Reply:
        try:
            answer = self._policy(await self._request(scene, env))
            if is_awaitable(answer):
                answer = await self._in_time(answer)  # type: ignore[arg-type]
            return _recordable(as_reply(answer))  # type: ignore[arg-type]
        except _StoppedError:
            raise
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            raise _StoppedError("policy_error", error) from error  # a policy may raise anything

    async def _in_time(self, answer: Awaitable[Any]) -> Any:
        if self._deadlines.policy_s is None:
            return await answer
        return await _within(self._deadlines.policy_s, answer, "policy_error", "policy")

    async def _request(self, scene: Scene, env: Env) -> Request:
        sample = await self._hint(env, "sample", "sample_action")
        solution = await self._hint(env, "solution", "solve")
        return scene.request(env, sample, solution)

    async def _hint(self, env: Env, want: str, method: str) -> str | None:
        if want not in self._wants:
            return None
        ask: Callable[[], str | None] = getattr(env, method)
        if not (env.spec is None or env.spec.blocking):
            return ask()
        return await _timely(in_thread(ask), self._deadlines.step_s)  # type: ignore[no-any-return]


_UNHARMED = frozenset({"terminated", "truncated", "max_turns", "policy_error"})


def _name_of(policy: Policy) -> str:
    name = getattr(policy, "name", None) or getattr(policy, "__name__", None)
    return str(name or type(policy).__name__)


def _recordable(reply: Reply) -> Reply:
    """Return the reply as plain data. Raises on what no record could hold, such as NaN."""
    said = Message("assistant", reply.message.text, reply.message.tool_calls)
    said = Message.from_json(said.to_json())
    reply = replace(
        reply,
        token_ids=reply.token_ids and tuple(map(int, reply.token_ids)),
        logprobs=reply.logprobs and tuple(map(float, reply.logprobs)),
        usage=reply.usage and _plain_usage(reply.usage),
    )
    arguments = [dict(call.arguments) for call in said.tool_calls]
    json.dumps([reply.logprobs, arguments, reply.finish_reason], allow_nan=False)
    if not is_shallow(arguments):
        raise ValueError("The arguments of a tool call are nested too deep")
    return reply


def _plain_usage(usage: Usage) -> Usage:
    if not isinstance(usage, Usage):
        raise TypeError(f"A reply's usage is {usage!r:.60}, and must be a gem.Usage")
    return Usage(operator.index(usage.prompt_tokens), operator.index(usage.completion_tokens))
