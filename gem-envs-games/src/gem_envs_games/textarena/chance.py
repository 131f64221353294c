"""Keep a game's chance apart from the process's, though it draws from the global generators.

Knows nothing about games.
"""

from __future__ import annotations

import os
import random
import sys
import threading
from typing import Any

__all__ = ["ONE_AT_A_TIME", "Chance"]

ONE_AT_A_TIME = threading.RLock()
"""Held by the thread that is inside a `Chance`."""

if hasattr(os, "register_at_fork"):  # else a child could wait for a thread that it does not have
    os.register_at_fork(
        before=ONE_AT_A_TIME.acquire,
        after_in_parent=ONE_AT_A_TIME.release,
        after_in_child=ONE_AT_A_TIME.release,
    )


class Chance:
    """The state of `random`, and of `numpy.random` once that is imported, of one game.

    Inside `with chance:` they are the process's, and afterwards it has its own again. One thread
    at a time: what another thread draws meanwhile it draws from the game's.

    >>> before = random.getstate()
    >>> with Chance(7):
    ...     drawn = random.random()
    >>> random.getstate() == before
    True
    """

    __slots__ = ("_numpy", "_outside", "_python", "_seed")

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._python = random.Random(seed).getstate()
        self._numpy: Any = None
        self._outside: Any = None

    def __enter__(self) -> None:
        ONE_AT_A_TIME.acquire()
        numpy = _numpy_random()
        self._outside = random.getstate(), numpy, numpy and numpy.get_state()
        random.setstate(self._python)
        if numpy:
            numpy.set_state(self._numpy or numpy.RandomState(self._seed).get_state())

    def __exit__(self, *_: object) -> None:
        python, numpy, numpy_state = self._outside
        self._python = random.getstate()
        self._outside = None
        random.setstate(python)
        if numpy:
            self._numpy = numpy.get_state()
            numpy.set_state(numpy_state)
        ONE_AT_A_TIME.release()

    def twin(self) -> Chance:
        """Return a copy in the same state."""
        twin = Chance(self._seed)
        twin._python = self._python
        twin._numpy = self._numpy
        return twin


def _numpy_random() -> Any:
    module = sys.modules.get("numpy.random")
    return module if hasattr(module, "set_state") else None  # else another thread imports it now
