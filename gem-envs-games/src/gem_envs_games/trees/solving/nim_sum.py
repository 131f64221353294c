"""Perfect play of Nim, by the exclusive or of its piles (Bouton, 1901)."""

from __future__ import annotations

from functools import reduce
from operator import xor

from gem_envs_games.trees.nim import Nim

__all__ = ["best_nim_move"]


def best_nim_move(position: Nim) -> str:
    """Return a move that wins if any does, else one object from the largest pile.

    Exact for any piles, in linear time. The seat that moves wins if and only if the exclusive
    or of the piles is not 0; misère, where no pile has two objects, if and only if it is 0.

    >>> best_nim_move(Nim((3, 4, 5)))
    '0 2'
    """
    piles = position.piles
    total = reduce(xor, piles)
    large = [pile for pile, size in enumerate(piles) if size > 1]
    if position.misere and len(large) <= 1:
        return _misere_end(piles, large)
    for pile, size in enumerate(piles):
        # To leave `size ^ total` makes the exclusive or 0; it must be fewer than there are.
        if size ^ total < size:
            return f"{pile} {size - (size ^ total)}"
    return f"{piles.index(max(piles))} 1"


def _misere_end(piles: tuple[int, ...], large: list[int]) -> str:
    """Leave an odd number of piles of one object, so that the other takes the last one."""
    ones = piles.count(1)
    if not large:
        return f"{piles.index(1)} 1"
    size = piles[large[0]]
    left = 1 if ones % 2 == 0 else 0
    return f"{large[0]} {size - left}"
