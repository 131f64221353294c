"""The room as text, and what a move does to it. Knows nothing about goals to reach or turns.

A board has a symbol for each cell, cells apart by a space and rows by a line end, so that cell
`i`, counted along the rows, stands at index `2 * i`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MOVES", "Masks", "ahead", "board_of", "legal_moves", "masks_of", "moved"]

MOVES = {"u": (-1, 0), "d": (1, 0), "l": (0, -1), "r": (0, 1)}
"""The letters of moves, each with the rows and columns that the player goes."""

_LEFT = {"P": "_", "+": "O"}
_ENTERED = {"_": "P", "O": "+", "X": "P", "√": "+"}
_FILLED = {"_": "X", "O": "√"}


class Masks(NamedTuple):
    """A board as sets of cells: bit `i` of each number is cell `i`. `floor` holds all but walls."""

    floor: int
    goals: int
    boxes: int
    player: int
    cols: int


def moved(board: str, move: str) -> str | None:
    r"""Return the board after a move, one of the letters of `MOVES`; None where it is blocked.

    >>> moved("# # # # #\n# P X O #\n# # # # #", "r")
    '# # # # #\n# _ P √ #\n# # # # #'
    """
    here, there, beyond = _places(board, move)
    entered = board[there]
    if entered == "#":
        return None
    cells = list(board)
    if entered in "X√":
        filled = _FILLED.get(board[beyond])
        if filled is None:
            return None
        cells[beyond] = filled
    cells[here] = _LEFT[board[here]]
    cells[there] = _ENTERED[entered]
    return "".join(cells)


def ahead(board: str, move: str) -> str:
    """Return the symbol of the cell that a move goes to."""
    return board[_places(board, move)[1]]


def _places(board: str, move: str) -> tuple[int, int, int]:
    """Return where the player stands, the cell it goes to, and the cell behind that one."""
    down, right = MOVES[move]
    here = board.find("P")
    if here < 0:
        here = board.find("+")
    by = 2 * right + down * (board.find("\n") + 1)
    return here, here + by, here + 2 * by


def legal_moves(board: str) -> str:
    r"""Return the letters of the moves that are not blocked.

    >>> legal_moves("# # # # #\n# P X O #\n# # # # #")
    'r'
    """
    return "".join(move for move in MOVES if moved(board, move) is not None)


def masks_of(board: str) -> Masks:
    """Read a board. Linear time."""
    cells = board[::2]
    cols = board.find("\n") // 2 + 1
    floor, goals, boxes, player = (
        _mask(cells, symbols) for symbols in ("_OX√P+", "O√+", "X√", "P+")
    )
    return Masks(floor, goals, boxes, player, cols)


def _mask(cells: str, symbols: str) -> int:
    return sum(1 << place for place, cell in enumerate(cells) if cell in symbols)


def board_of(masks: Masks, rows: int) -> str:
    """Write a board, the inverse of `masks_of`."""
    floor, goals, boxes, player, cols = masks
    cells = ["#"] * (rows * cols)
    while floor:
        bit = floor & -floor
        floor ^= bit
        symbol = "O" if goals & bit else "_"
        if boxes & bit:
            symbol = _FILLED[symbol]
        elif player & bit:
            symbol = _ENTERED[symbol]
        cells[bit.bit_length() - 1] = symbol
    return "\n".join([" ".join(cells[at : at + cols]) for at in range(0, len(cells), cols)])
