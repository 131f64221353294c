"""Who meets whom in a league: all line-ups of policies, or a balanced sample of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random
from typing import TypeVar

__all__ = ["MOST_LINE_UPS", "line_ups_of"]

T = TypeVar("T")

MOST_LINE_UPS = 500
"""How many line-ups of more than two seats are played at most, unless another number is given."""


def line_ups_of(policies: Sequence[T], seats: int, most: int) -> list[tuple[T, ...]]:
    """Return all choices of `seats` policies, or `most` of them that are drawn in a balanced way.

    Drawn ones have every policy equally often, or once more: all are dealt out in turn, shuffled
    anew each time, and then evened out. Deterministic.

    >>> line_ups_of("ABC", 2, most=100)
    [('A', 'B'), ('A', 'C'), ('B', 'C')]
    >>> line_ups_of("ABCDEF", 3, most=2)
    [('B', 'C', 'E'), ('A', 'D', 'F')]
    """
    count = len(policies)
    if math.comb(count, seats) <= most:
        return list(combinations(policies, seats))
    random = Random(0)
    drawn: dict[tuple[int, ...], None] = {}
    waiting: list[int] = []
    while len(drawn) < most:
        if len(waiting) < seats:
            # Who still waits comes first, and nobody sits twice in one line-up.
            others = [player for player in range(count) if player not in waiting]
            random.shuffle(others)
            late = waiting[:]
            random.shuffle(late)
            waiting = [*waiting, *others, *late]
        line_up = tuple(sorted(waiting[:seats]))
        if line_up in drawn or len(set(line_up)) < seats:
            waiting = []  # all are dealt out anew
            continue
        drawn[line_up] = None
        del waiting[:seats]
    even = _evened(list(drawn), count)
    return [tuple(policies[player] for player in line_up) for line_up in even]


def _evened(drawn: list[tuple[int, ...]], count: int) -> list[tuple[int, ...]]:
    """Return line-ups in which all players sit equally often, or once more.

    Whoever was dealt out anew before all of a deal had sat has some sit more often than others.
    """
    line_ups = list(drawn)
    while True:
        times = Counter(player for line_up in line_ups for player in line_up)
        often = max(range(count), key=times.__getitem__)
        seldom = min(range(count), key=times.__getitem__)
        if times[often] - times[seldom] <= 1:
            return line_ups
        place, swapped = _swap(line_ups, often, seldom)
        line_ups[place] = swapped


def _swap(
    line_ups: Sequence[tuple[int, ...]], often: int, seldom: int
) -> tuple[int, tuple[int, ...]]:
    """Return the place of a line-up, and itself with one player in the place of another.

    There is one that does not become another of them: more have the first player without the
    second than the second without the first.
    """
    there = set(line_ups)
    swaps = (
        (place, tuple(sorted({*line_up, seldom} - {often})))
        for place, line_up in enumerate(line_ups)
        if often in line_up and seldom not in line_up
    )
    return next((place, swapped) for place, swapped in swaps if swapped not in there)
