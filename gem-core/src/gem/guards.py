"""The rules of use, put around every Env subclass: phases, seeding, one call at a time.

`install` guards the nearest definition of reset, step and close in a class's MRO (mixins too)
and derives the missing form, synchronous or asynchronous, from that same function. Phase, seed
and turn count live on the base environment, under every wrapper; a wrapper keeps only whether a
call runs through it. A raise or a cancellation ends the episode.
"""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from gem import bridge
from gem.content import Observation
from gem.errors import BadArguments, EnvBusy, EnvClosed, EnvUsageError, ResetNeeded
from gem.global_chance import GlobalChance
from gem.quantities import is_seed
from gem.reset_options import by_name, checked_options, refuse_positional, reset_form
from gem.seeding import key_seed
from gem.step import Step, as_step

__all__ = [
    "BUSY",
    "CLOSED",
    "ENDED",
    "NEW",
    "RUNNING",
    "author",
    "checked_seed",
    "install",
    "refuse_unless_idle",
    "reseed",
    "waits",
]

NEW, RUNNING, BUSY, ENDED, CLOSED = range(5)

AnyEnv = Any  # an Env; naming the class here would close a circle of imports
Raw = Callable[..., Any]
Started = tuple[Observation, dict[str, Any]]

_PAIRS = (("reset", "areset"), ("step", "astep"), ("close", "aclose"))


class _Mark(NamedTuple):
    """What a guard remembers: itself, its class, who wrote the raw function (None: derived)."""

    form: Any
    cls: type
    author: type | None
    raw: Raw | None


def install(cls: Any) -> None:
    """Guard the Env subclass `cls`. Raises TypeError where it writes both forms of a method."""
    for name, async_name in _PAIRS:
        owner = _nearest(cls, name, async_name)
        raw, async_raw = _written(owner, name), _written(owner, async_name)
        guard, async_guard = _GUARDS[name, cls._is_layer]
        if raw is not None:
            _put(cls, name, functools.update_wrapper(guard(cls, raw), raw), owner, raw)
        if async_raw is not None:
            async_form = functools.update_wrapper(async_guard(cls, async_raw), async_raw)
            _put(cls, async_name, async_form, owner, async_raw)
        if raw is None:
            _put(cls, name, _derived(_waiting, cls, name, async_name))
        if async_raw is None:
            _put(cls, async_name, _derived(_at_once, cls, async_name, name))
    cls._reset_form = reset_form(cls.reset)  # a guard has the signature that its author wrote
    sampler = vars(cls).get("sample_action")
    if inspect.isfunction(sampler) and not cls._is_layer:
        cls.sample_action = _sampling(sampler)


def _nearest(cls: type, name: str, async_name: str) -> type:
    """Return the first class of the MRO that wrote either form."""
    owner = next(
        owner
        for owner in cls.__mro__
        if _written(owner, name) is not None or _written(owner, async_name) is not None
    )
    raw, async_raw = _written(owner, name), _written(owner, async_name)
    # Two forms that a class wrote by hand can differ, and only its author can say that they do
    # not: `both_forms=True`. It is read of that class alone, for a subclass does not inherit the
    # promise: it would hold for forms that nobody compared.
    if raw is not None and async_raw is not None and not vars(owner).get("_writes_both"):
        raise TypeError(
            f"{owner.__name__} defines both {name} and {async_name}. Write the first, or the "
            "second if it waits; the other is derived. If both are needed and do the same, say so: "
            f"class {owner.__name__}(..., both_forms=True)."
        )
    if inspect.iscoroutinefunction(raw):
        raise TypeError(
            f"{owner.__name__}.{name} is a coroutine function. Call it {async_name}; {name} is "
            "then derived."
        )
    return owner


def _written(owner: type, name: str) -> Raw | None:
    """Return what this class's author wrote under this name, without the guard around it."""
    found: Raw | None = vars(owner).get(name)
    mark: _Mark | None = getattr(found, "_mark", None)
    if mark is None or mark.form is not found:  # functools.wraps copies marks to decorators
        return found
    # A guard of another class is here by `step = Other.step`, or in a copied class body.
    return mark.raw if mark.author is owner or mark.cls is not owner else None


