"""The environments of a run: made on demand, used again, given up when they fail.

Knows nothing about episodes or policies.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from typing import Any

from gem.bridge import in_thread
from gem.env import Env
from gem.registry import EnvLike, WrapperLike, make, resolve

__all__ = ["Stage", "blocks", "call"]


def blocks(env: Env) -> bool:
    """Say whether a call of this environment may hold up its thread."""
    return env.spec is None or env.spec.blocking


def call(env: Env, method: str, *args: Any, **kwargs: Any) -> Awaitable[Any]:
    """Call an environment where it can harm nobody: on a thread of its own if it blocks."""
    if blocks(env):
        return in_thread(partial(getattr(env, method), *args, **kwargs))
    called: Awaitable[Any] = getattr(env, f"a{method}")(*args, **kwargs)
    return called


class Stage:
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
        closing = asyncio.ensure_future(_close(env))
        try:
            await asyncio.wait({closing}, timeout=self._close_timeout_s)
            if not closing.done():
                _warn(env, TimeoutError(f"it outlasts step_timeout_s={self._close_timeout_s}"))
        finally:
            closing.cancel()


async def _close(env: Env) -> None:
    try:
        await call(env, "close")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - nothing else may be lost by it
        _warn(env, error)


def _warn(env: Env, error: BaseException) -> None:
    warnings.warn(f"Closing {env} failed: {error!r}", RuntimeWarning, stacklevel=2)
