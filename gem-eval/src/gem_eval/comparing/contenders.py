"""Read what policies did from run folders, by the task that was played.

A task is known by what makes it the same anywhere: the environment's id, its arguments, its seed
and its number, and of several seats the seat. How a run counts its episodes says nothing: another
run may have played others. Children of a branch have one task, and each is one by its own number,
by which the policies of all branches sample alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gem import read_episodes
from gem.episode import Episode
from gem_eval.errors import CompareError
from gem_eval.evaluation_logs import open_run
from gem_eval.line_ups import LineUpRef
from gem_eval.run_folder import RunFolder
from gem_eval.short_names import short_names

__all__ = ["Contender", "Play", "Task", "read_contenders"]


class Task(NamedTuple):
    """What makes a task the same in every run. `env_kwargs` is JSON with sorted names.

    `child` is the repeat that a child of a branch is; None where what is compared are no children.
    """

    env_id: str
    env_kwargs: str
    seed: int
    task: int | None
    seat: str | None = None
    child: int | None = None

    @classmethod
    def of(cls, part: Episode, *, is_child: bool = False) -> Task:
        """Return the task that an episode of one seat played, or the part of one of several."""
        kwargs = json.dumps(part.env_kwargs, sort_keys=True)
        seat = part.seats[0].name if part.seats else None
        child = part.repeat if is_child else None
        return cls(part.env_id, kwargs, part.seed, part.task, seat, child)

    @property
    def where(self) -> str:
        """Name it for a person, within its environment."""
        where = f"seed {self.seed}" if self.task is None else f"task {self.task}"
        if self.child is not None:
            where = f"repeat {self.child}"
        return where if self.seat is None else f"{where} at {self.seat}"

    @property
    def group(self) -> tuple[Any, ...]:
        """What it shares with tasks that are like it: its number in a finite set, or its seed.

        So do the seats of one episode. Children share nothing: each is a draw of its own.
        """
        which = ("seed", self.seed) if self.task is None else ("task", self.task)
        return (self.env_id, self.env_kwargs, *which, self.child)

    def without(self, arguments: Collection[str]) -> Task:
        """Return the task that it is whatever value these arguments of its environment have."""
        if not arguments:
            return self
        kwargs = json.loads(self.env_kwargs)
        others = {name: value for name, value in kwargs.items() if name not in arguments}
        return self._replace(env_kwargs=json.dumps(others))


class Play(NamedTuple):
    """How one episode ended. `line` counts the lines of its run's log from 1."""

    success: bool
    total_return: float
    is_error: bool
    repeat: int
    line: int


Slot = tuple[int, int]
"""Which repeat of a task, and which of the episodes that played it at the same seat."""


class _Entry(NamedTuple):
    """A policy of a run; of a line-up one of those that play in it."""

    run: Path
    line_up: str
    policy: str
    seat: str | None  # where it stays, if it does
    others: tuple[str, ...]  # of its line-up

    @property
    def is_alone(self) -> bool:
        return self.line_up == self.policy


@dataclass(slots=True)
class Contender:
    """A policy of a run. `plays` has the last try of each episode, by task and `Slot`.

    `settings` are those of its run that may make the same task harder or easier, and the versions
    of packs. `varied` is the argument of which its run plays several values, None for no argument.
    `others` are who it played with in its `line_up`. With `has_children` its episodes are those of
    a branch, and each is a task of its own.
    """

    name: str
    policy: str
    run: str
    settings: Mapping[str, Any]
    stops_when_decided: bool
    line_up: str
    others: tuple[str, ...] = ()
    has_children: bool = False
    varied: str | None = None
    plays: dict[Task, dict[Slot, Play]] = field(default_factory=dict)
    _numbers: dict[tuple[Task, int], list[int]] = field(default_factory=dict)

    @property
    def seats(self) -> set[str]:
        """Where it has sat; empty where there is one seat alone."""
        return {task.seat for task in self.plays if task.seat is not None}

    def add(self, part: Episode, line: int) -> None:
        """Let another try of an episode count, or a seat's part of it. What no error ended stays.

        A policy that a line-up has twice is at one seat in several rotations of a seed.
        """
        task = Task.of(part, is_child=self.has_children)
        numbers = self._numbers.setdefault((task, part.repeat), [])
        if part.episode_index not in numbers:
            numbers.append(part.episode_index)
        slot = (part.repeat, numbers.index(part.episode_index))
        of_task = self.plays.setdefault(task, {})
        before = of_task.get(slot)
        if before is None or before.is_error:
            of_task[slot] = Play(
                success=bool(part.success),
                total_return=part.total_reward,
                is_error=part.is_error,
                repeat=part.repeat,
                line=line,
            )