def _put(
    cls: type, name: str, form: Any, author: type | None = None, raw: Raw | None = None
) -> None:
    form._mark = _Mark(form, cls, author, raw)
    setattr(cls, name, form)


def author(env: AnyEnv, name: str) -> type | None:
    """Return the class that wrote a method, None where the form was derived from the other."""
    mark: _Mark | None = getattr(getattr(type(env), name), "_mark", None)
    return None if mark is None else mark.author


def waits(env: AnyEnv, name: str) -> bool:
    """Say whether awaiting a method can wait: not where its asynchronous form was derived."""
    form = getattr(type(env), f"a{name}")
    mark: _Mark | None = getattr(form, "_mark", None)
    return mark is None or mark.form is not form or mark.raw is not None


def _derived(derive: Callable[[Raw], Raw], cls: type, name: str, other: str) -> Raw:
    """Return one form made from the other, with the other's signature."""
    form = functools.update_wrapper(derive(getattr(cls, other)), getattr(cls, other))
    form.__name__, form.__qualname__ = name, f"{cls.__qualname__}.{name}"
    form.__doc__ = f"`{other}`, awaited." if name.startswith("a") else f"`{other}`, waited for."
    return form


def _waiting(async_guarded: Raw) -> Raw:
    def form(self: AnyEnv, *args: Any, **kwargs: Any) -> Any:
        return bridge.wait_for(async_guarded(self, *args, **kwargs))

    return form


def _at_once(guarded: Raw) -> Raw:
    async def form(self: AnyEnv, *args: Any, **kwargs: Any) -> Any:
        return guarded(self, *args, **kwargs)

    return form


# step, on a base environment: the hot path, written out


def _base_step(cls: type, raw: Raw) -> Raw:
    def step(self: AnyEnv, action: str) -> Step:
        if self._phase != RUNNING:
            _enter_base_step(self, cls)
            return as_step(raw(self, action))  # a super() call
        if not isinstance(action, str):
            raise _not_text(cls, action)
        self._phase = BUSY
        try:
            result = raw(self, action)
            if type(result) is not Step:
                result = as_step(result)
            phase = ENDED if result[2] or result[3] else RUNNING
            self.turn += 1
        except BaseException:
            _leave(self, ENDED)
            raise
        if self._phase == BUSY:  # else it was closed meanwhile
            self._phase = phase
        return result

    return step


def _base_astep(cls: type, raw: Raw) -> Raw:
    async def astep(self: AnyEnv, action: str) -> Step:
        if self._phase != RUNNING:
            _enter_base_step(self, cls)
            return as_step(await raw(self, action))  # a super() call
        if not isinstance(action, str):
            raise _not_text(cls, action)
        self._phase = BUSY
        try:
            result = as_step(await raw(self, action))
            phase = ENDED if result.terminated or result.truncated else RUNNING
            self.turn += 1
        except BaseException:
            _leave(self, ENDED)
            raise
        _leave(self, phase)
        return result

    return astep


def _enter_base_step(env: AnyEnv, cls: type) -> None:
    """Let a super() call through; refuse any other that comes out of turn."""
    if env._phase != BUSY or type(env) is cls:
        raise _misuse(env._phase, "step")


def _sampling(raw: Raw) -> Raw:
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
            raise _misuse(self._phase, "sample_action") from error
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


def _leave(env: AnyEnv, phase: int) -> None:
    if env._phase == BUSY:  # else it was closed meanwhile, and stays so
        env._phase = phase


# step, on a wrapper


def _layer_step(cls: type, raw: Raw) -> Raw:
    # A wrapper's step may take more than the action: gem-llm's for tools took `verbose`.
    def step(self: AnyEnv, action: str, *more: Any, **options: Any) -> Step:
        if not isinstance(action, str):
            raise _not_text(cls, action)
        if not _enter_layer(self, cls, "step"):
            return as_step(raw(self, action, *more, **options))
        try:
            return _leave_layer_step(self, raw(self, action, *more, **options))
        except BaseException:
            _end_episode(self)
            raise
        finally:
            self._calling = False

    return step


