"""What an author of an environment writes with: `Env`, `Step`, keyed chance, and ways to wait.

Every environment passes the same rules of use (seeding, phases, one call at a time), which are
put around a class as it is defined. What keeps and restores the state of an environment, wraps
one, and asks one question lives here too. Imports content, specs, errors, parsing and what we add
to Python; knows nothing about ids, rollouts or policies.
"""

from __future__ import annotations

from gem._python import process_tree
from gem._python.per_loop import PerLoop
from gem._python.seeding import episode_seed, key_seed, stream
from gem._python.sync_async import in_thread, on_background, wait_for
from gem.env._env import Env
from gem.env._step import Step

__all__ = [
    "Env",
    "PerLoop",
    "Step",
    "episode_seed",
    "in_thread",
    "key_seed",
    "on_background",
    "process_tree",
    "stream",
    "wait_for",
]
