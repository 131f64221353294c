"""Reveal every safe cell of a minefield from the numbers of mines around."""

from __future__ import annotations

from gem_envs_games.minesweeper.game import Minesweeper

__all__ = ["Minesweeper"]
