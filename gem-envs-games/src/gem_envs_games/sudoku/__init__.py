"""Fill the empty cells of a Sudoku."""

from __future__ import annotations

from gem_envs_games.sudoku.game import Sudoku

__all__ = ["Sudoku"]