def read_contenders(
    runs: Sequence[str | Path],
    policies: Sequence[str] | None = None,
    seat: str | None = None,
) -> list[Contender]:
    """Read the policies of run folders, in their order: all, or those that are named.

    Of a line-up each of its policies is one, with what it did where it sat, or at a `seat` alone.
    A run that is still being written is read as far as it is. Raises RunFolderError, LogError, and
    CompareError where there are not two to compare.
    """
    folders = _each_once(runs)
    named = {entry: None for folder in folders for entry in _entries(folder)}
    here = [entry for entry in named if seat is None or entry.seat in (None, seat)]
    if seat is not None and not here:
        raise _nobody(seat)
    chosen = _chosen(here, policies)
    names = _names(chosen)
    # A child beside an episode of another run is one more repeat of its task.
    has_children = all(folder.record.branch is not None for folder in folders)
    contenders: list[Contender] = []
    for folder in folders:
        of_run = {
            entry: Contender(
                names[entry],
                entry.policy,
                str(entry.run),
                _settings_of(folder),
                stops_when_decided=folder.record.settings.until is not None,
                line_up=entry.line_up,
                others=entry.others,
                has_children=has_children,
                varied=folder.record.settings.varied,
            )
            for entry in chosen
            if entry.run == folder.path
        }
        if of_run and folder.episodes_path.exists():  # a run that was just begun has no log
            for line, episode in enumerate(read_episodes(folder.episodes_path), start=1):
                for entry, contender in of_run.items():
                    if episode.policy == entry.line_up:
                        _add_parts(contender, entry, episode, line, seat)
        contenders.extend(of_run.values())
    if seat is not None and not any(contender.plays for contender in contenders):
        raise _nobody(seat)
    return contenders


def _nobody(seat: str) -> CompareError:
    return CompareError(
        f"Nobody sat at {seat!r} in these runs. `gem-env report RUN` shows the seats they have."
    )


def _add_parts(
    contender: Contender, entry: _Entry, episode: Episode, line: int, seat: str | None
) -> None:
    for part in episode.parts():
        where = part.seats[0].name if part.seats else None
        # By its seat too: a line-up may have one policy at several, each an entry of its own.
        sat_here = entry.is_alone or (part.policy == entry.policy and entry.seat in (None, where))
        if sat_here and seat in (None, where):
            contender.add(part, line)


def _entries(folder: RunFolder) -> Iterator[_Entry]:
    for ref in folder.record.settings.policies:
        fixed = ref.seats if isinstance(ref, LineUpRef) else None
        seats: Sequence[str | None] = fixed or [None] * len(ref.members)
        names = [member.name for member in ref.members]
        for number, seat in enumerate(seats):
            others = sorted(names[:number] + names[number + 1 :])
            yield _Entry(folder.path, ref.name, names[number], seat, tuple(others))


def _each_once(runs: Iterable[str | Path]) -> list[RunFolder]:
    folders: dict[Path, RunFolder] = {}
    for run in runs:
        folder = open_run(run)
        folders.setdefault(folder.path.resolve(), folder)
    return list(folders.values())


def _settings_of(folder: RunFolder) -> Mapping[str, Any]:
    settings = folder.record.settings
    branch = folder.record.branch
    return {
        "the turn it branches from": None if branch is None else branch.turn + 1,
        "the episode it branches from": None if branch is None else branch.fingerprint[:12],
        "wrappers": [ref.model_dump(mode="json") for ref in settings.wrappers],
        "max_turns": settings.max_turns,
        "step_timeout_s": settings.step_timeout_s,
        **{f"the version of {name}": each for name, each in folder.record.versions.items()},
    }


def _chosen(there: Sequence[_Entry], policies: Sequence[str] | None) -> list[_Entry]:
    short = _short(there)
    chosen = list(there)
    if policies is not None:
        known = {*short, *short.values()}
        strange = [policy for policy in policies if policy not in known]
        if strange:
            own = dict.fromkeys(short[entry.policy] for entry in there)
            raise CompareError(
                f"The policy {strange[0]!r} is in none of these runs. They have {', '.join(own)}."
            )
        chosen = [
            entry
            for entry in there
            if {entry.policy, short[entry.policy], entry.line_up, short[entry.line_up]}
            & set(policies)
        ]
    if len(chosen) < 2:
        only = " and ".join(f"{short[entry.policy]} of {entry.run}" for entry in chosen) or "none"
        raise CompareError(
            f"A comparison needs two policies, and there is {only} alone. Name another run, or one "
            "with two policies."
        )
    return chosen


def _names(chosen: Sequence[_Entry]) -> dict[_Entry, str]:
    """Call each by its policy or its run, whichever tells all of them apart, or else by both.

    One of a line-up is called by that too, where its policy is in another.
    """
    short = _short(chosen)
    runs = [entry.run for entry in chosen]
    calls: Sequence[Callable[[_Entry], str]] = (
        lambda entry: short[entry.policy],
        lambda entry: _at_seat(entry, short),
        lambda entry: _in_line_up(entry, short),
    )
    for call in calls:
        names = {entry: call(entry) for entry in chosen}
        if len(set(names.values())) == len(chosen):
            return names
        if len(set(runs)) == len(runs):
            return {entry: str(entry.run) for entry in chosen}
    return {entry: f"{entry.run}: {_in_line_up(entry, short)}" for entry in chosen}


def _at_seat(entry: _Entry, short: Mapping[str, str]) -> str:
    at = "" if entry.seat is None else f" at {entry.seat}"
    return f"{short[entry.policy]}{at}"


def _in_line_up(entry: _Entry, short: Mapping[str, str]) -> str:
    if entry.is_alone:
        return short[entry.policy]
    return f"{_at_seat(entry, short)} in {short[entry.line_up]}"


def _short(entries: Sequence[_Entry]) -> dict[str, str]:
    return short_names(name for entry in entries for name in (entry.policy, entry.line_up))
