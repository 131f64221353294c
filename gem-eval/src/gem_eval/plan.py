"""Decide which episodes an evaluation has. Knows nothing about policies or run folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

from gem.errors import GemError, in_one_line
from gem.rollouts import (
    PlannedEpisode,
    RolloutOptions,
    WrapperLike,
    count_tasks,
    plan_episodes,
    seats_of,
)
from gem.specs import EnvSpec
from gem_eval.errors import SettingsError
from gem_eval.line_ups import check_seats
from gem_eval.settings import DEFAULT_EPISODES, MOST_EPISODES, Settings

__all__ = ["asked", "plan_of"]

T = TypeVar("T")


def plan_of(
    settings: Settings,
    *,
    env_kwargs: Mapping[str, Any],
    wrappers: Sequence[WrapperLike],
    backend_options: Mapping[str, Any],
) -> list[PlannedEpisode]:
    """List the episodes that each policy plays. Makes each environment; raises GemError.

    It is made once, and once more where line-ups are to fit its seats; and where the evaluation
    will run it: one that needs a process is never made here.

    An episode has the same seed and task whichever others are played beside it: `tasks` chooses
    from what `episodes="all"` would play, and more `episodes` begin with those of fewer. In every
    rotation each of them is played once, under a number of its own.
    """
    options = RolloutOptions(
        backend=settings.backend,
        num_workers=settings.num_workers,
        backend_options=backend_options,
        env_kwargs=env_kwargs,
        wrappers=wrappers,
    )
    if settings.line_ups:
        seats = asked(seats_of, settings, options)
        check_seats(settings.policies, [spec.id for spec in settings.envs], seats)
    plan = _starts(settings, asked(count_tasks, settings, options))
    return _in_every_rotation(plan, settings.rotations) if settings.every_rotation else plan


def _starts(settings: Settings, task_counts: Sequence[int | None]) -> list[PlannedEpisode]:
    """List the episodes, each in one rotation."""
    variants = settings.variants

    def planned(episodes: Any) -> list[PlannedEpisode]:
        plan = plan_episodes(
            settings.envs[::variants],
            episodes=episodes,
            seed=settings.seed,
            repeats=settings.repeats,
            num_tasks=task_counts[::variants].__getitem__,
        )
        # Every variant of an environment plays the same tasks, from the same seeds.
        return [
            episode._replace(env_index=episode.env_index * variants + variant)
            for episode in plan
            for variant in range(variants)
        ]

    if settings.seed_range is not None:
        return _of_seeds(settings, planned(1), settings.seed_range)
    if settings.tasks is not None:
        _refuse_endless(settings, planned(1), settings.tasks)
        return _of_tasks(settings, planned("all"), settings.tasks)
    if settings.episodes is None:
        default = DEFAULT_EPISODES if settings.until is None else MOST_EPISODES
        return _each_task_once(planned(default))
    plan = planned(settings.episodes)
    # Played again, a task proves nothing new of the others.
    return plan if settings.until is None else _each_task_once(plan)


def _in_every_rotation(plan: Sequence[PlannedEpisode], rotations: int) -> list[PlannedEpisode]:
    """Return a plan with each start once for every rotation; all its repeats sit alike."""
    return [
        planned._replace(
            episode_index=planned.episode_index * rotations + rotation, rotation=rotation
        )
        for _, start in groupby(plan, lambda each: (each.env_index, each.episode_index))
        for group in [list(start)]
        for rotation in range(rotations)
        for planned in group
    ]


def _each_task_once(plan: Sequence[PlannedEpisode]) -> list[PlannedEpisode]:
    """Leave out the episodes that play a task again which an earlier one has."""
    first: dict[tuple[int, int], int] = {}
    first_plays = []
    for episode in plan:
        if episode.task is not None:
            task = (episode.env_index, episode.task)
            # The repeats of one episode share its index, and all of them are kept.
            if first.setdefault(task, episode.episode_index) != episode.episode_index:
                continue
        first_plays.append(episode)
    return first_plays


def _refuse_endless(
    settings: Settings, plan: Sequence[PlannedEpisode], tasks: Sequence[int]
) -> None:
    for episode in plan:
        if episode.task is None:
            env_id = settings.envs[episode.env_index].id
            raise SettingsError(
                f"Task {tasks[0]} was chosen, and {env_id} has no finite set of tasks. Choose its "
                "episodes by their seeds instead, with seed_range.",
                option="tasks",
            )


def _of_tasks(
    settings: Settings, plan: Sequence[PlannedEpisode], tasks: Sequence[int]
) -> list[PlannedEpisode]:
    for env_index, spec in enumerate(settings.envs):
        known = {episode.task for episode in plan if episode.env_index == env_index}
        strange = [task for task in tasks if task not in known]
        if strange:
            raise SettingsError(
                f"Task {strange[0]} was chosen, and {spec.id} has {len(known)} tasks, counted "
                f"from 0. Choose from 0 to {len(known) - 1}.",
                option="tasks",
            )
    return [episode for episode in plan if episode.task in tasks]


def _of_seeds(
    settings: Settings, plan: Sequence[PlannedEpisode], seeds: tuple[int, int]
) -> list[PlannedEpisode]:
    """Return an episode for each seed, and each repeat that the plan of one episode has."""
    for episode in plan:
        if episode.task is not None:
            env_id = settings.envs[episode.env_index].id
            raise SettingsError(
                f"seed_range={seeds[0]}:{seeds[1]} was asked for, and {env_id} has a finite set "
                "of tasks. Choose from them by tasks.",
                option="seed_range",
            )
    return [
        PlannedEpisode(env_index, episode_index, repeat, seed, None)
        for env_index in range(len(settings.envs))
        for episode_index, seed in enumerate(range(*seeds))
        for repeat in range(settings.repeats)
    ]


def asked(
    ask: Callable[[Sequence[EnvSpec], RolloutOptions], T],
    settings: Settings,
    options: RolloutOptions,
) -> T:
    """Return what is asked of the environments, which may raise anything when they are made."""
    try:
        return ask(settings.envs, options)
    except GemError:
        raise
    except (Exception, SystemExit) as error:
        ids = ", ".join(spec.id for spec in settings.envs)
        raise SettingsError(
            f"An environment of {ids} cannot be made ({in_one_line(error)}). Check "
            f"its arguments with `gem-env show`.",
            option="env_kwargs",
        ) from error
