"""Warn once a class where one of its resets used chance that no seed of an environment sets."""

from __future__ import annotations

import sys
import threading
import warnings

from gem._python.global_chance import GlobalChance

__all__ = ["first_look", "warn_of_global_chance"]

_looked_at: set[type] = set()


def first_look(cls: type) -> GlobalChance | None:
    """Return the state of the global generators before a reset that is looked at, else None.

    A class's first reset is looked at. Where that one imported modules, and the generators
    changed, the next one is looked at instead.

    Only on the main thread: elsewhere another environment may draw at the same time, and this one
    would be blamed for it.
    """
    if cls in _looked_at or threading.current_thread() is not threading.main_thread():
        return None
    _looked_at.add(cls)
    return GlobalChance.now()


def warn_of_global_chance(cls: type, before: GlobalChance) -> None:
    """Give a RuntimeWarning if a reset changed the state of the global generators."""
    used = " and ".join(before.changed_since())
    if used and len(sys.modules) != before.num_modules:
        # What it imported may have drawn, as rich does, and no episode depends on that.
        _looked_at.discard(cls)
    elif used:
        warnings.warn(
            f"A reset of {cls.__name__} used the global state of {used}, which no seed of "
            "an environment sets: its episodes cannot be reproduced. Take chance from `self.rng`.",
            RuntimeWarning,
            stacklevel=3,  # whoever called reset: above this function and the guard
        )
