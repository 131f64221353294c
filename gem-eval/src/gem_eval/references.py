"""Play what a score is to be read beside: the floor, chance and the solution, on the same episodes.

A pack says of which environments a policy of its own is a reference (`PolicySpec.reference_for`).
Beside it, `random` and `solver` are played. Each plays every episode of a run once, and what it did
is a log in the run's folder: it replays, and is played once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from gem import EpisodeLog, read_episodes, registry
from gem.rollouts import PlannedEpisode, rollout
from gem_eval.errors import RunFolderError
from gem_eval.line_ups import PolicyRef
from gem_eval.live import Live, live_of, planned_for, rollout_options
from gem_eval.run_folder import RunFolder
from gem_eval.settings import Settings
from gem_eval.summary import Outcome, Result, Tries, summarise

__all__ = [
    "Reference",
    "ReferencesOf",
    "any_references",
    "declared_references",
    "play_references",
    "read_references",
    "references_for",
]


class Reference(NamedTuple):
    """A policy to play, and who sits at some seats meanwhile, where there are several."""

    name: str
    beside: Mapping[str, str]

    def line_up(self, seats: Sequence[str]) -> str | dict[str, str]:
        """Return the name of the policy, or who sits at each of several seats."""
        return {seat: self.beside.get(seat, self.name) for seat in seats} if seats else self.name


ReferencesOf = Callable[[str], Sequence[Reference]]
"""The references of an environment, by its id."""

OnPlayed = Callable[[int, int], None]
"""Called with how many episodes the references have played, all of them, and of how many."""

_FLOOR = "noop"
_ABOVE = ("random", "solver")


def declared_references(env_id: str) -> Sequence[Reference]:
    """Return the references that packs declare for an environment, none where none does.

    Where one does, `random` and `solver` follow it.
    """
    declared = [
        Reference(spec.id, spec.reference_beside)
        for spec in registry.policies()
        if any(fnmatchcase(env_id, pattern) for pattern in spec.reference_for)
    ]
    above = [Reference(name, declared[0].beside) for name in _ABOVE if declared]
    return (*declared, *above)


def any_references(env_id: str) -> Sequence[Reference]:
    """Return the declared references, or those that fit any environment."""
    return declared_references(env_id) or [Reference(name, {}) for name in (_FLOOR, *_ABOVE)]


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
    outcomes: Iterable[Outcome],
    references_of: ReferencesOf = declared_references,
    *,
    on_played: OnPlayed = lambda done, of: None,
) -> None:
    """Play the references of a run on the episodes that it played, as far as the log lacks them.

    `outcomes` are those of the run. A reference that is a policy of the run itself has its row
    already. `on_played` is told how far they are. Raises LogError where the log cannot be written.
    """
    own = {ref.name for ref in settings.policies}
    played = {(each.env_index, each.episode_index): each for each in outcomes}
    firsts = [each for each in plan if each.repeat == 0 and each[:2] in played]
    seats = {each.env_index: tuple(play.seat for play in each.seats) for each in played.values()}
    tries = _tries(folder)
    lacking: list[tuple[Reference, int, list[PlannedEpisode]]] = []
    for env_index, spec in enumerate(settings.envs):
        for reference in references_of(spec.id):
            missing = [
                each
                for each in firsts
                if each.env_index == env_index and tries.is_missing((reference.name, *each[:3]))
            ]
            if missing and reference.name not in own:
                lacking.append((reference, env_index, missing))
    if not lacking:
        return
    # Of all of them: a run that varies an argument plays few episodes at a time, many times over.
    total = sum(len(missing) for _, _, missing in lacking)
    done = 0
    with closing(EpisodeLog(folder.references_path)) as log:
        for reference, env_index, missing in lacking:
            line_up = reference.line_up(seats.get(env_index, ()))
            options = replace(rollout_options(settings, live), plan=missing)
            async with aclosing(rollout(line_up, settings.envs, options=options)) as episodes:
                async for episode in episodes:
                    log.append(replace(episode, policy=reference.name))
                    done += 1
                    on_played(done, total)


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
    if folder.episodes_path.exists():  # a run that was just begun has no log
        outcomes = map(Outcome.of, read_episodes(folder.episodes_path))
        await play_references(folder, settings, live, plan, outcomes, any_references)


def _tries(folder: RunFolder) -> Tries:
    tries = Tries()
    if folder.references_path.exists():
        for episode in read_episodes(folder.references_path):
            tries.add(Outcome.of(episode))
    return tries
