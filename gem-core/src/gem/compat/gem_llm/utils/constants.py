"""`gem.utils.constants`, as in gem-llm."""

from __future__ import annotations

from gem.compat._constants import TERMINAL_STATE, LanguageGameReward

__all__ = ["TERMINAL_STATE", "LanguageGameReward"]
