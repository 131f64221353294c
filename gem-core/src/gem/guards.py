"""The rules of use, put around every Env subclass: phases, seeding, one call at a time.

`install` guards the nearest definition of reset, step and close in a class's MRO (mixins too)
and derives the missing form, synchronous or asynchronous, from that same function. Phase, seed
and turn count live on the base environment, under every wrapper; a wrapper keeps only whether a
call runs through it. A raise or a cancellation ends the episode.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any

from gem import bridge
from gem.content import Observation
from gem.errors import BadArguments, EnvBusy, EnvClosed, EnvUsageError, ResetNeeded
from gem.seeding import key_seed
from gem.step import Step, as_step

__all__ = ["BUSY", "CLOSED", "ENDED", "NEW", "RUNNING", "install", "refuse_if_busy", "reseed"]

NEW, RUNNING, BUSY, ENDED, CLOSED = range(5)

AnyEnv = Any  # an Env; naming the class here would close a circle of imports
Raw = Callable[..., Any]
Started = tuple[Observation, dict[str, Any]]

_PAIRS = (("reset", "areset"), ("step", "astep"), ("close", "aclose"))


def install(cls: Any) -> None:
    """Guard the Env subclass `cls`. Raises TypeError where it writes both forms of a method."""
    for name, async_name in _PAIRS:
        owner = _nearest(cls, name, async_name)
        raw, async_raw = _written(owner, name), _written(owner, async_name)
        guard, async_guard = _GUARDS[name, cls._is_layer]
        if raw is not None:
            setattr(cls, name, _mark(guard(cls, raw), raw, owner))
        if async_raw is not None:
            setattr(cls, async_name, _mark(async_guard(cls, async_raw), async_raw, owner))
        if raw is None:
            setattr(cls, name, _derive(_waiting(getattr(cls, async_name)), name, cls))
        if async_raw is None:
            setattr(cls, async_name, _derive(_at_once(getattr(cls, name)), async_name, cls))


def _nearest(cls: type, name: str, async_name: str) -> type:
    """Return the first class of the MRO that wrote either form."""
    for owner in cls.__mro__[:-1]:
        raw, async_raw = _written(owner, name), _written(owner, async_name)
        if raw and async_raw and not vars(owner).get("_writes_both"):
            raise TypeError(
                f"{owner.__name__} defines both {name} and {async_name}. Write the first, or "
                "the second if it waits; the other is derived."
            )
        if raw or async_raw:
            break
    return owner


def _written(owner: type, name: str) -> Raw | None:
    """Return what this class's author wrote under this name, without the guard around it."""
    found: Raw | None = vars(owner).get(name)
    if not hasattr(found, "_author"):
        return found
    raw: Raw | None = found.__wrapped__ if found._author is owner else None  # type: ignore[union-attr]
    return raw


def _mark(guarded: Any, raw: Raw, author: type) -> Any:
    functools.update_wrapper(guarded, raw)
    guarded._author = author
    return guarded


def _derive(form: Any, name: str, cls: type) -> Any:
    form.__name__, form.__qualname__ = name, f"{cls.__qualname__}.{name}"
    form.__module__ = cls.__module__
    form._author = None
    return form


def _waiting(async_guarded: Raw) -> Raw:
    def form(env: AnyEnv, *args: Any, **kwargs: Any) -> Any:
        return bridge.wait_for(async_guarded(env, *args, **kwargs))

    return form


def _at_once(guarded: Raw) -> Raw:
    async def form(env: AnyEnv, *args: Any, **kwargs: Any) -> Any:
        return guarded(env, *args, **kwargs)

    return form


# step, on a base environment: the hot path, written out


def _base_step(cls: type, raw: Raw) -> Raw:
    def step(self: AnyEnv, action: str) -> Step:
        if self._phase != RUNNING:
            _enter_base_step(self, cls)
            return raw(self, action)  # type: ignore[no-any-return]  # a super() call
        self._phase = BUSY
        try:
            result = raw(self, action)
            if type(result) is not Step:
                result = as_step(result)
            self.turn += 1
        except BaseException:
            self._phase = ENDED
            raise
        self._phase = ENDED if result[2] or result[3] else RUNNING
        return result

    return step


