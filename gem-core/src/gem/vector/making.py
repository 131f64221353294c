"""Build a vector of environments from ids. Knows nothing about how it is stepped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any

from gem.errors import BadArguments
from gem.registry import EnvLike, WrapperLike, make
from gem.specs import EnvSpec
from gem.vector.base import AutoReset, VectorEnv
from gem.vector.sync import SyncVectorEnv

__all__ = ["make_vec"]

_BACKENDS = ("sync",)


def make_vec(
    ids: EnvLike | Sequence[EnvLike],
    *,
    num_envs: int | None = None,
    backend: str = "sync",
    autoreset: AutoReset = "same_step",
    wrappers: Iterable[WrapperLike] = (),
    seed: int | None = None,
    step_timeout_s: float | None = None,
    **kwargs: Any,
) -> VectorEnv:
    """Build a vector of environments: one for each of `ids`, or `num_envs`, going round `ids`.

    Every environment gets `wrappers` and `kwargs`. Without a `seed` the run seed is drawn at
    random. `step_timeout_s` needs a backend that can leave a step behind, which "sync" cannot:
    it steps in the caller's thread. Raises BadArguments, and what `gem.make` raises; then every
    environment made so far is closed.
    """
    if backend not in _BACKENDS:
        raise BadArguments(
            f"make_vec was asked for backend={backend!r}. Installed: "
            f"{', '.join(map(repr, _BACKENDS))}. Choose one of them.",
            subject="make_vec",
        )
    if step_timeout_s is not None:
        raise BadArguments(
            f"make_vec was given step_timeout_s={step_timeout_s!r} with backend={backend!r}, which "
            "steps in the caller's thread and cannot stop a step. Leave it out, or run the "
            "episodes with gem.rollout(step_timeout_s=...), which can.",
            subject="make_vec",
        )
    stack = tuple(wrappers)
    makers = [partial(make, each, wrappers=stack, **kwargs) for each in _each(ids, num_envs)]
    return SyncVectorEnv(makers, autoreset=autoreset, seed=seed)


def _each(ids: EnvLike | Sequence[EnvLike], num_envs: int | None) -> list[EnvLike]:
    wanted = [ids] if isinstance(ids, (str, EnvSpec, Mapping)) else list(ids)
    number = len(wanted) if num_envs is None else num_envs
    if not wanted or number < len(wanted):
        raise BadArguments(
            f"make_vec was asked for {number} environments of {len(wanted)} ids. Give at least "
            "one id, and num_envs no smaller than their number.",
            subject="make_vec",
        )
    return list(islice(cycle(wanted), number))
