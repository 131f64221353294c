"""`branch`: play on from a turn of a recorded episode by another policy, several times over."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem.episode import Episode
from gem.rollouts import unknown_option
from gem_eval import evaluation, opening
from gem_eval.branching.choosing import choose
from gem_eval.branching.origin import Origin
from gem_eval.branching.record import Branch
from gem_eval.errors import BranchError, SettingsError
from gem_eval.line_ups import Policies, policy_list
from gem_eval.run_folder import RunFolder
from gem_eval.settings import FREE

if TYPE_CHECKING:
    from gem_eval.evaluation import Evaluation

__all__ = ["branch", "branch_async", "origin_of"]

_OPTIONS = FREE | {"policy_kwargs", "max_turns", "step_timeout_s"}
_ENDED = frozenset({"terminated", "truncated"})  # by the environment, which takes no more turns


def branch(
    run: str | Path,
    episode: int | str,
    policies: Policies,
    *,
    turn: int,
    repeats: int = 1,
    out: str | Path | None = None,
    **options: Any,
) -> Evaluation:
    """Play on from a turn of a recorded episode, and keep the children in a run of their own.

    `episode` is its line in the log of `run`, from 1, or how its fingerprint begins. The turns
    before `turn`, which counts from 0, are taken again as they were recorded and compared; from it
    on each of the policies plays, `repeats` times, sampling anew each time. What an error ended of
    the run's own, or a limit of turns, can be played on from the turn after its last.

    `options` are those of `evaluate` that choose no episodes: `policy_kwargs`, `max_turns` and
    `step_timeout_s` (as of the parent's run, unless they are given), `concurrency`, deadlines,
    retries, and where environments run. Raises RunFolderError, LogError, SettingsError, and
    BranchError where there is no such episode or turn, or the turns before it do not come out as
    they did; then nothing is made.

        children = gem_eval.branch("runs/games", 12, "solver", turn=4, repeats=20)
        print(children.summary.results[0].success_rate)
    """
    return evaluation.blocking(
        branch_async(run, episode, policies, turn=turn, repeats=repeats, out=out, **options)
    )


async def branch_async(
    run: str | Path,
    episode: int | str,
    policies: Policies,
    *,
    turn: int,
    repeats: int = 1,
    out: str | Path | None = None,
    **options: Any,
) -> Evaluation:
    """Await `branch`, for code that already runs on an event loop."""
    given_options = {name: value for name, value in options.items() if value is not None}
    for name in given_options:
        if name not in _OPTIONS:
            raise SettingsError(unknown_option("A branch", name, sorted(_OPTIONS)), option=name)
    # In a thread: an environment is made and stepped there, and may wait in its own way.
    origin, settings = await asyncio.to_thread(
        origin_of, run, episode, turn=turn, max_turns=given_options.get("max_turns")
    )
    given = {
        **settings,
        **given_options,
        "policies": policy_list(policies),
        "episodes": repeats,
    }
    ready = opening.branched(given, origin=origin, out=out, command=("gem_eval.branch",))
    return await evaluation.finished(ready)


def origin_of(
    run: str | Path, episode: int | str, *, turn: int, max_turns: int | None = None
) -> tuple[Origin, Mapping[str, Any]]:
    """Find an episode and check that it can be played on from a turn, counted from 0.

    Returns the settings of its run that its children have too. Raises GemError.
    """
    if type(turn) is not int:  # of a finding it is None, where that is of the whole episode
        raise BranchError(f"turn={turn!r:.40} is no turn. Give its number, counted from 0.")
    folder = RunFolder.open(run)
    line, parent = choose(folder, episode)
    if len(parent.seats) > 1:
        raise BranchError(
            f"Line {line} of {folder.path} has {len(parent.seats)} seats, and a branch plays on "
            "for one policy alone. Choose an episode of one seat."
        )
    settings = folder.record.settings
    record = Branch(
        run=str(folder.path),
        line=line,
        fingerprint=parent.fingerprint(),
        policy=parent.policy,
        turn=turn,
    )
    limit = settings.max_turns if max_turns is None else max_turns
    _refuse_turn(parent, record, limit)
    origin = Origin(parent, record)
    origin.check()
    shared = {
        "envs": [origin.spec],
        "max_turns": limit,
        "step_timeout_s": settings.step_timeout_s,
    }
    return origin, shared


def _refuse_turn(parent: Episode, record: Branch, limit: int | None) -> None:
    """Refuse a turn that nobody can play: the episode was over, or the run's limit comes first."""
    played = len(parent.played_turns)
    last = played if parent.stop_reason in _ENDED else played + 1
    where = f"line {record.line} of {record.run}"
    if not 0 <= record.turn < last:
        raise BranchError(
            f"Turn {record.turn + 1} of {where} was asked for, and that episode can be played on "
            f"from turn 1 to {last}: it has {played} turns and ended as {parent.stop_reason}. "
            "Choose one of these."
        )
    if limit is not None and record.turn >= limit:
        raise BranchError(
            f"Turn {record.turn + 1} of {where} was asked for, and its run has at most {limit} "
            "turns. Give a larger --max-turns."
        )
