"""What a player may choose from: an environment out of a menu, an answer by its number."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from gem.cli.text import columns

__all__ = ["chosen_id", "is_run", "looks_like_a_call", "numbered"]

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
    choices = [lines[place].strip() for place in places]
    for number, place in enumerate(places, 1):
        found = _WHOLE.fullmatch(lines[place].strip())
        inside = "".join(part or "" for part in found.groups()) if found else ""
        lines[place] = f"{number:2}  {inside}"
    return "\n".join(lines), choices


def looks_like_a_call(text: str) -> bool:
    """Say whether an action begins as the formats of tools' calls do: it is sent as it is."""
    return text.lstrip().startswith(_CALL_STARTS)


def is_run(name: str) -> bool:
    """Say whether this names a run folder or a log of episodes. No id has a slash or is a file."""
    path = Path(name)
    return path.is_file() or (path / "episodes.jsonl").is_file()


def chosen_id() -> str | None:
    """Let the player choose an environment that can be made here; None where one leaves.

    Raises BadArguments where nobody can be asked.
    """
    from gem.availability import lacks
    from gem.errors import BadArguments
    from gem.registry import list_envs

    if not sys.stdin.isatty():
        raise BadArguments(
            "gem-env play was given no environment. Name one, such as "
            "game:GuessTheNumber-v0-easy; `gem-env list --available` shows them.",
            subject="ID",
        )
    specs = [spec for spec in list_envs() if not lacks(spec)]
    namespaces = sorted({spec.namespace for spec in specs})
    counts = {name: sum(spec.namespace == name for spec in specs) for name in namespaces}
    print("What to play?")
    namespace = _chosen([(name, f"{counts[name]} to choose from") for name in namespaces])
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
        number = int(answer) if answer.isdecimal() and len(answer) < 10 else 0
        if 1 <= number <= len(rows):
            return names[number - 1]
        if answer in names:
            return answer
        print(f"Give a number from 1 to {len(rows)}.")
