"""The names of `gem.envs.registration`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from gem.errors import UnknownEnv
from gem.registry._catalogue import list_envs, spec
from gem.registry._making import make
from gem.registry._registering import register
from gem.specs import EnvSpec

__all__ = ["ENV_REGISTRY", "EnvSpec", "make", "print_envs", "register"]


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
