"""The names of `gem.envs.registration`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from gem.errors import UnknownEnv
from gem.making import make
from gem.registry import list_envs, register, spec
from gem.specs import EnvSpec
from gem.vector import make_vec

__all__ = ["ENV_REGISTRY", "EnvSpec", "make", "make_vec", "print_envs", "register"]


def print_envs() -> None:
    """Print the id of every environment, one a line; `gem-env list` here."""
    sys.stdout.writelines(f"{found.id}\n" for found in list_envs())


class _Registry(Mapping[str, EnvSpec]):
    """Every spec by id, as it is at the moment that it is asked for. It cannot be written."""

    def __getitem__(self, env_id: str) -> EnvSpec:
        try:
            return spec(env_id)
        except UnknownEnv as error:
            raise KeyError(env_id) from error

    def __iter__(self) -> Iterator[str]:
        return (found.id for found in list_envs())

    def __len__(self) -> int:
        return len(list_envs())


ENV_REGISTRY: Mapping[str, EnvSpec] = _Registry()
