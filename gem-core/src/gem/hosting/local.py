"""Environments of this process, called on the event loop or on threads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gem.bridge import in_thread
from gem.content import Observation
from gem.env import Env
from gem.errors import BadArguments
from gem.guards import waits
from gem.hosting.front import Stage, warn_of_close
from gem.making import EnvLike, WrapperLike, make
from gem.seeding import stream
from gem.specs import EnvSpec

__all__ = ["InlineStage", "ThreadStage"]


class _LocalEnv:
    """An environment of this process: on threads where its calls may block, else awaited."""

    __slots__ = ("env", "is_threaded", "step")

    def __init__(self, env: Env, *, is_threaded: bool) -> None:
        self.env, self.is_threaded = env, is_threaded or env.spec is None or env.spec.blocking
        at_once = env.astep if waits(env, "step") else env.step
        self.step: Any = partial(in_thread, env.step) if self.is_threaded else at_once

    @property
    def spec(self) -> EnvSpec | None:
        return self.env.spec

    @property
    def rewrites_history(self) -> bool:
        return self.env.rewrites_history

    @property
    def prompt_is_finished(self) -> bool:
        return self.env.prompt_is_finished

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        return self.env.tools

    async def reset(
        self, seed: int, options: Mapping[str, Any], repeat: int
    ) -> tuple[Observation, dict[str, Any]]:
        start: tuple[Observation, dict[str, Any]] = await self._call("reset", seed=seed, **options)
        if repeat:
            self.env.unwrapped.sample_rng = stream("sample", seed, repeat)
        return start

    async def ask(self, method: str) -> str | None:
        ask: Callable[[], str | None] = getattr(self.env, method)
        return await in_thread(ask) if self.is_threaded else ask()

    async def close(self) -> None:
        """Close it; a failure is warned of."""
        try:
            await self._call("close")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - nothing else may be lost by it
            warn_of_close(self.env, error)

    def _call(self, method: str, **kwargs: Any) -> Awaitable[Any]:
        if self.is_threaded:
            return in_thread(partial(getattr(self.env, method), **kwargs))
        called: Awaitable[Any] = getattr(self.env, f"a{method}")(**kwargs)
        return called


class InlineStage(Stage):
    """Call environments on the event loop, and those that may block on a thread each."""

    threads_all = False

    def __init__(
        self,
        envs: Sequence[EnvLike],
        *,
        wrappers: Sequence[WrapperLike] = (),
        kwargs: Mapping[str, Any] | None = None,
        num_workers: int | None = None,
        step_timeout_s: float | None = None,
    ) -> None:
        super().__init__(envs)
        if num_workers is not None:
            raise BadArguments(
                f"num_workers={num_workers!r} was given with a backend that has as many threads as "
                "calls wait. Leave it out and set concurrency, or choose backend='process'.",
                subject="num_workers",
            )
        self._kwargs, self._wrappers = kwargs or {}, wrappers
        self._close_timeout_s = step_timeout_s

    async def take(self, env_index: int) -> _LocalEnv:
        if self._idle[env_index]:
            idle: _LocalEnv = self._idle[env_index].pop()
            return idle
        if self.specs[env_index].blocking or self.threads_all:
            return await in_thread(self._make, env_index)
        return self._make(env_index)

    def _make(self, env_index: int) -> _LocalEnv:
        env = make(self.specs[env_index], wrappers=self._wrappers, **self._kwargs)
        return _LocalEnv(env, is_threaded=self.threads_all)

    async def discard(self, env: _LocalEnv) -> None:
        closing = asyncio.ensure_future(env.close())
        try:
            await asyncio.wait({closing}, timeout=self._close_timeout_s)
            if not closing.done():
                late = TimeoutError(f"it outlasts step_timeout_s={self._close_timeout_s}")
                warn_of_close(env.env, late)
        finally:
            closing.cancel()

    def abandon(self, env: _LocalEnv) -> None:
        """Leave it to its thread: Python can stop neither."""

    async def close(self) -> None:
        for env in [env for idle in self._idle for env in idle]:
            await self.discard(env)


class ThreadStage(InlineStage):
    """Call every environment on a thread, also those that say they never block."""

    threads_all = True
