"""Find a word letter by letter, or by saying it."""

from __future__ import annotations

from gem_envs_games.hangman.game import Hangman

__all__ = ["Hangman"]
