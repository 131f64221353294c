"""The board of 2048 as one string, and how it slides. Knows nothing about turns or rewards.

A board is its rows from the top, a character for each cell: "." where it is empty, "a" for a 2,
"b" for a 4, and so on. A tile's *power* is its exponent: 1 for a 2, 2 for a 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from random import Random
from typing import TypeVar

__all__ = [
    "DIRECTIONS",
    "EMPTY",
    "FOUR",
    "TO_FIRST",
    "TO_LAST",
    "LineTable",
    "add_tile",
    "can_slide",
    "drawn",
    "place",
    "slid",
    "tile",
]

DIRECTIONS = ("up", "down", "left", "right")
EMPTY = "."
FOUR = 0.1  # how often a new tile is a 4; else it is a 2
_MOST_LINES = 1 << 16


T = TypeVar("T")


class LineTable(dict[str, T]):
    """Lines of cells and what a function makes of them, worked out when first asked for.

    Bounded: boards larger than 4x4 have more lines than a table should hold.
    """

    def __init__(self, make: Callable[[str], T]) -> None:
        self._make = make

    def __missing__(self, line: str) -> T:
        if len(self) >= _MOST_LINES:
            self.clear()
        slide = self[line] = self._make(line)
        return slide


def tile(power: int) -> str:
    """Return the character of the tile 2**power."""
    return chr(ord("`") + power)


def _slid_line(line: str) -> str:
    """Slide one line to its first cell. A tile that came of a merger does not merge again.

    >>> _slid_line("aa.b"), _slid_line("aaaa"), _slid_line(".a.a")
    ('bb..', 'bb..', 'b...')
    """
    slid: list[str] = []
    may_merge = False
    for cell in line.replace(EMPTY, ""):
        if may_merge and slid[-1] == cell:
            slid[-1] = chr(ord(cell) + 1)
            may_merge = False
        else:
            slid.append(cell)
            may_merge = True
    return "".join(slid).ljust(len(line), EMPTY)


TO_FIRST = LineTable(_slid_line)
TO_LAST = LineTable(lambda line: TO_FIRST[line[::-1]][::-1])


def slid(board: str, direction: str) -> str:
    """Return the board slid in one of the DIRECTIONS, without a new tile.

    >>> slid("a.a." "...." "...." "a...", "up")
    'b.a.............'
    """
    size = math.isqrt(len(board))
    if direction == "left":
        return "".join([TO_FIRST[board[at : at + size]] for at in range(0, len(board), size)])
    if direction == "right":
        return "".join([TO_LAST[board[at : at + size]] for at in range(0, len(board), size)])
    table = TO_FIRST if direction == "up" else TO_LAST
    columns = "".join([table[board[column::size]] for column in range(size)])
    return "".join([columns[row::size] for row in range(size)])


def can_slide(board: str) -> bool:
    """Tell whether any direction changes the board, which holds a tile at least."""
    return EMPTY in board or slid(board, "left") != board or slid(board, "up") != board


def place(board: str, number: int, new: str) -> str:
    """Put the tile `new` on the empty cell of this number, counted from 0 in reading order."""
    at = len(board) - len(board.split(EMPTY, number + 1)[-1]) - 1
    return f"{board[:at]}{new}{board[at + 1 :]}"


def add_tile(board: str, rng: Random) -> str:
    """Add a 2 or, as often as FOUR says, a 4 on an empty cell, each as likely."""
    number = int(rng.random() * board.count(EMPTY))
    return place(board, number, "b" if rng.random() < FOUR else "a")


def _drawn_line(width: int) -> Callable[[str], str]:
    return lambda line: " ".join(
        (EMPTY if cell == EMPTY else str(1 << ord(cell) - ord("`"))).rjust(width) for cell in line
    )


@cache
def _drawn_lines(width: int) -> LineTable[str]:
    return LineTable(_drawn_line(width))


def drawn(board: str, width: int) -> str:
    """Return the board as text, a line for each row, cells `width` characters wide."""
    size = math.isqrt(len(board))
    lines = _drawn_lines(width)
    return "\n".join([lines[board[at : at + size]] for at in range(0, len(board), size)])
