"""TicTacToe as a game tree."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gem_envs_games.trees.position import Chance

__all__ = ["TicTacToe"]

_FULL = 0b111_111_111
_LINES = (
    *(0b000_000_111, 0b000_111_000, 0b111_000_000),  # rows
    *(0b001_001_001, 0b010_010_010, 0b100_100_100),  # columns
    *(0b100_010_001, 0b001_010_100),  # diagonals
)
# The game looks a set of cells up here at every move, instead of trying eight lines.
_HAS_LINE = tuple(any(cells & line == line for line in _LINES) for cells in range(_FULL + 1))
_CELLS = {str(cell): 1 << cell for cell in range(9)}
_SEATS = ((0,), (1,))
_NOBODY: tuple[int, ...] = ()


class TicTacToe(NamedTuple):
    """Three in a row on 3x3 cells, which count from 0 by rows. A win is 1 to -1, a draw 0.

    `own` are the cells of the seat that moves now, `other` those of the one that moved last,
    each a number with bit `i` for cell `i`.

    >>> position = TicTacToe()
    >>> for action in ("4", "0", "2", "6", "3"):
    ...     position = position.after(action)
    >>> position.known_to(0), position.movers, position.legal(1)
    ('O.XXX.O..', (1,), ('1', '5', '7', '8'))
    """

    own: int = 0
    other: int = 0
    seat: int = 0

    @property
    def is_over(self) -> bool:
        return _HAS_LINE[self.other] or self.own | self.other == _FULL

    @property
    def movers(self) -> tuple[int, ...]:
        return _NOBODY if self.is_over else _SEATS[self.seat]

    @property
    def has_perfect_information(self) -> bool:
        return True

    def chances(self) -> Chance:
        return ()

    def legal(self, seat: int) -> tuple[str, ...]:
        return _free_cells(self.own | self.other)

    def after(self, *actions: str) -> TicTacToe:
        return TicTacToe(self.other, self.own | _CELLS[actions[0]], 1 - self.seat)

    def known_to(self, seat: int) -> str:
        """Return the board by rows, the first seat's cells as X: both seats see the same."""
        crosses = self.other if self.seat else self.own
        noughts = self.own if self.seat else self.other
        return "".join(
            ["X" if crosses & cell else "O" if noughts & cell else "." for cell in _CELLS.values()]
        )

    def returns(self) -> tuple[float, ...]:
        if not _HAS_LINE[self.other]:
            return (0.0, 0.0)
        return (-1.0, 1.0) if self.seat == 0 else (1.0, -1.0)


@lru_cache(_FULL + 1)
def _free_cells(taken: int) -> tuple[str, ...]:
    return tuple(name for name, cell in _CELLS.items() if not taken & cell)
