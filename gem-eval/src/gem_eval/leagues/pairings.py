"""Who meets whom in a league: all line-ups of policies, or a balanced sample of them."""

from __future__ import annotations

import math
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
    anew each time. Deterministic.

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
    return [tuple(policies[player] for player in line_up) for line_up in drawn]
