"""List the moves of a player of TextArena's Breakthrough, whose game can only check one."""

from __future__ import annotations

import string
from typing import Any

__all__ = ["moves_of"]


def moves_of(game: Any, player: int) -> list[str]:
    """Return the moves that a player has on the board as it is, as the game writes them."""
    ahead = 1 if player == 0 else -1
    side = range(game.board_size)
    files = string.ascii_lowercase
    return [
        f"[{files[file]}{rank + 1}{files[to]}{rank + ahead + 1}]"
        for rank in side
        for file in side
        for to in (file - 1, file, file + 1)
        if rank + ahead in side and to in side
        if game._is_valid_move(player, rank, file, rank + ahead, to)
    ]
