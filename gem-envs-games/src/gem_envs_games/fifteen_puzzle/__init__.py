"""Slide numbered tiles into order."""

from __future__ import annotations

from gem_envs_games.fifteen_puzzle.game import FifteenPuzzle

__all__ = ["FifteenPuzzle"]
