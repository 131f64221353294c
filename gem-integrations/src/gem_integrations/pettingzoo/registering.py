"""Put environments of ours into PettingZoo's registry, for its own `make`."""

from __future__ import annotations

import functools

import pettingzoo

import gem
from gem_integrations.pettingzoo.aec import aec_env
from gem_integrations.pettingzoo.parallel import parallel_env

__all__ = ["register"]


def register(*env_ids: str) -> list[str]:
    """Register environments of ours with PettingZoo, and return the ids that they have there.

    The namespace is before a slash instead of a colon. Each is registered in both forms; in the
    parallel one a game that asks seats in turn is refused at its reset. What is registered already
    is left as it is. Raises UnknownEnv for an id that nobody provides.

    >>> from gem.testing import registrations_undone
    >>> with registrations_undone():
    ...     spec = gem.register("demo:Signs-v0", "gem.testing.envs:Signs")
    ...     register("demo:Signs-v0")
    ...     pettingzoo.make("parallel", "demo/Signs-v0").possible_agents
    ['demo/Signs-v0']
    ['left', 'right']
    """
    zoo_ids = []
    for env_id in env_ids:
        spec = gem.spec(env_id)
        zoo_id = spec.id.replace(":", "/", 1)
        if zoo_id not in pettingzoo.aec_registry:
            pettingzoo.register("aec", zoo_id, functools.partial(aec_env, spec))
            pettingzoo.register("parallel", zoo_id, functools.partial(parallel_env, spec))
        zoo_ids.append(zoo_id)
    return zoo_ids
