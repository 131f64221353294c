"""Verdicts that may take for ever, made in processes that can be killed.

One server for a whole tree of processes (`gem.env.process_tree`) forks at most four workers;
clients in any process and thread of the tree ask it. Knows nothing about mathematics: what makes
a verdict is a target, `"module:function"`, called in a worker with two texts.
"""

from __future__ import annotations

from gem_envs_math.pool.cache import Pair
from gem_envs_math.pool.client import Pool
from gem_envs_math.pool.limits import Limits

__all__ = ["Limits", "Pair", "Pool"]
