"""What a player may choose from: an environment out of a menu, an answer by its number."""

from __future__ import annotations

import difflib
import re
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gem.cli._text import columns
from gem.errors import BadArguments

__all__ = [
    "chosen_id",
    "is_missing_run",
    "is_run",
    "looks_like_a_call",
    "missing_run",
    "numbered",
]

_LOG = "episodes.jsonl"
_MOST_OFFERED = 5  # runs that an error names

_WHOLE = re.compile(r"\\boxed\{([^{}\n]{1,200})\}|<answer>([^<>\n]{1,200})</answer>")
_CALL_STARTS = ("<", "```", "{", "[")


def numbered(text: str) -> tuple[str, list[str]]:
    r"""Put numbers to the lines that are whole answers, where there are two or more.

    >>> shown, choices = numbered("Links:\n\\boxed{Iron}\n\\boxed{Gold}")
    >>> shown, choices[1]
    ('Links:\n 1  Iron\n 2  Gold', '\\boxed{Gold}')
    """
    lines = text.split("\n")
    places = [place for place, line in enumerate(lines) if _WHOLE.fullmatch(line.strip())]
    if len(places) < 2:
        return text, []
    choices = []
    for number, place in enumerate(places, 1):
        answer = lines[place].strip()
        choices.append(answer)
        lines[place] = f"{number:2}  {_WHOLE.sub(_inside, answer)}"
    return "\n".join(lines), choices


def _inside(match: re.Match[str]) -> str:
    return match[1] or match[2]  # in a box, or in tags


def looks_like_a_call(text: str) -> bool:
    """Say whether an action begins as the formats of tools' calls do: it is sent as it is."""
    return text.lstrip().startswith(_CALL_STARTS)


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


def chosen_id() -> str | None:
    """Let the player choose an environment that can be made here; None where one leaves.

    Raises BadArguments where nobody can be asked.
    """
    from gem.registry._availability import lacks
    from gem.registry._catalogue import list_envs

    if not sys.stdin.isatty():
        raise BadArguments(
            "gem-env play was given no environment. Name one; `gem-env list --available` shows "
            "them.",
            subject="ID",
        )
    specs = [spec for spec in list_envs() if not lacks(spec)]  # what can be played here and now
    counts = Counter(spec.namespace for spec in specs)
    print("What to play?")
    namespace = _chosen([(name, f"{counts[name]} to choose from") for name in sorted(counts)])
    if namespace is None:
        return None
    here = [(spec.id, spec.summary) for spec in specs if spec.namespace == namespace]
    return _chosen(here)


def _chosen(rows: Sequence[tuple[str, str]]) -> str | None:
    """Show rows with numbers, and return the name that is chosen by its number or in full."""
    numbered = [(str(number), *row) for number, row in enumerate(rows, 1)]
    print(columns(numbered, margin="  "))
    names = [name for name, _ in rows]
    while True:
        try:
            answer = input("Its number, or :q> ").strip()
        except EOFError:
            print()
            return None
        if answer in (":q", ":quit"):
            return None
        # No list has a billion rows, and int() refuses more than some thousand digits.
        number = int(answer) if answer.isdecimal() and len(answer) < 10 else 0
        if 1 <= number <= len(rows):
            return names[number - 1]
        if answer in names:
            return answer
        print(f"Give a number from 1 to {len(rows)}.")
