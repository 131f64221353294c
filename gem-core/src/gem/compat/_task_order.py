"""The order of tasks in an environment over a finite set: every one before any again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gem._python.seeding import stream

if TYPE_CHECKING:
    import random

__all__ = ["TaskOrder"]


class TaskOrder:
    """A part of an environment, whose state is plain data: a snapshot holds it.

    Put it before `gem.Env` or a wrapper among the bases of a class.
    """

    _key: int | None = None
    _epoch: int = 0
    _place: int = 0
    _moved: dict[int, int]  # by its place, each task that the shuffle has moved there

    def begin(self, seed: int, *, epoch: int = 0) -> None:
        """Begin an order that the seed fixes; that of each epoch is another one."""
        self._key = seed
        self._epoch = epoch
        self._place = 0
        self._moved = {}

    def next_task(self, size: int, seed: int | None, rng: random.Random) -> int:
        """Return the next task of `range(size)`.

        A seed begins an order of its own. None goes on with the present one, and where there
        is none yet begins one that `rng` draws; after the last task another order begins.
        """
        if seed is not None or self._key is None:
            self.begin(rng.getrandbits(63) if seed is None else seed)
        elif self._place == size:
            self.begin(self._key, epoch=self._epoch + 1)
        assert self._key is not None  # `begin` has set it
        # One step of a shuffle of range(size), of which only the moved places are kept: an order
        # of a million tasks costs what is drawn from it.
        place = self._place
        chosen = stream("compat", self._key, self._epoch, place).randrange(place, size)
        task = self._moved.get(chosen, chosen)
        self._moved[chosen] = self._moved.pop(place, place)
        self._place += 1
        return task
