"""Find words hidden in a grid of letters."""

from __future__ import annotations

from gem_envs_games.word_search.game import WordSearch

__all__ = ["WordSearch"]
