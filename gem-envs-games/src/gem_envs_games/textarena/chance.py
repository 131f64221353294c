"""Keep a game's chance apart from the process's, though its modules draw from `random`.

Knows nothing about games.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import random
import sys
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["BRIEF_LOCK", "Chance", "lend", "seeded"]

BRIEF_LOCK = threading.RLock()
"""Held for an import, for a copy and as a step begins, which all end soon.

Never while a game is asked. A game can hang, its thread is then left behind at the deadline of its
step, and what it held would stop every other game, and every fork of the process.
"""

if hasattr(os, "register_at_fork"):  # else a child could wait for a thread that it does not have
    os.register_at_fork(
        before=BRIEF_LOCK.acquire,
        after_in_parent=BRIEF_LOCK.release,
        after_in_child=BRIEF_LOCK.release,
    )


class _Here(threading.local):
    """The chance that the calling thread is inside of.

    It is each thread's own, so that games in threads need not wait for each other, and one that
    was left behind draws from its own generator, however late.
    """

    chance: Chance | None = None


_HERE = _Here()


class _Lent:
    """Stands in for the module `random` where it was lent: the generator of who is inside.

    It counts, since a game that draws for ever is one that would never return.
    """

    def __getattr__(self, name: str) -> Any:
        chance = _HERE.chance
        if chance is None:
            return getattr(random, name)
        chance.count_draw()
        # What generators lack, such as the class `Random`, is the module's.
        return getattr(chance.generator, name, None) or getattr(random, name)


class _LentNumpy:
    """Stands in for the module `numpy` where it was lent, with `random` of who is inside."""

    def __init__(self, numpy: Any) -> None:
        self._numpy = numpy
        self.random = _LentNumpyRandom(numpy.random)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numpy, name)


class _LentNumpyRandom:
    """Stands in for `numpy.random`, whose functions are methods of its class `RandomState`."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        chance = _HERE.chance
        if chance is None:
            return getattr(self._module, name)
        chance.count_draw()
        generator = chance.numpy_generator(self._module)
        # What generators lack, such as `default_rng`, is the module's.
        return getattr(generator, name, None) or getattr(self._module, name)


_LENT = _Lent()


def lend(package: str, game: object) -> None:
    """Let the modules of a package that are imported so far draw from the `Chance` they are in.

    So does what the game has of `random` in its attributes. Outside of any they draw from
    `random` and `numpy.random`, as ever.
    """
    numpy = sys.modules.get("numpy")
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(f"{package}."):
            for attribute, value in list(vars(module).items()):
                if value is random:
                    setattr(module, attribute, _LENT)
                elif value is numpy and numpy is not None:
                    setattr(module, attribute, _LentNumpy(numpy))
    for attribute, value in list(vars(game).items()):
        if isinstance(getattr(value, "__self__", None), random.Random):
            setattr(game, attribute, functools.partial(_draw, value.__name__))


def _draw(name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(_LENT, name)(*args, **kwargs)


class Chance:
    """The generators of one game, which `lend` makes its modules draw from.

    Inside `with chance:` they are what the modules draw from on this thread; other threads may be
    inside others meanwhile. Of `random` and `numpy.random` nothing is read or changed. `most` is
    how often it may be drawn from inside one `with`, and RuntimeError is raised then.

    >>> one, other = Chance(7), Chance(7)
    >>> with one:
    ...     drawn = _LENT.random()
    >>> with other:
    ...     drawn == _LENT.random()
    True
    """

    __slots__ = ("_left", "_most", "_numpy_generator", "_outer", "_seed", "generator")

    def __init__(self, seed: int, *, most: float = float("inf")) -> None:
        self._seed = seed
        self._most = most
        self._left = most
        self.generator = random.Random(seed)
        self._numpy_generator: Any = None
        self._outer: Chance | None = None

    def __enter__(self) -> None:
        here = _HERE
        self._outer = here.chance
        self._left = self._most
        here.chance = self

    def __exit__(self, *_: object) -> None:
        _HERE.chance = self._outer
        self._outer = None

    def count_draw(self) -> None:
        """Count a number that is drawn. Raises RuntimeError where it is one too many."""
        self._left -= 1
        if self._left < 0:
            raise RuntimeError("it draws without end")

    def numpy_generator(self, module: Any) -> Any:
        """Return what is drawn from in place of `numpy.random`, which is this module."""
        if self._numpy_generator is None:  # most games never draw from it, and it takes 0.1 ms
            self._numpy_generator = module.RandomState(self._seed)
        return self._numpy_generator

    def twin(self) -> Chance:
        """Return a copy in the same state."""
        twin = Chance(self._seed, most=self._most)
        twin.generator.setstate(self.generator.getstate())
        twin._numpy_generator = copy.deepcopy(self._numpy_generator)
        return twin


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators, for what modules draw as they are imported, and put them back."""
    with BRIEF_LOCK:
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
