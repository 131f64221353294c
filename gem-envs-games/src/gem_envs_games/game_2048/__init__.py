"""Slide and merge tiles up to a target tile."""

from __future__ import annotations

from gem_envs_games.game_2048.game import Game2048

__all__ = ["Game2048"]
