"""The guards around `reset`: options by name, the seed, and the phase that follows."""

from __future__ import annotations

from typing import Any

from gem.content import Observation
from gem.env._lifecycle._chance_warning import first_look, warn_of_global_chance
from gem.env._lifecycle._forms import Raw
from gem.env._lifecycle._phases import (
    BUSY,
    CLOSED,
    ENDED,
    RUNNING,
    AnyEnv,
    end_episode,
    enter_layer,
    leave,
    misuse,
)
from gem.env._lifecycle._seeds import checked_seed, offer_seed, reseed, withdraw_seed
from gem.env._reset_options import by_name, checked_options, refuse_positional, reset_form
from gem.env._step import described

__all__ = [
    "guarded_areset",
    "guarded_layer_areset",
    "guarded_layer_reset",
    "guarded_reset",
]

Started = tuple[Observation, dict[str, Any]]


def guarded_reset(cls: type, raw: Raw) -> Raw:
    """Return the guard around the `reset` of an environment's class."""
    form = reset_form(raw)

    def reset(self: AnyEnv, seed: int | None = None, *extra: Any, **options: Any) -> Started:
        refuse_positional(cls, extra)
        if self._phase == BUSY and type(self) is not cls:  # a super() call
            return _as_started(raw(self, **form.arguments(seed, options)), self)
        # Wrong options are refused before anything changes: the episode before goes on.
        if options:
            options = checked_options(cls, form, options)
        seed = _begin(self, seed)
        chance_before = first_look(cls)
        try:
            started = _as_started(raw(self, **form.arguments(seed, options)), self)
        except BaseException:
            leave(self, ENDED)
            raise
        leave(self, RUNNING)
        # After the phase is set: where warnings are errors, the environment is not left busy.
        if chance_before is not None:
            warn_of_global_chance(cls, chance_before)
        return started

    return reset


def guarded_areset(cls: type, raw: Raw) -> Raw:
    """Return the guard around the `areset` of an environment's class."""
    form = reset_form(raw)

    # It takes no look at the global generators: other coroutines draw while this one waits.
    async def areset(self: AnyEnv, seed: int | None = None, *extra: Any, **options: Any) -> Started:
        refuse_positional(cls, extra)
        if self._phase == BUSY and type(self) is not cls:  # a super() call
            return _as_started(await raw(self, **form.arguments(seed, options)), self)
        if options:
            options = checked_options(cls, form, options)
        seed = _begin(self, seed)
        try:
            started = _as_started(await raw(self, **form.arguments(seed, options)), self)
        except BaseException:
            leave(self, ENDED)
            raise
        leave(self, RUNNING)
        return started

    return areset


def _begin(env: AnyEnv, seed: int | None) -> int | None:
    """Mark a base environment as busy with a reset, seed its streams, and return the seed."""
    if env._phase in (BUSY, CLOSED):
        raise misuse(env._phase, "reset")
    seed = checked_seed(env._first_seed if seed is None else seed, "reset")
    # Only now, when nothing is refused any longer: what raised here would leave it busy for good.
    env._phase = BUSY
    env._first_seed = None  # it serves one reset: the next goes on with the stream
    reseed(env, seed)
    env.turn = 0
    return seed


def _as_started(result: Any, env: AnyEnv) -> Started:
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f"{type(env).__name__}.reset returned {described(result)}. It must return an "
            "observation and a dict."
        )
    info = result[1]
    if not isinstance(info, dict):
        raise TypeError(
            f"{type(env).__name__}.reset returned the info {info!r:.60}, and it must be a dict"
        )
    return result


def guarded_layer_reset(cls: type, raw: Raw) -> Raw:
    """Return the guard around the `reset` of a wrapper's class."""
    form = reset_form(raw)

    def reset(self: AnyEnv, seed: int | None = None, *extra: Any, **options: Any) -> Started:
        refuse_positional(cls, extra)
        options = _options_by_name(self, options)
        seed = checked_seed(seed, "reset")
        if not enter_layer(self, cls, "reset"):
            return _as_started(raw(self, **form.arguments(seed, options)), self)
        offer_seed(self, seed)
        try:
            return _as_started(raw(self, **form.arguments(seed, options)), self)
        except BaseException:
            end_episode(self)
            raise
        finally:
            withdraw_seed(self, seed)
            self._calling = False

    return reset


def guarded_layer_areset(cls: type, raw: Raw) -> Raw:
    """Return the guard around the `areset` of a wrapper's class."""
    form = reset_form(raw)

    async def areset(self: AnyEnv, seed: int | None = None, *extra: Any, **options: Any) -> Started:
        refuse_positional(cls, extra)
        options = _options_by_name(self, options)
        seed = checked_seed(seed, "reset")
        if not enter_layer(self, cls, "reset"):
            return _as_started(await raw(self, **form.arguments(seed, options)), self)
        offer_seed(self, seed)
        try:
            return _as_started(await raw(self, **form.arguments(seed, options)), self)
        except BaseException:
            end_episode(self)
            raise
        finally:
            withdraw_seed(self, seed)
            self._calling = False

    return areset


def _options_by_name(env: AnyEnv, options: dict[str, Any]) -> dict[str, Any]:
    """Return a layer's options by name, unless it or what it holds takes them as one dict.

    A layer acts on options of its own: it must find `task` where Gymnasium's `options` has it.
    """
    if "options" not in options:
        return options
    inner = env
    while not type(inner)._reset_form.takes_dict:
        if not inner._is_layer:
            return by_name(type(inner), options)
        inner = inner.env
    return options
