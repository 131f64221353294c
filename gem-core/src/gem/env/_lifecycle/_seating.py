"""What runs inside the guards of an environment of several seats: its table, and its rounds.

In a round each action is kept, and the last one goes with all of them to `step_all`: no author can
show one seat's move to another. Knows nothing about phases and seeds, which the guards around it
keep.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from gem._python.sync_async import is_awaitable, wait_for
from gem.env._lifecycle._forms import Raw
from gem.env._lifecycle._phases import AnyEnv
from gem.env._step import Step, as_step

__all__ = ["seated_astep", "seated_reset", "seated_step", "step_all_waits"]


def step_all_waits(cls: Any) -> bool:
    """Say whether the author's `step_all` is a coroutine function."""
    return inspect.iscoroutinefunction(cls.step_all)


def seated_reset(cls: type, raw: Raw) -> Raw:
    """Return an author's reset, or areset, that begins at an empty table and ends with `begin`."""
    if inspect.iscoroutinefunction(raw):

        @functools.wraps(raw)
        async def areset(self: AnyEnv, *args: Any, **options: Any) -> Any:
            if _is_super_call(self, cls):  # a super() call: the table is laid already
                return await raw(self, *args, **options)
            self._lay_table()
            return _begun(self, await raw(self, *args, **options))

        return areset

    @functools.wraps(raw)
    def reset(self: AnyEnv, *args: Any, **options: Any) -> Any:
        if _is_super_call(self, cls):
            return raw(self, *args, **options)
        self._lay_table()
        return _begun(self, raw(self, *args, **options))

    return reset


def seated_step(cls: type, raw: Raw) -> Raw:
    """Return an author's step that is called for the action of one seat alone."""

    @functools.wraps(raw)
    def step(self: AnyEnv, action: str) -> Any:
        if _is_super_call(self, cls):  # a super() call
            return raw(self, action)
        answer = _answer(self, action, functools.partial(raw, self))
        # `step_all` may return an awaitable, of whatever form the author's step is.
        return _checked(self, wait_for(answer) if is_awaitable(answer) else answer)

    return step


def seated_astep(cls: type, raw: Raw) -> Raw:
    """Return the asynchronous form of `seated_step`. `raw` may be of either form."""

    @functools.wraps(raw)
    async def astep(self: AnyEnv, action: str) -> Any:
        if _is_super_call(self, cls):
            answer = raw(self, action)
            return await answer if is_awaitable(answer) else answer
        answer = _answer(self, action, functools.partial(raw, self))
        return _checked(self, await answer if is_awaitable(answer) else answer)

    return astep


def _is_super_call(env: AnyEnv, cls: type) -> bool:
    return type(env) is not cls


def _answer(env: AnyEnv, action: str, take: Callable[[str], Any]) -> Any:
    """Return what an action leads to: nothing yet in a round that is still being heard."""
    waiting = env._hear(action)
    if waiting is not None:
        return waiting
    actions = env._take_round()
    return env.step_all(actions) if actions else take(action)


def _begun(env: AnyEnv, started: Any) -> Any:
    if isinstance(started, tuple) and len(started) == 2 and env._asked:
        return started
    raise TypeError(
        f"{type(env).__name__}.reset returned {type(started).__name__}, and asked no seat. It must "
        "return what self.begin(SEAT) returns."
    )


def _checked(env: AnyEnv, result: Any) -> Step:
    step = as_step(result, env)
    if "rewards" in step.info and "observations" in step.info:
        return step
    raise TypeError(
        f"{type(env).__name__} returned a Step that says nothing of its seats. It must return what "
        "self.ask(SEAT) or self.end() returns."
    )
