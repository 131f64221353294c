"""ConnectFour as a game tree."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gem_envs_games.trees.position import Chance

__all__ = ["ConnectFour", "has_four"]

_SEATS = ((0,), (1,))
_NOBODY: tuple[int, ...] = ()
_SIGNS = str.maketrans("012", ".XO")


class ConnectFour(NamedTuple):
    """Four in a line on a grid into whose columns discs fall. A win is 1 to -1, a draw 0.

    A set of cells is a number: the cell of column `c` and height `h` (0 is the lowest) is bit
    `c * (rows + 1) + h`. The bit above each column is never set, so that no line goes from the
    top of one column to the bottom of the next. `own` are the discs of the seat that moves now,
    `taken` those of both. Columns count from 0.

    >>> position = ConnectFour()
    >>> for action in ("3", "3", "4", "4", "5", "5", "6"):
    ...     position = position.after(action)
    >>> position.is_over, position.returns()
    (True, (1.0, -1.0))
    """

    own: int = 0
    taken: int = 0
    seat: int = 0
    is_won: bool = False
    rows: int = 6
    columns: int = 7

    @property
    def is_over(self) -> bool:
        return self.is_won or self.taken == _full_board(self.rows, self.columns)

    @property
    def movers(self) -> tuple[int, ...]:
        return _NOBODY if self.is_over else _SEATS[self.seat]

    @property
    def has_perfect_information(self) -> bool:
        return True

    def chances(self) -> Chance:
        return ()

    def legal(self, seat: int) -> tuple[str, ...]:
        pitch = self.rows + 1
        top = 1 << self.rows - 1
        return tuple(
            [
                str(column)
                for column in range(self.columns)
                if not self.taken & top << column * pitch
            ]
        )

    def after(self, *actions: str) -> ConnectFour:
        own, taken, seat, _, rows, columns = self
        # To add a column's lowest bit carries through its discs to the first free cell.
        disc = taken + (1 << int(actions[0]) * (rows + 1)) & ~taken
        return ConnectFour(
            own=own ^ taken,
            taken=taken | disc,
            seat=1 - seat,
            is_won=has_four(own | disc, rows + 1),
            rows=rows,
            columns=columns,
        )

    def known_to(self, seat: int) -> str:
        """Return the rows from the top, the first seat's discs as X: both seats see the same."""
        pitch = self.rows + 1
        first = self.own ^ self.taken if self.seat else self.own
        second = first ^ self.taken
        # A decimal digit for each cell, 1 for the first seat and 2 for the second: to look at each
        # bit by itself took half of a step (benchmarks/seats.py).
        digits = int(f"{first:b}") + 2 * int(f"{second:b}")
        cells = f"{digits:0{self.columns * pitch}d}".translate(_SIGNS)[::-1]
        return "/".join([cells[height::pitch] for height in range(self.rows - 1, -1, -1)])

    def returns(self) -> tuple[float, ...]:
        if not self.is_won:
            return (0.0, 0.0)
        return (-1.0, 1.0) if self.seat == 0 else (1.0, -1.0)


def has_four(discs: int, pitch: int) -> bool:
    """Tell whether four of these discs stand in a line. `pitch` is the height plus 1."""
    for step in (1, pitch, pitch - 1, pitch + 1):  # up, across, and both diagonals
        pairs = discs & discs >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


@lru_cache(64)
def _full_board(rows: int, columns: int) -> int:
    column = (1 << rows) - 1
    return sum(column << number * (rows + 1) for number in range(columns))
