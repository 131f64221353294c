"""`gem.envs.game_env.sudoku`, as in gem-llm: a pack provides its names."""

from __future__ import annotations

from gem.compat.provided import names_of

__getattr__ = names_of("gem.envs.game_env.sudoku")
