"""`gem.envs.registration`, as in gem-llm."""

from __future__ import annotations

from gem.compat.registration import ENV_REGISTRY, EnvSpec, make, make_vec, print_envs, register

__all__ = ["ENV_REGISTRY", "EnvSpec", "make", "make_vec", "print_envs", "register"]
