"""`gem.utils.seeding`, as in gem-llm."""

from __future__ import annotations

from gem.compat._seeding import np_random, set_seed

__all__ = ["np_random", "set_seed"]
