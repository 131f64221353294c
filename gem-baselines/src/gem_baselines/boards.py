r"""The view of TicTacToe: a board of 3x3 as its seat is shown it, however it is turned or mirrored.

Knows nothing about tables or learning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gem.conversation import Request
from gem.errors import BadArguments
from gem.parsing import boxed

__all__ = ["board_of", "cells_of", "every_cell"]

# Three lines of three cells: a mark, or the number of a cell that is free.
_BOARD = re.compile(r"^([XO\d]) ([XO\d]) ([XO\d])$", re.MULTILINE)
_FREE = "."
# What a turn or a mirror makes of the cells: the new cell `i` is the old cell `order[i]`.
_TURN = (6, 3, 0, 7, 4, 1, 8, 5, 2)
_MIRROR = (2, 1, 0, 5, 4, 3, 8, 7, 6)


def board_of(request: Request) -> str:
    """Return the last board that was shown, as the first by order of those that are like it.

    Two boards that a turn or a mirror makes equal are one state. Whose move it is follows from how
    many marks there are. Raises BadArguments where no board was shown.
    """
    return _like(_shown(request))[0]


def cells_of(request: Request) -> tuple[str | None, ...]:
    """Return the answer that each column stands for on this board, None of a cell that is taken.

    Column `i` is the cell `i` of `board_of`.
    """
    board, order = _like(_shown(request))
    return tuple(
        boxed(str(cell)) if mark == _FREE else None for mark, cell in zip(board, order, strict=True)
    )


def every_cell(env_kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a name for each column: the answers on an empty board."""
    return tuple(boxed(str(cell)) for cell in range(9))


def _shown(request: Request) -> str:
    """Return the nine cells of the last board, the free ones as points."""
    # From the last message backwards: a seat whose answer was refused is shown no new board.
    for message in reversed(request.messages):
        if message.role == "assistant":
            continue
        rows = _BOARD.findall(message.text)[-3:]
        if len(rows) == 3:
            marks = [mark for row in rows for mark in row]
            return "".join(_FREE if mark.isdigit() else mark for mark in marks)
    raise BadArguments(
        f"The view 'tic_tac_toe' was asked for on {request.env_id or 'an environment'}, and it "
        "shows no board of 3x3. Take the view 'whole' or 'last'.",
        subject="view",
    )


@lru_cache(8192)  # more than there are boards
def _like(board: str) -> tuple[str, tuple[int, ...]]:
    """Return the first by order of the boards like this one, and which cell each of its cells is.

    >>> _like("X........")
    ('........X', (8, 5, 2, 7, 4, 1, 6, 3, 0))
    """
    order = tuple(range(9))
    found = []
    for _ in range(2):
        for _ in range(4):
            found.append(("".join(board[cell] for cell in order), order))
            order = tuple(order[cell] for cell in _TURN)
        order = tuple(order[cell] for cell in _MIRROR)
    return min(found)