def _base_astep(cls: type, raw: Raw) -> Raw:
    async def astep(self: AnyEnv, action: str) -> Step:
        if self._phase != RUNNING:
            _enter_base_step(self, cls)
            return await raw(self, action)  # type: ignore[no-any-return]  # a super() call
        self._phase = BUSY
        try:
            result = as_step(await raw(self, action))
            self.turn += 1
        except BaseException:
            self._phase = ENDED
            raise
        self._phase = ENDED if result.terminated or result.truncated else RUNNING
        return result

    return astep


def _enter_base_step(env: AnyEnv, cls: type) -> None:
    """Let a super() call through; refuse any other that comes out of turn."""
    if env._phase != BUSY or type(env) is cls:
        raise _misuse(env._phase, "step")


# step, on a wrapper


def _layer_step(cls: type, raw: Raw) -> Raw:
    def step(self: AnyEnv, action: str) -> Step:
        if not _enter_layer(self, cls, "step"):
            return raw(self, action)  # type: ignore[no-any-return]
        try:
            return _leave_layer_step(self, raw(self, action))
        except BaseException:
            _fail_layer(self)
            raise
        finally:
            self._calling = False

    return step


def _layer_astep(cls: type, raw: Raw) -> Raw:
    async def astep(self: AnyEnv, action: str) -> Step:
        if not _enter_layer(self, cls, "step"):
            return await raw(self, action)  # type: ignore[no-any-return]
        try:
            return _leave_layer_step(self, await raw(self, action))
        except BaseException:
            _fail_layer(self)
            raise
        finally:
            self._calling = False

    return astep


def _enter_layer(env: AnyEnv, cls: type, method: str) -> bool:
    """Mark a call as running; False for a super() call, which is already marked."""
    if env._calling:
        if type(env) is cls:
            raise _misuse(BUSY, method)
        return False
    phase = env.unwrapped._phase
    if phase != RUNNING and (method == "step" or phase in (BUSY, CLOSED)):
        raise _misuse(phase, method)
    env._calling = True
    return True


def _leave_layer_step(env: AnyEnv, result: Any) -> Step:
    step = as_step(result)
    if step.terminated or step.truncated:
        env.unwrapped._phase = ENDED
    return step


def _fail_layer(env: AnyEnv) -> None:
    base = env.unwrapped
    if base._phase == RUNNING:
        base._phase = ENDED


# reset


def _base_reset(cls: type, raw: Raw) -> Raw:
    takes_seed = _takes_seed(raw)

    def reset(self: AnyEnv, seed: int | None = None, **options: Any) -> Started:
        if self._phase == BUSY and type(self) is not cls:
            return raw(self, **_seeded(takes_seed, seed, options))  # type: ignore[no-any-return]
        seed = _enter_base_reset(self, seed)
        try:
            return _leave_base_reset(self, raw(self, **_seeded(takes_seed, seed, options)))
        except BaseException:
            self._phase = ENDED
            raise

    return reset


def _base_areset(cls: type, raw: Raw) -> Raw:
    takes_seed = _takes_seed(raw)

    async def areset(self: AnyEnv, seed: int | None = None, **options: Any) -> Started:
        if self._phase == BUSY and type(self) is not cls:
            return await raw(self, **_seeded(takes_seed, seed, options))  # type: ignore[no-any-return]
        seed = _enter_base_reset(self, seed)
        try:
            return _leave_base_reset(self, await raw(self, **_seeded(takes_seed, seed, options)))
        except BaseException:
            self._phase = ENDED
            raise

    return areset


def _takes_seed(raw: Raw) -> bool:
    parameters = inspect.signature(raw).parameters
    return "seed" in parameters or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )


def _seeded(takes_seed: bool, seed: int | None, options: dict[str, Any]) -> dict[str, Any]:
    return {"seed": seed, **options} if takes_seed else options


