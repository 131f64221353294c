"""`gem.envs.registration`, as in gem-llm."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from gem.errors import UnknownEnv
from gem.registry._catalogue import list_envs, spec
from gem.registry._making import make
from gem.registry._registering import register
from gem.specs import EnvSpec

if TYPE_CHECKING:
    from gem.vector._making import make_vec

__all__ = ["ENV_REGISTRY", "EnvSpec", "make", "make_vec", "print_envs", "register"]


def print_envs() -> None:
    """Print the id of every environment, one a line; `gem-env list` here."""
    sys.stdout.writelines(f"{env_spec.id}\n" for env_spec in list_envs())


class _Registry(Mapping[str, EnvSpec]):
    """Every spec by id, as it is at the moment that it is asked for. It cannot be written."""

    def __getitem__(self, env_id: str) -> EnvSpec:
        try:
            return spec(env_id)
        except UnknownEnv as error:  # what a mapping raises, so that `in` and `get` work
            raise KeyError(env_id) from error

    def __iter__(self) -> Iterator[str]:
        return (env_spec.id for env_spec in list_envs())

    def __len__(self) -> int:
        return len(list_envs())


ENV_REGISTRY: Mapping[str, EnvSpec] = _Registry()


def __getattr__(name: str) -> object:
    if name != "make_vec":
        raise AttributeError(f"module 'gem.envs.registration' has no attribute {name!r}")
    from gem.vector._making import make_vec  # needs numpy, and `make` does not

    return make_vec
