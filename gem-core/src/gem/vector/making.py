"""Build a vector of environments from ids. Knows nothing about how it is stepped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from gem.backends import build
from gem.env import Env
from gem.errors import BadArguments
from gem.registry import EnvLike, WrapperLike, make, wants_compat
from gem.specs import EnvSpec
from gem.vector.base import AutoReset, VectorEnv

__all__ = ["EnvMaker", "make_vec"]


@dataclass(frozen=True, slots=True)
class EnvMaker:
    """What makes one environment, by a call here or, of its fields, anywhere: `gem.make`'s own."""

    env: EnvLike
    wrappers: tuple[WrapperLike, ...]
    kwargs: Mapping[str, Any]

    def __call__(self) -> Env:
        return make(self.env, wrappers=self.wrappers, **self.kwargs)


def make_vec(
    ids: EnvLike | Sequence[EnvLike],
    *,
    num_envs: int | None = None,
    backend: str = "sync",
    autoreset: AutoReset = "same_step",
    wrappers: Iterable[WrapperLike] = (),
    seed: int | None = None,
    num_workers: int | None = None,
    step_timeout_s: float | None = None,
    backend_options: Mapping[str, Any] | None = None,
    vec_kwargs: Sequence[Mapping[str, Any]] | None = None,
    async_mode: bool | None = None,
    **kwargs: Any,
) -> VectorEnv:
    """Build a vector of environments: one for each of `ids`, or `num_envs`, going round `ids`.

    Every environment gets `wrappers` and `kwargs`. Without a `seed` the run seed is drawn at
    random. What happens in an episode does not depend on the backend:

    - "sync" (or "inline") steps one environment after the other, in the caller's thread: the
      cheapest for steps that only compute a little.
    - "thread" steps on `num_workers` threads, for steps that wait. A step that outlasts
      `step_timeout_s` costs its own episode.
    - "process" steps in `num_workers` processes, for steps that compute for long, hang or crash:
      such a step costs its own episode, and the others of its process go on in another. What
      makes an environment must be data, so that another process can.
      `backend_options` are `start_method`, `most_memory_bytes` and `most_answer_bytes`, as of
      `gem.workers.WorkerPool`.
    - Plugins add others, each under its word: the manifest's `executors`.

    `compat` is that of `gem.make`, for every environment, as any other of its arguments.

    `vec_kwargs` are further arguments of each environment; a seed in the first is that of the run,
    if there is no other. `async_mode` is an older way to say "thread", or "sync".

    Raises BadArguments for a word that is not installed, and for what a backend cannot do; and
    what `gem.make` raises (with "process" a GemError that says it): then every environment made
    so far is closed.
    """
    stack, wanted = tuple(wrappers), _each(ids, num_envs)
    own = [dict(each) for each in vec_kwargs or [{}] * len(wanted)]
    if len(own) != len(wanted):
        raise BadArguments(
            f"make_vec was given vec_kwargs for {len(own)} environments, and makes {len(wanted)}. "
            "Give one dictionary for each.",
            subject="vec_kwargs",
        )
    seeds = [each.pop("seed", None) for each in own]
    seed = seeds[0] if seed is None else seed
    if async_mode is not None:
        backend = "thread" if async_mode else "sync"
    makers = [
        EnvMaker(env, stack, _with_switch(env, {**kwargs, **each} if each else kwargs))
        for env, each in zip(wanted, own, strict=True)
    ]
    vector: VectorEnv = build(
        backend,
        "target",
        makers,
        options=backend_options,
        autoreset=autoreset,
        seed=seed,
        num_workers=num_workers,
        step_timeout_s=step_timeout_s,
    )
    return vector


def _with_switch(env: EnvLike, kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write down what GEM_COMPAT says: another process is given a spec, and no id."""
    is_on = "compat" not in kwargs and wants_compat(None, env)
    return {**kwargs, "compat": True} if is_on else kwargs


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
