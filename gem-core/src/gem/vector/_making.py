"""Build a vector of environments, from ids or functions. Knows nothing about how it is stepped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from gem._python.deprecation import warn_deprecated
from gem.errors import BadArguments
from gem.hosting._choosing import host_of
from gem.hosting._in_thread import InThreadHost
from gem.hosting._port import MakesEnv
from gem.hosting._recipes import Recipe
from gem.hosting._threads import thread_host
from gem.registry._making import EnvLike, WrapperLike, as_list, wants_compat
from gem.vector._base import AutoReset, VectorEnv
from gem.vector._hosted import HostedVectorEnv

__all__ = ["SyncVectorEnv", "ThreadVectorEnv", "make_vec"]


def make_vec(
    ids: EnvLike | Sequence[EnvLike] | None = None,
    *,
    num_envs: int | None = None,
    backend: str = "sync",
    autoreset: AutoReset = "same_step",
    wrappers: Iterable[WrapperLike] | None = (),
    seed: int | None = None,
    num_workers: int | None = None,
    step_timeout_s: float | None = None,
    backend_options: Mapping[str, Any] | None = None,
    vec_kwargs: Sequence[Mapping[str, Any]] | None = None,
    async_mode: bool | None = None,
    env_ids: EnvLike | Sequence[EnvLike] | None = None,
    **kwargs: Any,
) -> VectorEnv:
    """Build a vector of environments: one for each of `ids`, or `num_envs`, going round `ids`.

    `ids` are ids, targets, classes, functions that make an environment, or specs, as for
    `gem.make`, or a list of them.

    Every environment gets `wrappers` and `kwargs`. Without a `seed` the run seed is drawn at
    random. What happens in an episode does not depend on the backend:

    - "sync" (or "inline") steps one environment after the other, in the caller's thread: the
      cheapest for steps that only compute a little.
    - "thread" steps on threads, for steps that wait: as many as are needed, or at most
      `num_workers`. A step that outlasts `step_timeout_s` costs its own episode.
    - "process" steps in `num_workers` processes, for steps that compute for long, hang or crash:
      such a step costs its own episode, and the others of its process go on in another. What
      makes an environment must be data, so that another process can.
      `backend_options` are `start_method`, `most_memory_bytes` and `most_answer_bytes`
      (docs/backends.md).
    - Plugins add others, each under its word: the manifest's `executors`.

    `compat` is that of `gem.make`, for every environment, as any other of its arguments.

    `vec_kwargs` are further arguments of each environment; a seed in the first is that of the run,
    if there is no other. Older ways to say things: `env_ids` is `ids`, `async_mode` the backend
    "thread" or "sync", `wrappers=None` no wrappers, and `env0_kwargs`, `env1_kwargs` and so on
    are entries of `vec_kwargs`.

    Raises BadArguments for a word that is not installed, and for what a backend cannot do; and
    what `gem.make` raises (with "process" a GemError that says it): then every environment made
    so far is closed.
    """
    stack = () if wrappers is None else tuple(wrappers)
    wanted = _each(_one_of(ids, env_ids), num_envs)
    if vec_kwargs is None:
        vec_kwargs, kwargs = _numbered(kwargs, len(wanted))
    own = [dict(kwargs_of_one) for kwargs_of_one in vec_kwargs]
    if len(own) != len(wanted):
        raise BadArguments(
            f"make_vec was given vec_kwargs for {len(own)} environments, and makes {len(wanted)}. "
            "Give one dictionary for each.",
            subject="vec_kwargs",
        )
    seeds = [kwargs_of_one.pop("seed", None) for kwargs_of_one in own]
    seed = seeds[0] if seed is None else seed
    if async_mode is not None:
        backend = "thread" if async_mode else "sync"
    recipes = _recipes(wanted, stack, kwargs, own)
    host = host_of(
        backend,
        num_envs=len(recipes),
        num_workers=num_workers,
        step_timeout_s=step_timeout_s,
        options=backend_options,
    )
    if step_timeout_s is not None and not host.keeps_time:
        raise BadArguments(
            f"step_timeout_s={step_timeout_s!r} was given with the backend {backend!r}, which "
            "cannot stop a step. Leave it out, or run the environments with backend='thread', "
            "which leaves a late step behind.",
            subject="step_timeout_s",
        )
    return HostedVectorEnv(host, recipes, autoreset=autoreset, seed=seed)


class SyncVectorEnv(HostedVectorEnv):
    """Step environments one after the other, in the caller's thread.

    What was sent is carried out in `recv`, in the order it was sent: `min_ready` steps, or fewer
    where `timeout_s` passes between two; one at least.
    """

    def __init__(
        self,
        makers: Sequence[MakesEnv],
        *,
        autoreset: AutoReset = "same_step",
        seed: int | None = None,
    ) -> None:
        super().__init__(InThreadHost(), makers, autoreset=autoreset, seed=seed)


class ThreadVectorEnv(HostedVectorEnv):
    """Step environments on threads, as `gem.make_vec(backend="thread")` does."""

    def __init__(
        self,
        makers: Sequence[MakesEnv],
        *,
        autoreset: AutoReset = "same_step",
        seed: int | None = None,
        num_workers: int | None = None,
        step_timeout_s: float | None = None,
    ) -> None:
        host = thread_host(
            num_envs=len(makers), num_workers=num_workers, step_timeout_s=step_timeout_s
        )
        super().__init__(host, makers, autoreset=autoreset, seed=seed)


def _recipes(
    envs: Sequence[EnvLike],
    wrappers: tuple[WrapperLike, ...],
    kwargs: Mapping[str, Any],
    own: Sequence[Mapping[str, Any]],
) -> list[Recipe]:
    """Return each environment's recipe: the same one for the same id without own arguments."""
    shared: dict[str, Recipe] = {}
    recipes = []
    for env, own_kwargs in zip(envs, own, strict=True):
        if own_kwargs or not isinstance(env, str):
            recipe = Recipe(env, wrappers, _with_switch(env, {**kwargs, **own_kwargs}))
        elif env in shared:
            recipe = shared[env]
        else:
            recipe = shared[env] = Recipe(env, wrappers, _with_switch(env, kwargs))
        recipes.append(recipe)
    return recipes


