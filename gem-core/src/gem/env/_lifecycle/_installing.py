"""Put the guards around a class's own reset, step and close, and derive the forms it lacks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from gem.env._lifecycle._closing import guarded_aclose, guarded_close
from gem.env._lifecycle._forms import Raw, derive, nearest_author, put, written
from gem.env._lifecycle._resetting import (
    guarded_areset,
    guarded_layer_areset,
    guarded_layer_reset,
    guarded_reset,
)
from gem.env._lifecycle._seating import (
    seated_astep,
    seated_reset,
    seated_step,
    step_all_waits,
)
from gem.env._lifecycle._stepping import (
    guarded_astep,
    guarded_layer_astep,
    guarded_layer_step,
    guarded_sample_action,
    guarded_step,
)
from gem.env._reset_options import reset_form

__all__ = ["install"]

Guard = Callable[[type, Raw], Raw]

_PAIRS = (("reset", "areset"), ("step", "astep"), ("close", "aclose"))

# By the name of the synchronous form, and whether the class is a wrapper.
_GUARDS: dict[tuple[str, bool], tuple[Guard, Guard]] = {
    ("reset", False): (guarded_reset, guarded_areset),
    ("reset", True): (guarded_layer_reset, guarded_layer_areset),
    ("step", False): (guarded_step, guarded_astep),
    ("step", True): (guarded_layer_step, guarded_layer_astep),
    ("close", False): (guarded_close, guarded_aclose),
    ("close", True): (guarded_close, guarded_aclose),
}

# What goes between the guard and the author's own form, where a class has several seats.
_SEATED: dict[str, Guard] = {
    "reset": seated_reset,
    "areset": seated_reset,
    "step": seated_step,
    "astep": seated_astep,
}


_WITHOUT_NAMES = ("__module__", "__doc__")


def install(cls: Any) -> None:
    """Guard the Env subclass `cls`. Raises TypeError where it writes both forms of a method.

    Each class gets guards of its own, also around what it inherits: a guard tells a call from
    outside from a super() call by whether its class is the instance's.
    """
    for name, async_name in _PAIRS:
        owner = nearest_author(cls, name, async_name)
        raw = written(owner, name)
        async_raw = written(owner, async_name)
        guard, async_guard = _GUARDS[name, cls._is_layer]
        if raw is not None:
            guarded = guard(cls, _inside(cls, name, raw))
            put(cls, name, functools.update_wrapper(guarded, raw), owner, raw)
        if async_raw is not None:
            guarded = async_guard(cls, _inside(cls, async_name, async_raw))
            put(cls, async_name, functools.update_wrapper(guarded, async_raw), owner, async_raw)
        elif raw is not None and cls._is_seated and name == "step" and step_all_waits(cls):
            # Not derived: it would hold up the event loop while `step_all` waits. It counts as
            # derived all the same, for a subclass may write `step_all` in another form.
            guarded = guarded_astep(cls, seated_astep(cls, raw))
            put(cls, "astep", functools.update_wrapper(guarded, raw, _WITHOUT_NAMES), None, raw)
            async_raw = raw
        # After the written forms, which these are derived from: they call the guarded ones.
        if raw is None:
            put(cls, name, derive(cls, name, async_name))
        if async_raw is None:
            put(cls, async_name, derive(cls, async_name, name))
    cls._reset_form = reset_form(cls.reset)  # a guard has the signature that its author wrote
    sampler = vars(cls).get("sample_action")
    if inspect.isfunction(sampler) and not cls._is_layer:
        cls.sample_action = guarded_sample_action(sampler)


def _inside(cls: Any, name: str, raw: Raw) -> Raw:
    """Return what a guard is put around."""
    return _SEATED[name](cls, raw) if cls._is_seated and name in _SEATED else raw
