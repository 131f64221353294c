"""Replay a log of another program: its actions, taken in one of our environments.

Knows nothing about formats: packs offer readers of them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from gem import hooks
from gem.cli._replay_text import difference_lines, version_lines
from gem.cli._text import counted, one_line
from gem.env._env import Env
from gem.episode._foreign import ForeignEpisode
from gem.episode._foreign_replay import ForeignReport, replay_foreign
from gem.episode._log import begins_as_log
from gem.episode._replay import changed_versions, closed_at_end, made_again
from gem.errors import BadArguments, GemError, LogError, in_one_line
from gem.registry._catalogue import is_provided, spec, wrapper_of
from gem.registry._making import make

__all__ = ["is_foreign", "replay_file"]

_MOST_NAMED = 60  # characters of an agent's name


def is_foreign(path: Path) -> bool:
    """Say whether this is a file that is not one of our logs."""
    return path.is_file() and path.suffix != ".jsonl" and not begins_as_log(path)


def replay_file(path: Path, options: argparse.Namespace) -> int:
    """Take the actions of a foreign log, print what came of them and return the exit status."""
    episode = _placed(_read(path), path, options)
    assert episode.env_id is not None, "_placed has seen to it"
    assert episode.seed is not None, "_placed has seen to it"
    # What an environment prints is no part of the report.
    with redirect_stdout(sys.stderr), closed_at_end(_made(episode, path, options)) as env:
        report = replay_foreign(
            episode, env, seed=episode.seed, task=episode.task, live_tools=options.live_tools
        )
    # What the file itself names is what it was played in, whatever became of its actions there.
    if options.env is not None and report.misfit:
        raise LogError(
            f"{path} does not fit {options.env}: {report.misfit}. Name the environment that it "
            "was played in.",
            path=str(path),
        )
    changed = changed_versions(episode.env_id, episode.versions) if episode.versions else {}
    if options.json:
        print(json.dumps(_facts(episode, report, changed), indent=2))
    else:
        print("\n".join(_lines(episode, report, changed)))
    return int(report.state == "different")


def _read(path: Path) -> ForeignEpisode:
    """Return the episode that the first reader finds. Raises LogError where none does."""
    readers: list[hooks.LogReader] = []
    hooks.announce("gem_log_readers", readers=readers)
    for read in readers:
        try:
            episode = read(path)
        except GemError:
            raise
        except Exception as error:  # a pack's reader may raise anything
            raise LogError(
                f"{path} cannot be read: {in_one_line(error, at_most=300)}, raised by the reader "
                f"{read.__module__}. Tell its author.",
                path=str(path),
            ) from error
        if episode is not None:
            return episode
    raise LogError(
        f"{path} is no log of episodes, and no installed pack reads logs of its format. Give a "
        "run folder or its episodes.jsonl; `gem-env plugins` shows which packs are installed.",
        path=str(path),
    )


def _placed(episode: ForeignEpisode, path: Path, options: argparse.Namespace) -> ForeignEpisode:
    """Return an episode with the environment, seed and task that the options name."""
    if not episode.turns and episode.stop_reason is None:
        raise BadArguments(
            f"{path} has no action to take: no step in it is an agent's.", subject="RUN"
        )
    if options.env is not None:
        episode = replace(episode, env_id=options.env, versions={})
    given = {name: getattr(options, name) for name in ("seed", "task")}
    episode = replace(
        episode, **{name: value for name, value in given.items() if value is not None}
    )
    for option, value in (("--env ID", episode.env_id), ("--seed N", episode.seed)):
        if value is None:
            raise BadArguments(
                f"{path} does not say what it was played in. Give {option}.", subject=option
            )
    return episode


def _made(episode: ForeignEpisode, path: Path, options: argparse.Namespace) -> Env:
    try:
        return _unguarded(episode, path, options)
    except GemError:
        raise
    except Exception as error:  # an environment may raise anything, and its arguments are a file's
        raise LogError(
            f"{episode.env_id} cannot be made for {path}: {in_one_line(error, at_most=300)}. Name "
            "it with --env, and its arguments with --env-kwargs.",
            path=str(path),
        ) from error


def _unguarded(episode: ForeignEpisode, path: Path, options: argparse.Namespace) -> Env:
    if options.env is not None:
        return make(options.env, wrappers=options.wrappers, **options.env_kwargs)
    if options.env_kwargs or options.wrappers:
        raise BadArguments(
            f"--env-kwargs or --wrappers were given, and {path} says which environment it was "
            "played in. Name an environment with --env, too.",
            subject="--env-kwargs",
        )
    assert episode.env_id is not None, "_placed has seen to it"
    _refuse_own_code(episode.env_id, [ref.id for ref in episode.wrappers], path)
    return made_again(episode.env_id, episode.env_kwargs, episode.wrappers)


def _refuse_own_code(env_id: str, wrapper_ids: list[str], path: Path) -> None:
    """Refuse to import what a file from anywhere names, unless a pack provides it."""
    spec(env_id)  # where that is no environment at all, this is the error
    unknown = [] if is_provided(env_id) else [env_id]
    unknown += [id for id in wrapper_ids if ":" in id and wrapper_of(id) is None]
    if unknown:
        raise BadArguments(
            f"{path} was played with {', '.join(unknown)}, which no installed pack provides. If "
            "you trust that code, name it yourself with --env (and --wrappers, --env-kwargs).",
            subject="--env",
        )


def _facts(
    episode: ForeignEpisode,
    report: ForeignReport,
    changed: Mapping[str, tuple[str | None, str | None]],
) -> dict[str, Any]:
    difference = report.difference
    return {
        "env_id": episode.env_id,
        "agent": episode.agent,
        "seed": episode.seed,
        "task": episode.task,
        "state": report.state,
        "compared": report.num_compared,
        "first_difference": None if difference is None else difference._asdict(),
        "turns": report.turns_taken,
        "turns_left": len(report.turns_left),
        "unread": report.num_unread,
        "is_over": report.is_over,
        "total_reward": report.total_reward,
        "success": report.success,
        "changed_versions": dict(changed),
    }


def _lines(
    episode: ForeignEpisode,
    report: ForeignReport,
    changed: Mapping[str, tuple[str | None, str | None]],
) -> Iterator[str]:
    task = "" if episode.task is None else f" task {episode.task}"
    outcome = {True: "success", False: "no success", None: "not over"}[report.success]
    yield f"{report.state:9} " + one_line(
        f"{episode.env_id} {episode.agent[:_MOST_NAMED]} seed {episode.seed}{task}: "
        f"{counted(report.turns_taken, 'turn')}, return {report.total_reward:g}, {outcome}"
    )
    if report.difference is not None:
        yield from _difference(report)
    if report.state == "played":
        yield "The file says nothing of observations or rewards that could be compared."
    if report.state == "partial":
        yield "Partial: its actions end before the episode does."
    if report.turns_left:
        left = counted(len(report.turns_left), "action")
        yield f"Left over: {left} from step {report.turns_left[0].step} on."
    if report.num_unread:
        yield f"{counted(report.num_unread, 'action')} could not be read by the environment."
    yield from version_lines(changed)


def _difference(report: ForeignReport) -> Iterator[str]:
    assert report.difference is not None
    step = report.difference.step
    where = "before the first action" if step is None else f"step {step}"
    yield f"First difference: {where}, {report.difference.field}:"
    yield from difference_lines(report.difference.recorded, report.difference.replayed)
