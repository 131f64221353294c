"""Fill a small crossword from its clues."""

from __future__ import annotations

from gem_envs_games.crosswords.game import Crosswords

__all__ = ["Crosswords"]
