"""Decide which episodes a run has: their seeds and tasks. Knows nothing about how they are run.

The plan is data that the arguments alone decide: a run that is resumed, or that is spread over
several machines, plans again and finds the same episodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from gem._python.quantities import check_count, check_count_or_all, check_seed
from gem._python.seeding import episode_seed, stream
from gem.errors import BadArguments
from gem.registry._making import EnvLike, WrapperLike, as_list, make, resolve
from gem.rollouts._schedules import Schedule

__all__ = ["Envs", "PlannedEpisode", "plan_episodes"]

Envs = EnvLike | Sequence[EnvLike]


class PlannedEpisode(NamedTuple):
    """One episode to run. `env_index` is the position in the list of environments.

    Where policies rotate, policy `i` is at the seat `(i + rotation) % seats`; None stands for the
    episode's number, so that seats are balanced and all repeats of a seed sit alike. A plan may
    play a seed in every rotation, each under a number of its own.
    """

    env_index: int
    episode_index: int
    repeat: int
    seed: int
    task: int | None
    rotation: int | None = None


def plan_episodes(
    envs: Envs,
    *,
    episodes: int | Literal["all"],
    seed: int = 0,
    repeats: int = 1,
    env_kwargs: Mapping[str, Any] | None = None,
    wrappers: Sequence[WrapperLike] = (),
    num_tasks: Callable[[int], int | None] | None = None,
) -> list[PlannedEpisode]:
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
        starts = _listed(as_list(envs), episodes, seed, num_tasks)
    plan: list[PlannedEpisode] = []
    for env_index, episode_index, task in starts:
        # Of its keys alone, and of no order: the same in any part of any plan of this seed.
        own_seed = episode_seed(seed, env_index, episode_index)
        # Repeats are next to each other: a group is whole as early as can be.
        plan += [
            PlannedEpisode(env_index, episode_index, repeat, own_seed, task)
            for repeat in range(repeats)
        ]
    return plan


def _listed(
    envs: Sequence[EnvLike],
    episodes: int | Literal["all"],
    seed: int,
    num_tasks: Callable[[int], int | None],
) -> Iterator[tuple[int, int, int | None]]:
    """Yield the environment, number and task of each episode, one environment after another."""
    for env_index, env in enumerate(envs):
        tasks = _tasks(env, num_tasks(env_index), episodes, (seed, env_index))
        for episode_index, task in enumerate(tasks):
            yield env_index, episode_index, task


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
    # How often each component comes is known before its first episode: only that many of its
    # tasks are drawn, and a component that never comes is not asked for their number.
    tasks = {
        index: iter(_tasks(schedule[index], num_tasks(index), count, (seed, index)))
        for index, count in Counter(chosen).items()
    }
    for episode_index, index in enumerate(chosen):
        yield index, episode_index, next(tasks[index])


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
    tasks: list[int | None] = []
    # Pass by pass over the whole set, each in an order of its own: no task comes a second time
    # before every other came once.
    while len(tasks) < wanted:
        number = len(tasks) // size
        count = min(size, wanted - len(tasks))
        tasks.extend(_permuted(size, count, *key, number))
    return tasks


def _permuted(size: int, count: int, *key: int) -> Iterator[int]:
    """Yield the first `count` of the permutation of range(size) that `key` fixes.

    It is a shuffle that swaps the entry at `index` with a later one. Only the places whose entry
    is not their own number are kept, so a few tasks of a million cost no list of a million.
    """
    rng = stream("tasks", *key)
    moved: dict[int, int] = {}
    for index in range(count):
        chosen = rng.randrange(index, size)
        yield moved.get(chosen, chosen)
        moved[chosen] = moved.pop(index, index)
