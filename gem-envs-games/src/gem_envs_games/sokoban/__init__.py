"""Push every box onto a goal. The game, its text board, its search and its rooms."""

from __future__ import annotations

from gem_envs_games.sokoban.game import Sokoban

__all__ = ["Sokoban"]
