"""Put what a rule counted into words, a model's text among them made harmless."""

from __future__ import annotations

from collections.abc import Sequence

from gem.cli import one_line

__all__ = ["excerpt", "in_turns"]

_NAMED = 3  # turns


def excerpt(text: str, *, at_most: int = 60) -> str:
    r"""Return the first characters of a text in quotes, printable and on one line.

    >>> excerpt("a\n\x1b[2Jb")
    "'a \\x1b[2Jb'"
    """
    dots = "..." if len(text) > at_most else ""
    return f"'{one_line(text[:at_most])}{dots}'"


def in_turns(turns: Sequence[int]) -> str:
    """Name turns as a person counts them, from 1; of many the first and how many follow.

    >>> in_turns([4]), in_turns([0, 2, 4]), in_turns(range(12))
    ('turn 5', 'turns 1, 3 and 5', 'turns 1, 2, 3 and 9 more')
    """
    names = [str(turn + 1) for turn in turns[:_NAMED]]
    more = len(turns) - _NAMED
    if more > 0:
        names.append(f"{more:,} more")
    if len(names) == 1:
        return f"turn {names[0]}"
    return f"turns {', '.join(names[:-1])} and {names[-1]}"
