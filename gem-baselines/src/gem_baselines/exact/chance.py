"""Every course that chance can take through a function, each with its probability.

What draws from a finite set, as `randint`, `choice`, `shuffle` and `sample` do, is a branch for
each of its elements. Knows nothing about environments.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NoReturn, TypeVar

__all__ = ["Uncountable", "courses", "courses_by_length"]

T = TypeVar("T")


class Uncountable(Exception):
    """A draw that has too many outcomes to be enumerated, or courses that are too many."""


class _TooLong(BaseException):
    """A course took more draws than it may. No `except Exception` of the function stops it."""


class _Script(random.Random):
    """A generator whose draws are given, and 0 from there on; it notes how many each had."""

    def __init__(self, script: tuple[int, ...], most_draws: int) -> None:
        super().__init__(0)
        self._script = script
        self.sizes: list[int] = []
        self._most_draws = most_draws

    def _randbelow(self, n: int) -> int:
        # Everything of `random.Random` that draws from a finite set comes down to this method:
        # `Random.__init_subclass__` leaves it alone in a class that defines it.
        if n == 1:
            return 0
        at = len(self.sizes)
        if at >= self._most_draws:
            raise _TooLong
        self.sizes.append(n)
        return self._script[at] if at < len(self._script) else 0

    def getrandbits(self, k: int) -> int:
        return self._randbelow(1 << k)

    def random(self) -> NoReturn:
        raise Uncountable("a draw of a real number")


def courses(
    function: Callable[[random.Random], T], *, at_most: int, most_draws: int = 64
) -> Iterator[tuple[Fraction, T]]:
    """Call a function once for each course of chance, and yield its probability and the result.

    The generator that the function is given takes the course. They come in a fixed order, the
    first choices first, and the probabilities sum to 1. Raises Uncountable where a course takes
    more than `most_draws` draws, where there are more than `at_most` courses, and where the
    function draws what no list holds: `random()` and what is made of it.

    >>> list(courses(lambda rng: rng.randint(1, 2), at_most=9))
    [(Fraction(1, 2), 1), (Fraction(1, 2), 2)]
    """
    choices: tuple[int, ...] | None = ()
    count = 0
    while choices is not None:
        count += 1
        if count > at_most:
            raise Uncountable(f"more than {at_most:,} courses of chance")
        script = _Script(choices, most_draws)
        try:
            result = function(script)
        except _TooLong:
            raise Uncountable(f"more than {most_draws} draws in a row") from None
        yield Fraction(1, math.prod(script.sizes)), result
        # As the script went on with 0 where its choices ended, so does the course.
        taken = (*choices, *[0] * (len(script.sizes) - len(choices)))
        choices = _next_choices(taken, script.sizes)


def courses_by_length(
    function: Callable[[random.Random], T], *, at_most: int
) -> Iterator[list[tuple[Fraction, T]]]:
    """Yield all courses that end within one draw, then all that end with the second, and so on.

    Each is its probability and the result, as `courses` gives them. What draws again until
    something fits has courses of every length, so that the caller says when it has seen enough.
    Raises Uncountable where the function was to be called more than `at_most` times in all.

    >>> list(courses_by_length(lambda rng: rng.choice([0, rng.randint(1, 2)]), at_most=9))
    [[], [(Fraction(1, 4), 0), (Fraction(1, 4), 1), (Fraction(1, 4), 0), (Fraction(1, 4), 2)]]
    """
    unfinished: list[tuple[int, ...]] = [()]
    calls = 0
    while unfinished:
        ended: list[tuple[Fraction, T]] = []
        longer: list[tuple[int, ...]] = []
        for choices in unfinished:
            # How many branches the next draw has is known once it was made.
            branches = 1
            branch = 0
            while branch < branches:
                calls += 1
                if calls > at_most:
                    raise Uncountable(f"more than {at_most:,} courses of chance")
                taken = (*choices, branch)
                script = _Script(taken, most_draws=len(taken))
                try:
                    result = function(script)
                except _TooLong:
                    longer.append(taken)
                else:
                    ended.append((Fraction(1, math.prod(script.sizes)), result))
                if len(script.sizes) == len(taken):
                    branches = script.sizes[-1]
                branch += 1
        yield ended
        unfinished = longer


def _next_choices(taken: tuple[int, ...], sizes: list[int]) -> tuple[int, ...] | None:
    """Return the choices of the next course, up to the draw where it parts; None at the end."""
    for at in range(len(taken) - 1, -1, -1):
        if taken[at] + 1 < sizes[at]:
            return (*taken[:at], taken[at] + 1)
    return None
