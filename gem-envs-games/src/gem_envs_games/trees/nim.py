"""Nim as a game tree."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gem_envs_games.trees.position import Chance

__all__ = ["Nim"]

_SEATS = ((0,), (1,))
_NOBODY: tuple[int, ...] = ()


class Nim(NamedTuple):
    """Take any number of objects from one pile in turn; who takes the last one wins.

    Where it is misère, who takes the last one loses. A win is 1 to -1. Piles count from 0, and
    the action "1 3" takes three objects from pile 1.

    >>> Nim((1, 2)).legal(0)
    ('0 1', '1 1', '1 2')
    """

    piles: tuple[int, ...] = (3, 4, 5)
    seat: int = 0
    misere: bool = False

    @property
    def is_over(self) -> bool:
        return not any(self.piles)

    @property
    def movers(self) -> tuple[int, ...]:
        return _SEATS[self.seat] if any(self.piles) else _NOBODY

    @property
    def has_perfect_information(self) -> bool:
        return True

    def chances(self) -> Chance:
        return ()

    def legal(self, seat: int) -> tuple[str, ...]:
        return _takings(self.piles)

    def after(self, *actions: str) -> Nim:
        return Nim(_left(self.piles, actions[0]), 1 - self.seat, self.misere)

    def known_to(self, seat: int) -> str:
        """Return the piles and who moves: both seats see the same."""
        return f"{self.seat}: {' '.join(map(str, self.piles))}"

    def returns(self) -> tuple[float, ...]:
        if not self.is_over:
            return (0.0, 0.0)
        winner = self.seat if self.misere else 1 - self.seat
        return (1.0, -1.0) if winner == 0 else (-1.0, 1.0)


@lru_cache(4096)  # a game asks at every move, and there are few positions
def _takings(piles: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(
        f"{pile} {count}" for pile, size in enumerate(piles) for count in range(1, size + 1)
    )


@lru_cache(4096)
def _left(piles: tuple[int, ...], action: str) -> tuple[int, ...]:
    pile, _, count = action.partition(" ")
    sizes = list(piles)
    sizes[int(pile)] -= int(count)
    return tuple(sizes)
