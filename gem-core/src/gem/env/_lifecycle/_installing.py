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
            put(cls, name, functools.update_wrapper(guard(cls, raw), raw), owner, raw)
        if async_raw is not None:
            async_form = functools.update_wrapper(async_guard(cls, async_raw), async_raw)
            put(cls, async_name, async_form, owner, async_raw)
        # After the written forms, which these are derived from: they call the guarded ones.
        if raw is None:
            put(cls, name, derive(cls, name, async_name))
        if async_raw is None:
            put(cls, async_name, derive(cls, async_name, name))
    cls._reset_form = reset_form(cls.reset)  # a guard has the signature that its author wrote
    sampler = vars(cls).get("sample_action")
    if inspect.isfunction(sampler) and not cls._is_layer:
        cls.sample_action = guarded_sample_action(sampler)