def _enter_base_reset(env: AnyEnv, seed: int | None) -> int | None:
    if env._phase in (BUSY, CLOSED):
        raise _misuse(env._phase, "reset")
    if seed is None:
        seed = env._first_seed
    env._first_seed = None
    reseed(env, seed)
    env._phase = BUSY
    env.turn = 0
    return seed


def _leave_base_reset(env: AnyEnv, result: Any) -> Started:
    started = _as_started(result)
    env._phase = RUNNING
    return started


def _as_started(result: Any) -> Started:
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict):
        return result
    raise TypeError(
        f"reset returned {type(result).__name__}. It must return an observation and a dict."
    )


def reseed(env: AnyEnv, seed: int | None) -> None:
    """Point the environment's streams at `seed`; None leaves them running on.

    Any int is a valid seed. Raises BadArguments on anything else, a bool included.
    """
    if seed is None:
        return
    if isinstance(seed, bool) or not hasattr(type(seed), "__index__"):
        raise BadArguments(
            f"reset was given seed={seed!r}. A seed is an int, or None to continue the "
            "instance's own stream.",
            subject="reset",
        )
    env._episode_seed = operator.index(seed)
    env._sampler = None
    env.rng.seed(key_seed("env", env._episode_seed))


def _layer_reset(cls: type, raw: Raw) -> Raw:
    takes_seed = _takes_seed(raw)

    def reset(self: AnyEnv, seed: int | None = None, **options: Any) -> Started:
        options = _seeded(takes_seed, seed, options)
        if not _enter_layer(self, cls, "reset"):
            return raw(self, **options)  # type: ignore[no-any-return]
        try:
            return _as_started(raw(self, **options))
        except BaseException:
            _fail_layer(self)
            raise
        finally:
            self._calling = False

    return reset


def _layer_areset(cls: type, raw: Raw) -> Raw:
    takes_seed = _takes_seed(raw)

    async def areset(self: AnyEnv, seed: int | None = None, **options: Any) -> Started:
        options = _seeded(takes_seed, seed, options)
        if not _enter_layer(self, cls, "reset"):
            return await raw(self, **options)  # type: ignore[no-any-return]
        try:
            return _as_started(await raw(self, **options))
        except BaseException:
            _fail_layer(self)
            raise
        finally:
            self._calling = False

    return areset


# close: the first call counts, on each layer


def _close(cls: type, raw: Raw) -> Raw:
    def close(self: AnyEnv) -> None:
        if type(self) is not cls or _closes_now(self):
            raw(self)

    return close


def _aclose(cls: type, raw: Raw) -> Raw:
    async def aclose(self: AnyEnv) -> None:
        if type(self) is not cls or _closes_now(self):
            await raw(self)

    return aclose


def _closes_now(env: AnyEnv) -> bool:
    attribute, closed = ("_closed", True) if env._is_layer else ("_phase", CLOSED)
    if getattr(env, attribute) == closed:
        return False
    setattr(env, attribute, closed)
    return True


def refuse_if_busy(env: AnyEnv, method: str) -> None:
    """Raise EnvBusy while a call of `env` is running."""
    if env.unwrapped._phase == BUSY:
        raise _misuse(BUSY, method)


def _misuse(phase: int, method: str) -> EnvUsageError:
    if phase == BUSY:
        return EnvBusy(
            f"{method} was called while another call of this environment is running. An "
            "instance takes one call at a time: make one for each task, or await the first."
        )
    if phase == CLOSED:
        return EnvClosed(f"{method} was called after close. Make another environment.")
    what = "before the first reset" if phase == NEW else "after the episode ended"
    return ResetNeeded(f"{method} was called {what}. Call reset() to start an episode.")


_GUARDS: dict[tuple[str, bool], tuple[Callable[[type, Raw], Raw], Callable[[type, Raw], Raw]]] = {
    ("reset", False): (_base_reset, _base_areset),
    ("reset", True): (_layer_reset, _layer_areset),
    ("step", False): (_base_step, _base_astep),
    ("step", True): (_layer_step, _layer_astep),
    ("close", False): (_close, _aclose),
    ("close", True): (_close, _aclose),
}
