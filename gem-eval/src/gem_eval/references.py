"""Play what a score is to be read beside: the floor, chance and the solution, on the same episodes.

A pack says of which environments a policy of its own is a reference (`PolicySpec.reference_for`).
Beside it, `random` and `solver` are played. Each plays every episode of a run once, and what it did
is a log in the run's folder: it replays, and is played once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from fnmatch import fnmatchcase

from gem import EpisodeLog, read_episodes, registry
from gem.rollouts import PlannedEpisode, rollout
from gem_eval.errors import RunFolderError
from gem_eval.live import Live, live_of, planned_for, rollout_options
from gem_eval.policies import make_policy
from gem_eval.run_folder import RunFolder
from gem_eval.settings import PolicyRef, Settings
from gem_eval.summary import Outcome, Result, Tries, summarise

__all__ = [
    "ReferencesOf",
    "any_references",
    "declared_references",
    "play_references",
    "read_references",
    "references_for",
]

ReferencesOf = Callable[[str], Sequence[str]]
"""The names of the reference policies of an environment, by its id."""

_FLOOR = "noop"
_ABOVE = ("random", "solver")


def declared_references(env_id: str) -> Sequence[str]:
    """Return the references that packs declare for an environment, none where none does.

    Where one does, `random` and `solver` follow it.
    """
    declared = [
        spec.id
        for spec in registry.policies()
        if any(fnmatchcase(env_id, pattern) for pattern in spec.reference_for)
    ]
    return (*declared, *_ABOVE) if declared else ()


def any_references(env_id: str) -> Sequence[str]:
    """Return the declared references, or those that fit any environment."""
    return declared_references(env_id) or (_FLOOR, *_ABOVE)


def read_references(folder: RunFolder) -> tuple[Result, ...]:
    """Sum up the reference policies of a run, of each environment in turn. Raises LogError."""
    tries = _tries(folder)
    settings = folder.record.settings
    refs = tuple(PolicyRef(name=name) for name in dict.fromkeys(each.policy for each in tries.last))
    if not refs:
        return ()
    # Each plays an episode once, however often the policies do.
    update = {"policies": refs, "repeats": 1}
    summary = summarise(settings.model_copy(update=update), tries.last, run=str(folder.path))
    return tuple(result for result in summary.results if result.episodes)


async def play_references(
    folder: RunFolder,
    settings: Settings,
    live: Live,
    plan: Sequence[PlannedEpisode],
    played: Collection[tuple[int, int]],
    references_of: ReferencesOf = declared_references,
) -> None:
    """Play the references of a run on the episodes that it played, as far as the log lacks them.

    `played` are the numbers of environments and episodes. One that is a policy of the run itself
    has its row already. Raises LogError where the log cannot be written.
    """
    own = {ref.name for ref in settings.policies}
    firsts = [each for each in plan if each.repeat == 0 and each[:2] in played]
    tries = _tries(folder)
    log: EpisodeLog | None = None
    try:
        for env_index, spec in enumerate(settings.envs):
            for name in references_of(spec.id):
                missing = [
                    each
                    for each in firsts
                    if each.env_index == env_index and tries.is_missing((name, *each[:3]))
                ]
                if missing and name not in own:
                    log = EpisodeLog(folder.references_path) if log is None else log
                    await _play(name, missing, settings, live, log)
    finally:
        if log is not None:
            log.close()


async def references_for(folder: RunFolder) -> None:
    """Play the references of a run that is on disk: `noop` where packs declare none.

    Raises RunFolderError for a branch, and GemError where its environments cannot be made.
    """
    if folder.record.branch is not None:
        raise RunFolderError(
            f"References of {folder.path} were asked for, and it is a branch: its episodes begin "
            "in the middle of another. Ask for those of the run that it branches from.",
            path=str(folder.path),
        )
    # The run's own policies are not asked, so none of them is made.
    settings = folder.record.settings
    live = live_of(settings.model_copy(update={"policies": ()}), {})
    plan = planned_for(settings, live)
    played = _played(folder)
    await play_references(folder, settings, live, plan, played, any_references)


def _played(folder: RunFolder) -> set[tuple[int, int]]:
    if not folder.episodes_path.exists():  # a run that was just begun
        return set()
    return {(each.env_index, each.episode_index) for each in read_episodes(folder.episodes_path)}


async def _play(
    name: str, missing: Sequence[PlannedEpisode], settings: Settings, live: Live, log: EpisodeLog
) -> None:
    options = replace(rollout_options(settings, live), plan=missing)
    async with aclosing(rollout(make_policy(name), settings.envs, options=options)) as episodes:
        async for episode in episodes:
            log.append(episode)


def _tries(folder: RunFolder) -> Tries:
    tries = Tries()
    if folder.references_path.exists():
        for episode in read_episodes(folder.references_path):
            tries.add(Outcome.of(episode))
    return tries