def _one_of(
    ids: EnvLike | Sequence[EnvLike] | None, env_ids: EnvLike | Sequence[EnvLike] | None
) -> EnvLike | Sequence[EnvLike]:
    """Return what was given, under either name. Raises BadArguments for none and for both."""
    if ids is not None and env_ids is None:
        return ids
    if env_ids is not None and ids is None:
        warn_deprecated("make_vec takes env_ids= as an older name.", instead="Write ids=.")
        return env_ids
    raise BadArguments(
        f"make_vec was given ids={ids!r:.80} and env_ids={env_ids!r:.80}, two names for the same "
        "thing. Give the ids of the environments once, as the first argument.",
        subject="make_vec",
    )


_NUMBERED = re.compile(r"env(\d{1,9})_kwargs", re.ASCII)


def _numbered(
    kwargs: Mapping[str, Any], count: int
) -> tuple[list[Mapping[str, Any]], dict[str, Any]]:
    """Take `env0_kwargs` and its like out of `kwargs`, as the arguments of each environment."""
    own: list[Mapping[str, Any]] = [{}] * count
    left = {}
    for name, value in kwargs.items():
        match = _NUMBERED.fullmatch(name)
        if match is None:
            left[name] = value
            continue
        place = int(match[1])
        if place >= count or not isinstance(value, Mapping):
            raise BadArguments(
                f"make_vec was given {name}={value!r:.80}, and makes {count} environments, counted "
                "from 0. Give vec_kwargs=, a list with one dictionary for each.",
                subject=name,
            )
        warn_deprecated(
            f"make_vec takes {name}= as an older name.", instead="Write vec_kwargs=[{...}, ...]."
        )
        own[place] = value
    return own, left


def _with_switch(env: EnvLike, kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write down what GEM_COMPAT says: another process is given a spec, and no id."""
    is_on = "compat" not in kwargs and wants_compat(None, env)
    return {**kwargs, "compat": True} if is_on else kwargs


def _each(ids: EnvLike | Sequence[EnvLike], num_envs: int | None) -> list[EnvLike]:
    wanted = as_list(ids)
    number = len(wanted) if num_envs is None else num_envs
    if not wanted or number < len(wanted):
        raise BadArguments(
            f"make_vec was asked for {number} environments of {len(wanted)} ids. Give at least "
            "one id, and num_envs no smaller than their number.",
            subject="make_vec",
        )
    return list(islice(cycle(wanted), number))
