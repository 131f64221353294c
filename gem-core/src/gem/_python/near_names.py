"""Find ids by what a person types: a pattern, a part, a misspelling. Pure functions of text."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Sequence

__all__ = ["is_pattern", "matches", "near"]

_LEAST_PART = 3  # fewer characters are a part of too many ids to say anything
_LEAST_ALIKE = 0.75  # of 0.6 and less, `game` is like `AIME24`
_MAX_SUGGESTIONS = 3


def is_pattern(text: str) -> bool:
    """Whether text is a shell pattern rather than an id, a part of one, or the target of a file.

    >>> is_pattern("game:*"), is_pattern("guess"), is_pattern("./[old]/try.py:Parity")
    (True, False, False)
    """
    return ".py:" not in text and any(character in text for character in "*?[")


def matches(text: str, ids: Iterable[str]) -> list[str]:
    """Return the ids that match a shell pattern, or that contain the text; case makes no odds.

    >>> matches("guess", ["game:GuessTheNumber-v0", "game:Wordle-v0"])
    ['game:GuessTheNumber-v0']
    >>> matches("GAME:w*", ["game:GuessTheNumber-v0", "game:Wordle-v0"])
    ['game:Wordle-v0']
    """
    wanted = text.lower() if is_pattern(text) else f"*{text.lower()}*"
    return [id for id in ids if fnmatch.fnmatchcase(id.lower(), wanted)]


def near(id: str, known: Sequence[str]) -> list[str]:
    """Return up to three known ids that are alike: another case or namespace, a part, a slip.

    Names are compared apart from namespaces, which many ids share.

    >>> near("guessthenumber-v0", ["game:GuessTheNumber-v0", "eval:AIME24"])
    ['game:GuessTheNumber-v0']
    >>> near("game", ["eval:AIME24"])
    []
    """
    namespace, name = _parts(id)
    suggestions = []
    if len(name) >= _LEAST_PART:
        suggestions = [known_id for known_id in known if name in _without_namespace(known_id)]
    # The very name comes first, then names that begin with it, then those that it is a part of.
    suggestions.sort(key=lambda id: _likeness(_without_namespace(id), name))
    known_names = list(dict.fromkeys(map(_without_namespace, known)))
    for alike in difflib.get_close_matches(name, known_names, n=6, cutoff=_LEAST_ALIKE):
        suggestions += [known_id for known_id in known if _without_namespace(known_id) == alike]
    suggestions.sort(key=lambda id: _parts(id)[0] != namespace)  # stable: first its own namespace
    return list(dict.fromkeys(suggestions))[:_MAX_SUGGESTIONS]


def _likeness(known_name: str, name: str) -> int:
    """Return 0 for the name itself, 1 for one that begins with it, 2 for any other."""
    if known_name == name:
        return 0
    return 1 if known_name.startswith(name) else 2


def _without_namespace(id: str) -> str:
    """Return the name of an id without its namespace, in small letters."""
    return _parts(id)[1]


def _parts(id: str) -> tuple[str, str]:
    """Return the namespace, "" for none, and the name, both in small letters."""
    namespace, _, name = id.lower().rpartition(":")
    return namespace, name