def _layer_astep(cls: type, raw: Raw) -> Raw:
    async def astep(self: AnyEnv, action: str) -> Step:
        if not isinstance(action, str):
            raise _not_text(cls, action)
        if not _enter_layer(self, cls, "step"):
            return as_step(await raw(self, action))
        try:
            return _leave_layer_step(self, await raw(self, action))
        except BaseException:
            _end_episode(self)
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
    env._calling = True
    phase = env.unwrapped._phase
    if phase in (BUSY, CLOSED) or (method == "step" and phase != RUNNING):
        env._calling = False
        raise _misuse(phase, method)
    return True


def _leave_layer_step(env: AnyEnv, result: Any) -> Step:
    step = as_step(result)
    if step.terminated or step.truncated:
        _end_episode(env)
    return step


def _end_episode(env: AnyEnv) -> None:
    base = env.unwrapped
    if base._phase == RUNNING:
        base._phase = ENDED


# reset


def _base_reset(cls: type, raw: Raw) -> Raw:
    form = reset_form(raw)

    def reset(self: AnyEnv, seed: int | None = None, *more: Any, **options: Any) -> Started:
        refuse_positional(cls, more)
        if self._phase == BUSY and type(self) is not cls:  # a super() call
            return _as_started(raw(self, **form.arguments(seed, options)))
        if options:
            options = checked_options(cls, form, options)
        seed = _enter_base_reset(self, seed)
        before = _first_look(cls)
        try:
            started = _as_started(raw(self, **form.arguments(seed, options)))
        except BaseException:
            _leave(self, ENDED)
            raise
        _leave(self, RUNNING)
        if before is not None:
            _warn_of_global_chance(cls, before)
        return started

    return reset


_looked_at: set[type] = set()


def _first_look(cls: type) -> GlobalChance | None:
    """Return the state of the global generators before the first reset of a class, else None.

    Only on the main thread: elsewhere another environment may draw at the same time, and this one
    would be blamed for it.
    """
    if cls in _looked_at or threading.current_thread() is not threading.main_thread():
        return None
    _looked_at.add(cls)
    return GlobalChance.now()


def _warn_of_global_chance(cls: type, before: GlobalChance) -> None:
    used = " and ".join(before.changed_since())
    if used:
        warnings.warn(
            f"The first reset of {cls.__name__} used the global state of {used}, which no seed of "
            "an environment sets: its episodes cannot be reproduced. Take chance from `self.rng`.",
            RuntimeWarning,
            stacklevel=3,  # whoever called reset
        )


def _base_areset(cls: type, raw: Raw) -> Raw:
    form = reset_form(raw)

    async def areset(self: AnyEnv, seed: int | None = None, *more: Any, **options: Any) -> Started:
        refuse_positional(cls, more)
        if self._phase == BUSY and type(self) is not cls:  # a super() call
            return _as_started(await raw(self, **form.arguments(seed, options)))
        if options:
            options = checked_options(cls, form, options)
        seed = _enter_base_reset(self, seed)
        try:
            started = _as_started(await raw(self, **form.arguments(seed, options)))
        except BaseException:
            _leave(self, ENDED)
            raise
        _leave(self, RUNNING)
        return started

    return areset


def _enter_base_reset(env: AnyEnv, seed: int | None) -> int | None:
    if env._phase in (BUSY, CLOSED):
        raise _misuse(env._phase, "reset")
    seed = checked_seed(env._first_seed if seed is None else seed, "reset")
    env._phase = BUSY
    env._first_seed = None  # it serves one reset: the next goes on with the stream
    reseed(env, seed)
    env.turn = 0
    return seed


def _as_started(result: Any) -> Started:
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict):
        return result
    raise TypeError(
        f"reset returned {type(result).__name__}. It must return an observation and a dict."
    )


