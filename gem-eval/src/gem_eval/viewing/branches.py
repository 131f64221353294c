"""Where a branched run begins, and which of the runs that are shown begin at an episode."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gem.errors import GemError
from gem.rollouts import resolve
from gem_eval.branching.record import Branch
from gem_eval.viewing import rows
from gem_eval.viewing.query import Query
from gem_eval.viewing.rows import Row
from gem_eval.viewing.runs import Run
from gem_eval.viewing.selection import Selection

__all__ = ["BranchCommand", "Children", "Parent", "can_be_made_again", "children_of", "parent_of"]

_MOST_ROWS = 8
_ENDED = frozenset({"terminated", "truncated"})  # by the environment, which takes no more turns
_FAILED_IN_STEP = frozenset({"env_error", "step_timeout", "worker_lost"})
_OPAQUE = "$opaque"  # stands in a record for an object that no text can name


class Parent(NamedTuple):
    """What a run branches from. `run` is the one that is shown, None where its run is not."""

    branch: Branch
    run: Run | None


class Children(NamedTuple):
    """A run that branches from an episode at a turn, from 1. `rows` are some of its episodes."""

    run: Run
    turn: int
    rows: tuple[Row, ...]
    episodes: int


class BranchCommand(NamedTuple):
    """The parts of `gem-env branch` for an episode: what comes before the turn, who may play on.

    `last` is the last turn, from 1, that can be played anew.
    """

    before: str
    policies: tuple[tuple[str, str], ...]  # the name, and how a shell takes it
    last: int

    @classmethod
    def of(cls, run: Run, row: Row) -> BranchCommand | None:
        """Return it for an episode, None where none of its turns can be played anew."""
        if not run.folder.has_name:
            return None
        limit = run.folder.record.settings.max_turns
        played = row.turns - (row.stop in _FAILED_IN_STEP and row.turns > 0)
        last = played if row.stop in _ENDED else played + 1
        if limit is not None:
            last = min(last, limit)
        if last < 1:
            return None
        words = ["gem-env", "branch", str(run.folder.path), str(row.line), "--turn"]
        # An object that was handed over in Python has no name that a command could call it by.
        named = [ref.name for ref in run.folder.record.settings.policies if ref.live is None]
        names = dict.fromkeys([*named, "solver", "random"])
        return cls(shlex.join(words), tuple((name, shlex.quote(name)) for name in names), last)


def parent_of(run: Run, runs: Sequence[Run]) -> Parent | None:
    """Return what a run branches from, None of any other run."""
    branch = run.folder.record.branch
    if branch is None:
        return None
    for other in runs:
        if other is not run and _is_of(branch, other) and _has_parent(other, branch):
            return Parent(branch, other)
    return Parent(branch, None)


def children_of(run: Run, row: Row, runs: Sequence[Run]) -> list[Children]:
    """Return the runs that branch from an episode, in the order of its turns."""
    found = []
    for other in runs:
        branch = other.folder.record.branch
        if other is run or branch is None or branch.line != row.line:
            continue
        if branch.policy == row.policy and _is_of(branch, run):
            with other.index.reading() as db:
                selection = Selection(db, Query(), other.env_ids)
                shown = tuple(selection.rows(_MOST_ROWS))
                found.append(Children(other, branch.turn + 1, shown, selection.count()))
    return sorted(found, key=lambda each: each.turn)


def can_be_made_again(record: Mapping[str, Any]) -> bool:
    """Say whether the environment of an episode is installed, and its record names all of it."""
    named = [record.get("env_kwargs"), record.get("wrappers")]
    if _OPAQUE in _keys(named):
        return False
    try:
        resolve(str(record.get("env_id")))
    except (GemError, ValueError):
        return False
    return True


def _keys(value: Any) -> Iterator[Any]:
    """Yield the keys of all objects in plain data."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping):
            yield from found
            waiting += found.values()
        elif isinstance(found, list):
            waiting += found


def _is_of(branch: Branch, run: Run) -> bool:
    """Say whether a run stands where a branch says that its parent's does.

    A branch has the path as it was written then, which may have been relative to another folder.
    """
    path = Path(branch.run)
    here = run.folder.path.absolute()
    if path.is_absolute():
        return path == here
    return path.absolute() == here or here.parts[-len(path.parts) :] == path.parts


def _has_parent(run: Run, branch: Branch) -> bool:
    with run.index.reading() as db:
        row = rows.row_at(db, branch.line)
    return row is not None and row.policy == branch.policy
