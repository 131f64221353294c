"""Decide which episodes a run has: their seeds and tasks. Knows nothing about how they are run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from gem.errors import BadArguments
from gem.making import EnvLike, WrapperLike, make, resolve
from gem.quantities import check_count, check_count_or_all, check_seed
from gem.schedules import Schedule
from gem.seeding import episode_seed, stream
from gem.specs import EnvSpec

__all__ = ["Assignment", "Envs", "as_list", "plan_episodes"]

Envs = EnvLike | Sequence[EnvLike]


class Assignment(NamedTuple):
    """One episode to run. `env_index` is the position in the list of environments."""

    env_index: int
    episode_index: int
    repeat: int
    seed: int
    task: int | None


def plan_episodes(
    envs: Envs,
    *,
    episodes: int | Literal["all"],
    seed: int = 0,
    repeats: int = 1,
    env_kwargs: Mapping[str, Any] | None = None,
    wrappers: Sequence[WrapperLike] = (),
    num_tasks: Callable[[int], int | None] | None = None,
) -> list[Assignment]:
    """List the episodes of a run. Depends on the arguments alone.

    `num_tasks` returns how many tasks an environment has, by its position. Without it each
    environment is made here once, with `env_kwargs` and `wrappers`, and asked.

    Over a finite set of tasks, `"all"` is every task once and N the first N of the permutation
    that `seed` fixes: none twice unless N is larger than the set. Repeats share their seed. Of a
    `Schedule` the episodes are N in all, each of the component that it chooses.
    """
    check_count_or_all("episodes", episodes)
    check_count("repeats", repeats)
    check_seed("seed", seed)
    if num_tasks is None:
        num_tasks = partial(_asked_here, as_list(envs), env_kwargs or {}, wrappers)
    if isinstance(envs, Schedule):
        starts = _scheduled(envs, episodes, seed, num_tasks)
    else:
        starts = (
            (env_index, episode_index, task)
            for env_index, each in enumerate(as_list(envs))
            for episode_index, task in enumerate(
                _tasks(each, num_tasks(env_index), episodes, (seed, env_index))
            )
        )
    return [
        Assignment(
            env_index, episode_index, repeat, episode_seed(seed, env_index, episode_index), task
        )
        for env_index, episode_index, task in starts
        for repeat in range(repeats)
    ]


def _scheduled(
    schedule: Schedule,
    episodes: int | Literal["all"],
    seed: int,
    num_tasks: Callable[[int], int | None],
) -> Iterator[tuple[int, int, int | None]]:
    """Yield the component, number and task of each episode."""
    if episodes == "all":
        raise BadArguments(
            "All episodes of a schedule were asked for, and it says how often each comes, not how "
            "many there are. Give a number of episodes.",
            subject="episodes",
        )
    chosen = [schedule.choose(seed, episode_index) for episode_index in range(episodes)]
    tasks = {
        index: iter(_tasks(schedule[index], num_tasks(index), count, (seed, index)))
        for index, count in Counter(chosen).items()
    }
    for episode_index, index in enumerate(chosen):
        yield index, episode_index, next(tasks[index])


def as_list(envs: EnvLike | Iterable[EnvLike]) -> list[EnvLike]:
    """Return a list of environments as it is, and a single environment as a list of one.

    What is neither stands in a list of its own: `resolve` refuses it.
    """
    given: Any = envs
    is_one = isinstance(given, (str, EnvSpec, Mapping)) or callable(given)
    return list(given) if isinstance(given, Iterable) and not is_one else [given]


def _asked_here(
    envs: Sequence[EnvLike],
    env_kwargs: Mapping[str, Any],
    wrappers: Sequence[WrapperLike],
    env_index: int,
) -> int | None:
    """Make an environment in this process and ask it for the number of its tasks."""
    with make(envs[env_index], wrappers=wrappers, **env_kwargs) as env:
        return env.num_tasks


def _tasks(
    env: EnvLike, size: int | None, episodes: int | Literal["all"], key: tuple[int, int]
) -> list[int | None]:
    if size is None:
        if episodes == "all":
            name = resolve(env).id
            raise BadArguments(
                f"All episodes of {name!r} were asked for, and it has no finite set of tasks. "
                "Give a number of episodes.",
                subject=name,
            )
        return [None] * episodes
    if size < 1:
        name = resolve(env).id
        raise BadArguments(
            f"Episodes of {name!r} were asked for, and its set of tasks is empty. Give it data "
            "with one task or more.",
            subject=name,
        )
    wanted = size if episodes == "all" else episodes
    passes = -(-wanted // size)
    return [
        task
        for number in range(passes)
        for task in _permuted(size, min(size, wanted - number * size), *key, number)
    ]


def _permuted(size: int, count: int, *key: int) -> Iterator[int]:
    """Yield the first `count` of the permutation of range(size) that `key` fixes."""
    rng, moved = stream("tasks", *key), dict[int, int]()
    for index in range(count):
        chosen = rng.randrange(index, size)
        yield moved.get(chosen, chosen)
        moved[chosen] = moved.pop(index, index)
