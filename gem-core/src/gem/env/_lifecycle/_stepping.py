"""The guards around `step` and `sample_action`.

A step of a base environment is the hot path (benchmarks/overhead.py): its guard is written out,
and calls nothing of ours but the author's own step.
"""

from __future__ import annotations

import functools
from typing import Any

from gem.env._lifecycle._forms import Raw
from gem.env._lifecycle._phases import (
    BUSY,
    ENDED,
    RUNNING,
    AnyEnv,
    end_episode,
    enter_layer,
    leave,
    misuse,
)
from gem.env._step import Step, as_step, check_flags
from gem.errors import BadArguments

__all__ = [
    "guarded_astep",
    "guarded_layer_astep",
    "guarded_layer_step",
    "guarded_sample_action",
    "guarded_step",
]


def guarded_step(cls: type, raw: Raw) -> Raw:
    """Return the guard around the `step` of an environment's class."""

    def step(self: AnyEnv, action: str) -> Step:
        if self._phase != RUNNING:
            _let_super_call_through(self, cls)
            return as_step(raw(self, action), self)
        # An action of another type is the caller's mistake, so the episode goes on after it.
        if not isinstance(action, str):
            raise _not_text(cls, action)
        self._phase = BUSY
        # Nothing stands between BUSY and `try`: what is raised there would leave it busy for good.
        try:
            result = raw(self, action)
            if type(result) is not Step:
                result = as_step(result, self)
            phase = _ended(self, result) if result[2] or result[3] else RUNNING
            # After the author's step, in which `self.turn` is the number of turns already taken.
            self.turn += 1
        except BaseException:
            leave(self, ENDED)
            raise
        if self._phase == BUSY:  # `leave`, written out; else it was closed meanwhile
            self._phase = phase
        return result

    return step


def guarded_astep(cls: type, raw: Raw) -> Raw:
    """Return the guard around the `astep` of an environment's class."""

    async def astep(self: AnyEnv, action: str) -> Step:
        if self._phase != RUNNING:
            _let_super_call_through(self, cls)
            return as_step(await raw(self, action), self)
        if not isinstance(action, str):
            raise _not_text(cls, action)
        self._phase = BUSY
        try:
            result = as_step(await raw(self, action), self)
            is_over = result.terminated or result.truncated
            phase = _ended(self, result) if is_over else RUNNING
            self.turn += 1
        except BaseException:  # a cancellation too: the author's step may be half done
            leave(self, ENDED)
            raise
        leave(self, phase)
        return result

    return astep


def _ended(env: AnyEnv, step: Step) -> Any:
    """Return the phase after a step that ends its episode. Raises TypeError as `check_flags`."""
    check_flags(step, env)  # here and not in each step: a flag that is false ends nothing
    return ENDED


def _let_super_call_through(env: AnyEnv, cls: type) -> None:
    """Refuse a call that comes out of turn, unless it is one by super()."""
    # A super() call meets the guard of a parent class while the instance's own guard is busy.
    if env._phase != BUSY or type(env) is cls:
        raise misuse(env._phase, "step")


def guarded_layer_step(cls: type, raw: Raw) -> Raw:
    """Return the guard around the `step` of a wrapper's class."""

    # A wrapper's step may take more than the action: gem-llm's for tools took `verbose`.
    def step(self: AnyEnv, action: str, *extra: Any, **options: Any) -> Step:
        if not isinstance(action, str):
            raise _not_text(cls, action)
        if not enter_layer(self, cls, "step"):
            return as_step(raw(self, action, *extra, **options), self)
        try:
            return _result_of_layer(self, raw(self, action, *extra, **options))
        except BaseException:
            end_episode(self)
            raise
        finally:
            self._calling = False

    return step


def guarded_layer_astep(cls: type, raw: Raw) -> Raw:
    """Return the guard around the `astep` of a wrapper's class."""

    async def astep(self: AnyEnv, action: str) -> Step:
        if not isinstance(action, str):
            raise _not_text(cls, action)
        if not enter_layer(self, cls, "step"):
            return as_step(await raw(self, action), self)
        try:
            return _result_of_layer(self, await raw(self, action))
        except BaseException:
            end_episode(self)
            raise
        finally:
            self._calling = False

    return astep


def _result_of_layer(env: AnyEnv, result: Any) -> Step:
    """Return a wrapper's result as a Step; one that ends the episode ends it for the base too."""
    step = as_step(result, env)
    # A wrapper can end an episode that goes on inside it: a limit of time does.
    if step.terminated or step.truncated:
        check_flags(step, env)
        end_episode(env)
    return step


def guarded_sample_action(raw: Raw) -> Raw:
    """Return `sample_action` with one clear error where no episode runs to draw an action for.

    An environment whose actions do not depend on its state may be asked at any time.
    """

    @functools.wraps(raw)
    def sample_action(self: AnyEnv) -> str:
        try:
            action: str = raw(self)
        except Exception as error:
            if self._phase in (RUNNING, BUSY) or isinstance(error, NotImplementedError):
                raise
            raise misuse(self._phase, "sample_action") from error
        return action

    return sample_action


def _not_text(cls: type, action: object) -> BadArguments:
    """Return the error for an action that is no string. The episode is unharmed."""
    text = " Pass its text: message.text." if hasattr(action, "text") else ""
    return BadArguments(
        f"{cls.__name__}.step was given {action!r:.60}, of type {type(action).__name__}. An action "
        f"is a string, as a model writes it.{text}",
        subject="step",
    )
