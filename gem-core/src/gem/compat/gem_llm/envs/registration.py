"""`gem.envs.registration`, as in gem-llm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gem.compat._registration import ENV_REGISTRY, print_envs
from gem.registry._making import make
from gem.registry._registering import register
from gem.specs import EnvSpec

if TYPE_CHECKING:
    from gem.vector._making import make_vec

__all__ = ["ENV_REGISTRY", "EnvSpec", "make", "make_vec", "print_envs", "register"]


def __getattr__(name: str) -> object:
    if name != "make_vec":
        raise AttributeError(f"module 'gem.envs.registration' has no attribute {name!r}")
    from gem.vector._making import make_vec  # needs numpy, and `make` does not

    return make_vec
