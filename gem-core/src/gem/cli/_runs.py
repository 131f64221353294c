"""What a word of the command line says of a run: whether it is one, and what there is instead.

Knows nothing about what is in a log.
"""

from __future__ import annotations

import argparse
import difflib
import shlex
from collections.abc import Sequence
from pathlib import Path

from gem.errors import BadArguments

__all__ = ["is_missing_run", "is_run", "missing_run", "refuse_with_run"]

_LOG = "episodes.jsonl"
_MOST_OFFERED = 5  # runs that an error names
_NOT_GIVEN: tuple[object, ...] = (None, {}, [])
"""What an option is that was not typed, as text or as JSON. 0 is none of these: it is a seed."""


def is_run(name: str) -> bool:
    """Say whether this names a run folder or a log of episodes. No id has a slash or is a file."""
    path = Path(name)
    is_log = path.is_file() and path.suffix != ".py"
    return is_log or (path / _LOG).is_file()


def is_missing_run(name: str) -> bool:
    """Say whether this is meant as a run and is none: a path, or a folder without a log."""
    from gem.registry._env_targets import names_a_target

    return ("/" in name or Path(name).is_dir()) and not names_a_target(name)


def missing_run(name: str) -> BadArguments:
    """Return the error for a run that is not there, with those that are beside or in it."""
    path = Path(name)
    what = f"{name} holds no {_LOG}" if path.is_dir() else f"There is no run {name}"
    folder = path if path.is_dir() else path.parent
    runs = _runs_in(folder)
    if path.is_dir() and not runs:  # it may be one of several, and not yet begun
        folder = path.parent
        runs = _runs_in(folder)
    return BadArguments(f"{what}. {_offer(runs, folder, near=path.name)}", subject="ID|RUN")


def _runs_in(folder: Path) -> list[str]:
    """Return the names of the run folders in a folder, the latest first."""
    try:
        logs = [entry / _LOG for entry in folder.iterdir() if (entry / _LOG).is_file()]
        logs.sort(key=lambda log: log.stat().st_mtime, reverse=True)
    except OSError:  # it is not there, or not ours to read
        return []
    return [log.parent.name for log in logs]


def _offer(runs: Sequence[str], folder: Path, *, near: str) -> str:
    if not runs:
        return (
            f"There are no runs in {folder} either. `gem-env eval` writes some; "
            "`gem-env list` shows the ids of environments."
        )
    alike = difflib.get_close_matches(near, runs, n=_MOST_OFFERED)
    ordered = [*alike, *(name for name in runs if name not in alike)]
    offered = [shlex.quote(str(folder / name)) for name in ordered[:_MOST_OFFERED]]
    left = len(runs) - len(offered)
    others = f" and {left} more" if left else ""
    return f"There are: {', '.join(offered)}{others}."


def refuse_with_run(run: str, options: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Raise BadArguments where one of the options of these names was given: a run has no use of it.

    Of an option that was given several times, such as --policy, the first value is told.
    """
    for name in names:
        value = getattr(options, name)
        if value in _NOT_GIVEN:
            continue
        if name == "policy":
            value = value[0]
        option = f"--{name.replace('_', '-')}"
        raise BadArguments(f"{option} {value} was given with {run}, a run {why}", subject=option)
