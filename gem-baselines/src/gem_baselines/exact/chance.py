"""Every course that chance can take through a function, each with its probability.

What draws from a finite set, as `randint`, `choice`, `choices`, `shuffle` and `sample` do, is a
branch for each of its elements, and `random() < 0.3` is one for each answer. Knows nothing about
environments.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NoReturn, TypeVar

__all__ = ["Hidden", "Looked", "Uncountable", "courses", "courses_by_length"]

T = TypeVar("T")

_CERTAIN = Fraction(1)
_MOST_BITS = 16  # of a number whose every value is a course; a larger one may only be kept


class Uncountable(Exception):
    """A draw that has too many outcomes to be enumerated, or courses that are too many."""


class _TooLong(BaseException):
    """A course took more draws than it may. No `except Exception` of the function stops it."""


class Looked(BaseException):
    """A number that is hidden was looked at. `courses` makes Uncountable of it.

    No `except Exception` of an environment stops it: what it then did would count as a course.
    """


class Hidden:
    """A number that cannot be enumerated. It may be kept; what looks at it raises Looked."""

    what = "a draw of a large number"

    def _look(self, *_: Any) -> NoReturn:
        raise Looked(self.what)

    # `isinstance` asks for the class where it is no subclass: as which number it would be read.
    __class__ = property(_look)
    __getattr__ = _look


_BINARY = "add sub mul truediv floordiv mod divmod pow and or xor lshift rshift"
_OTHERS = (
    "eq ne lt le gt ge hash bool int float complex index str repr format bytes neg pos abs invert "
    "round trunc floor ceil"
)
for _name in [*_OTHERS.split(), *_BINARY.split(), *(f"r{name}" for name in _BINARY.split())]:
    setattr(Hidden, f"__{_name}__", Hidden._look)


class _Real(Hidden):
    """A draw from 0 to 1. Compared with a number it is a draw of which of the two is larger."""

    what = "a draw of a real number"

    def __init__(self, script: _Script) -> None:
        self._script = script
        self._course = script.course
        self._low = Fraction(0)  # it lies between these, as far as it was looked at
        self._high = Fraction(1)

    def part(self, edges: Sequence[Fraction | float]) -> int:
        """Draw between which two of these edges it lies, from 0 to 1; return the first's place."""
        if self._course != self._script.course:  # kept where no state has it, and looked at later
            raise Looked(self.what)
        within = [Fraction(min(max(edge, 0), 1)) for edge in edges]  # one may be infinite
        ends = [min(max(edge, self._low), self._high) for edge in within]
        drawn = self._script.pick([high - low for low, high in itertools.pairwise(ends)])
        self._low, self._high = ends[drawn], ends[drawn + 1]
        return drawn

    def __lt__(self, other: float) -> bool:
        return self.part([0, other, 1]) == 0

    def __ge__(self, other: float) -> bool:
        return self.part([0, other, 1]) == 1

    # That it is the other number itself has no probability.
    __le__ = __lt__
    __gt__ = __ge__

    def __mul__(self, count: int) -> _Scaled:
        if type(count) is not int or count < 1:
            raise Looked(self.what)
        return _Scaled(self, count)

    __rmul__ = __mul__


class _Scaled(Hidden):
    """A draw from 0 to a whole number: rounded down it is a draw from as many numbers."""

    what = "a draw of a real number"

    def __init__(self, real: _Real, count: int) -> None:
        self._real = real
        self._count = count

    def __int__(self) -> int:
        return self._real.part([Fraction(edge, self._count) for edge in range(self._count + 1)])

    __trunc__ = __floor__ = __int__


class _Script(random.Random):
    """A generator whose draws are given, and 0 from there on; it notes how many each had."""

    def __init__(self) -> None:
        super().__init__(0)
        self.course = 0

    def begin(self, script: tuple[int, ...], most_draws: int) -> None:
        """Begin another course. It is cheaper than another generator, whose seeding takes long."""
        self.course += 1
        self._script = script
        self.sizes: list[int] = []
        self._most_draws = most_draws
        self._bias: Fraction | int = 1  # of what was drawn, beside an even draw from as many
        self.gauss_next = None

    @property
    def probability(self) -> Fraction:
        """How probable it is that chance takes this course."""
        return Fraction(self._bias, math.prod(self.sizes)) if self.sizes else _CERTAIN

    def _randbelow(self, n: int) -> int:
        # Everything of `random.Random` that draws evenly from a finite set comes down to this
        # method: `Random.__init_subclass__` leaves it alone in a class that defines it.
        if n == 1:
            return 0
        at = len(self.sizes)
        if at >= self._most_draws:
            raise _TooLong
        self.sizes.append(n)
        return self._script[at] if at < len(self._script) else 0

    def pick(self, weights: Sequence[Fraction]) -> int:
        """Draw the place of a weight, as probable as the weight is large."""
        possible = [at for at, weight in enumerate(weights) if weight]
        picked = possible[self._randbelow(len(possible))]
        self._bias *= weights[picked] * len(possible) / sum(weights)
        return picked

    def choices(
        self,
        population: Any,
        weights: Sequence[Any] | None = None,
        *,
        cum_weights: Sequence[Any] | None = None,
        k: int = 1,
    ) -> list[Any]:
        if cum_weights is not None:
            sums = [Fraction(each) for each in cum_weights]
            shares = [after - before for before, after in itertools.pairwise([Fraction(0), *sums])]
        elif weights is not None:
            shares = [Fraction(each) for each in weights]
        else:
            shares = [Fraction(1)] * len(population)
        return [population[self.pick(shares)] for _ in range(k)]

    def getrandbits(self, k: int) -> Any:
        return self._randbelow(1 << k) if k <= _MOST_BITS else Hidden()

    def random(self) -> Any:
        return _Real(self)


def courses(
    function: Callable[[random.Random], T], *, at_most: int, most_draws: int = 64
) -> Iterator[tuple[Fraction, T]]:
    """Call a function once for each course of chance, and yield its probability and the result.

    The generator that the function is given takes the course. They come in a fixed order, the
    first choices first, and the probabilities sum to 1. Raises Uncountable where a course takes
    more than `most_draws` draws, where there are more than `at_most` courses, and where the
    function looks at what no list holds: a `random()` that it does more with than to compare it, or
    a large number of `getrandbits`. Both may be kept, as a key of what is drawn later.

    >>> list(courses(lambda rng: rng.randint(1, 2), at_most=9))
    [(Fraction(1, 2), 1), (Fraction(1, 2), 2)]
    """
    script = _Script()
    choices: tuple[int, ...] | None = ()
    count = 0
    while choices is not None:
        count += 1
        if count > at_most:
            raise Uncountable(f"more than {at_most:,} courses of chance")
        script.begin(choices, most_draws)
        try:
            result = function(script)
        except _TooLong:
            raise Uncountable(f"more than {most_draws} draws in a row") from None
        except Looked as error:
            raise Uncountable(str(error)) from None
        yield script.probability, result
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
    script = _Script()
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
                script.begin(taken, most_draws=len(taken))
                try:
                    result = function(script)
                except _TooLong:
                    longer.append(taken)
                except Looked as error:
                    raise Uncountable(str(error)) from None
                else:
                    ended.append((script.probability, result))
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
