"""Keep a game's chance apart from the process's, though its modules draw from `random`.

Knows nothing about games.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import random
import sys
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["ONE_AT_A_TIME", "Chance", "lend", "seeded"]

ONE_AT_A_TIME = threading.RLock()
"""Held by the thread that is inside a `Chance`."""

if hasattr(os, "register_at_fork"):  # else a child could wait for a thread that it does not have
    os.register_at_fork(
        before=ONE_AT_A_TIME.acquire,
        after_in_parent=ONE_AT_A_TIME.release,
        after_in_child=ONE_AT_A_TIME.release,
    )


class _Lent:
    """Stands in for the module `random` where it was lent: the generator of who is inside.

    It counts, since a game that draws for ever is one that would never return.
    """

    def __init__(self) -> None:
        self.generator: Any = random
        self.left = float("inf")

    def __getattr__(self, name: str) -> Any:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("it draws without end")
        # What generators lack, such as the class `Random`, is the module's.
        return getattr(self.generator, name, None) or getattr(random, name)


_LENT = _Lent()


def lend(package: str, game: object) -> None:
    """Let the modules of a package that are imported so far draw from the `Chance` they are in.

    So does what the game has of `random` in its attributes. Outside of any they draw from
    `random`, as ever.
    """
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(f"{package}."):
            for attribute, value in list(vars(module).items()):
                if value is random:
                    setattr(module, attribute, _LENT)
    for attribute, value in list(vars(game).items()):
        if isinstance(getattr(value, "__self__", None), random.Random):
            setattr(game, attribute, functools.partial(_draw, value.__name__))


def _draw(name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(_LENT, name)(*args, **kwargs)


class Chance:
    """The generator of one game, which `lend` makes its modules draw from; seldom `numpy.random`.

    Inside `with chance:` it is theirs, for one thread at a time. Of `random` nothing is read or
    changed: to swap its state costs 25 microseconds, which is more than most games take to step.
    `most` is how often it may be drawn from inside one `with`, and RuntimeError is raised then.
    With `has_numpy` the state of `numpy.random` is swapped, which takes 200: what another thread
    draws from that meanwhile it draws from the game's.

    >>> one, other = Chance(7), Chance(7)
    >>> with one:
    ...     drawn = _LENT.random()
    >>> with other:
    ...     drawn == _LENT.random()
    True
    """

    __slots__ = ("_generator", "_has_numpy", "_most", "_numpy", "_outer", "_outer_numpy", "_seed")

    def __init__(self, seed: int, *, has_numpy: bool = False, most: float = float("inf")) -> None:
        self._seed = seed
        self._most = most
        self._generator = random.Random(seed)
        self._has_numpy = has_numpy
        self._numpy: Any = None
        self._outer: Any = None
        self._outer_numpy: Any = None

    def __enter__(self) -> None:
        ONE_AT_A_TIME.acquire()
        self._outer = _LENT.generator, _LENT.left
        _LENT.generator = self._generator
        _LENT.left = self._most
        if self._has_numpy:
            # Here, since numpy itself imports it when it is first asked for a number.
            numpy: Any = importlib.import_module("numpy.random")
            self._outer_numpy = numpy, numpy.get_state()
            numpy.set_state(self._numpy or numpy.RandomState(self._seed).get_state())

    def __exit__(self, *_: object) -> None:
        _LENT.generator, _LENT.left = self._outer
        self._outer = None
        if self._outer_numpy:
            numpy, outer_state = self._outer_numpy
            self._outer_numpy = None
            self._numpy = numpy.get_state()
            numpy.set_state(outer_state)
        ONE_AT_A_TIME.release()

    def twin(self) -> Chance:
        """Return a copy in the same state."""
        twin = Chance(self._seed, has_numpy=self._has_numpy, most=self._most)
        twin._generator.setstate(self._generator.getstate())
        twin._numpy = self._numpy
        return twin


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators, for what modules draw as they are imported, and put them back."""
    with ONE_AT_A_TIME:
        python = random.getstate()
        numpy = _numpy_random()
        numpy_state = numpy.get_state() if numpy else None
        random.seed(seed)
        if numpy:
            numpy.seed(seed)
        try:
            yield
        finally:
            random.setstate(python)
            if numpy:
                numpy.set_state(numpy_state)


def _numpy_random() -> Any:
    module = sys.modules.get("numpy.random")
    return module if hasattr(module, "set_state") else None  # else another thread imports it now
