"""Read what policies did from run folders, by the task that was played.

A task is known by what makes it the same anywhere: the environment's id, its arguments, its seed
and its number. How a run counts its episodes says nothing: another run may have played others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gem import read_episodes
from gem.episode import Episode
from gem_eval.errors import CompareError
from gem_eval.run_folder import RunFolder
from gem_eval.short_names import short_names

__all__ = ["Contender", "Play", "Task", "read_contenders"]


class Task(NamedTuple):
    """What makes a task the same in every run. `env_kwargs` is JSON with sorted names."""

    env_id: str
    env_kwargs: str
    seed: int
    task: int | None

    @classmethod
    def of(cls, episode: Episode) -> Task:
        """Return the task that an episode played."""
        kwargs = json.dumps(episode.env_kwargs, sort_keys=True)
        return cls(episode.env_id, kwargs, episode.seed, episode.task)

    @property
    def where(self) -> str:
        """Name it for a person, within its environment."""
        return f"seed {self.seed}" if self.task is None else f"task {self.task}"

    @property
    def group(self) -> tuple[Any, ...]:
        """What it shares with tasks that are like it: its number in a finite set, or its seed."""
        which = ("seed", self.seed) if self.task is None else ("task", self.task)
        return (self.env_id, self.env_kwargs, *which)


class Play(NamedTuple):
    """How one episode ended. `line` counts the lines of its run's log from 1."""

    success: bool
    total_return: float
    is_error: bool
    repeat: int
    line: int


@dataclass(slots=True)
class Contender:
    """A policy of a run. `plays` has the last try of each episode, by task and repeat.

    `settings` are those of its run that may make the same task harder or easier, and the versions
    of packs.
    """

    name: str
    policy: str
    run: str
    settings: Mapping[str, Any]
    stops_when_decided: bool
    plays: dict[Task, dict[int, Play]] = field(default_factory=dict)

    def add(self, episode: Episode, line: int) -> None:
        """Let another try of an episode count. One that no error ended stays."""
        of_task = self.plays.setdefault(Task.of(episode), {})
        before = of_task.get(episode.repeat)
        if before is None or before.is_error:
            of_task[episode.repeat] = Play(
                success=bool(episode.success),
                total_return=episode.total_reward,
                is_error=episode.is_error,
                repeat=episode.repeat,
                line=line,
            )


def read_contenders(
    runs: Sequence[str | Path], policies: Sequence[str] | None = None
) -> list[Contender]:
    """Read the policies of run folders, in their order: all, or those that are named.

    A run that is still being written is read as far as it is. Raises RunFolderError, LogError, and
    CompareError where there are not two to compare.
    """
    folders = _each_once(runs)
    named = {(folder.path, ref.name): None for folder in folders for ref in _policies(folder)}
    chosen = _chosen(list(named), policies)
    names = _names(chosen)
    contenders: list[Contender] = []
    for folder in folders:
        of_run = {
            policy: Contender(
                names[path, policy],
                policy,
                str(path),
                _settings_of(folder),
                stops_when_decided=folder.record.settings.until is not None,
            )
            for path, policy in chosen
            if path == folder.path
        }
        if of_run and folder.episodes_path.exists():  # a run that was just begun has no log
            for line, episode in enumerate(read_episodes(folder.episodes_path), start=1):
                if episode.policy in of_run:
                    of_run[episode.policy].add(episode, line)
        contenders.extend(of_run.values())
    return contenders


def _each_once(runs: Iterable[str | Path]) -> list[RunFolder]:
    folders: dict[Path, RunFolder] = {}
    for run in runs:
        folder = RunFolder.open(run)
        folders.setdefault(folder.path.resolve(), folder)
    return list(folders.values())


def _policies(folder: RunFolder) -> Iterable[Any]:
    return folder.record.settings.policies


def _settings_of(folder: RunFolder) -> Mapping[str, Any]:
    settings = folder.record.settings
    branch = folder.record.branch
    return {
        "the turn it branches from": None if branch is None else branch.turn + 1,
        "wrappers": [ref.model_dump(mode="json") for ref in settings.wrappers],
        "max_turns": settings.max_turns,
        "step_timeout_s": settings.step_timeout_s,
        **{f"the version of {name}": each for name, each in folder.record.versions.items()},
    }


def _chosen(
    there: Sequence[tuple[Path, str]], policies: Sequence[str] | None
) -> list[tuple[Path, str]]:
    short = short_names([policy for _, policy in there])
    chosen = list(there)
    if policies is not None:
        known = {*short, *short.values()}
        strange = [policy for policy in policies if policy not in known]
        if strange:
            raise CompareError(
                f"The policy {strange[0]!r} is in none of these runs. They have "
                f"{', '.join(dict.fromkeys(short.values()))}."
            )
        chosen = [(run, name) for run, name in there if {name, short[name]} & set(policies)]
    if len(chosen) < 2:
        only = " and ".join(f"{short[name]} of {run}" for run, name in chosen)
        raise CompareError(
            f"A comparison needs two policies, and there is {only} alone. Name another run, or one "
            "with two policies."
        )
    return chosen


def _names(chosen: Sequence[tuple[Path, str]]) -> dict[tuple[Path, str], str]:
    """Call each by its policy or its run, whichever tells all of them apart, or else by both."""
    policies = [policy for _, policy in chosen]
    runs = [run for run, _ in chosen]
    short = short_names(policies)
    if len(set(policies)) == len(policies):
        return {(run, policy): short[policy] for run, policy in chosen}
    if len(set(runs)) == len(runs):
        return {(run, policy): str(run) for run, policy in chosen}
    return {(run, policy): f"{run}: {short[policy]}" for run, policy in chosen}