def reseed(env: AnyEnv, seed: int | None) -> None:
    """Point the environment's streams at `seed`; None leaves them running on."""
    seed = checked_seed(seed, "reset")
    if seed is None:
        return
    env._episode_seed = seed
    env._sampler = None
    env.rng.seed(key_seed("env", seed))


def checked_seed(seed: Any, subject: str) -> int | None:
    """Return a seed as an int. Any int is valid; BadArguments on all else, a bool included."""
    if seed is None:
        return None
    if not is_seed(seed):
        raise BadArguments(
            f"{subject} was given seed={seed!r}. A seed is an int, or None to continue the "
            "instance's own stream.",
            subject=subject,
        )
    return int(seed)


def _layer_reset(cls: type, raw: Raw) -> Raw:
    form = reset_form(raw)

    def reset(self: AnyEnv, seed: int | None = None, *more: Any, **options: Any) -> Started:
        refuse_positional(cls, more)
        options = _by_name(self, options)
        seed = checked_seed(seed, "reset")
        if not _enter_layer(self, cls, "reset"):
            return _as_started(raw(self, **form.arguments(seed, options)))
        _offer_seed(self, seed)
        try:
            return _as_started(raw(self, **form.arguments(seed, options)))
        except BaseException:
            _end_episode(self)
            raise
        finally:
            _withdraw_seed(self, seed)
            self._calling = False

    return reset


def _layer_areset(cls: type, raw: Raw) -> Raw:
    form = reset_form(raw)

    async def areset(self: AnyEnv, seed: int | None = None, *more: Any, **options: Any) -> Started:
        refuse_positional(cls, more)
        options = _by_name(self, options)
        seed = checked_seed(seed, "reset")
        if not _enter_layer(self, cls, "reset"):
            return _as_started(await raw(self, **form.arguments(seed, options)))
        _offer_seed(self, seed)
        try:
            return _as_started(await raw(self, **form.arguments(seed, options)))
        except BaseException:
            _end_episode(self)
            raise
        finally:
            _withdraw_seed(self, seed)
            self._calling = False

    return areset


def _by_name(env: AnyEnv, options: dict[str, Any]) -> dict[str, Any]:
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


def _offer_seed(env: AnyEnv, seed: int | None) -> None:
    """Let the seed reach the base even through a layer whose reset does not hand it on."""
    if seed is not None:
        env.unwrapped._first_seed = seed


def _withdraw_seed(env: AnyEnv, seed: int | None) -> None:
    if seed is not None:
        env.unwrapped._first_seed = None


# close: the first call counts, on each layer, and is allowed at any time. It is how another
# thread frees an environment that hangs. A layer's close goes on to what it wraps.


def _close(cls: type, raw: Raw) -> Raw:
    def close(self: AnyEnv) -> None:
        if _is_super_call(self, cls):
            raw(self)
        elif _closes_now(self):
            try:
                raw(self)
            finally:
                if self._is_layer:
                    self.env.close()

    return close


def _aclose(cls: type, raw: Raw) -> Raw:
    async def aclose(self: AnyEnv) -> None:
        if _is_super_call(self, cls):
            await raw(self)
        elif _closes_now(self):
            try:
                await raw(self)
            finally:
                if self._is_layer:
                    await self.env.aclose()

    return aclose


def _is_super_call(env: AnyEnv, cls: type) -> bool:
    return type(env) is not cls


def _closes_now(env: AnyEnv) -> bool:
    attribute, closed = ("_closed", True) if env._is_layer else ("_phase", CLOSED)
    if getattr(env, attribute) == closed:
        return False
    setattr(env, attribute, closed)
    return True


def refuse_unless_idle(env: AnyEnv, method: str) -> None:
    """Raise EnvBusy while a call of `env` is running, EnvClosed after its close."""
    phase = BUSY if env._is_layer and env._calling else env.unwrapped._phase
    if phase in (BUSY, CLOSED):
        raise _misuse(phase, method)


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
