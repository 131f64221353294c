"""Colour what an environment marks in its own text. Knows nothing about what the text means."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence

__all__ = ["Highlight", "are_wanted", "painted"]

Highlight = tuple[str, str, str]
"""A line to look at, what to colour in it, both as regular expressions, and the colour's name."""

_CODES = {
    "bold": 1,
    "red": 31,
    "green": 32,
    "yellow": 33,
    "blue": 34,
    "magenta": 35,
    "cyan": 36,
    "grey": 90,
}
_RESET = "\x1b[0m"
_LONGEST = 500  # characters of a line: boards are shorter, and a model's own text is left alone


def are_wanted() -> bool:
    """Say whether colours may be used: not where NO_COLOR is set (https://no-color.org)."""
    return not os.environ.get("NO_COLOR")


def painted(line: str, highlights: Sequence[Highlight]) -> str:
    r"""Return a printable line with its marks in colour; each piece takes the first that fits.

    A mark that is wrong (no regular expression, no colour of ours) colours nothing: an
    environment's own text is shown whatever it says of it.

    >>> painted("A 1", [("^A", "[0-9]", "red")])
    'A \x1b[31m1\x1b[0m'
    """
    if len(line) > _LONGEST:
        return line
    try:
        fitting = tuple(mark for mark in highlights if re.search(mark[0], line))
        if not fitting:
            return line
        # One pattern for all, in one pass: the codes that were put in hold digits themselves.
        return _joined(fitting).sub(lambda match: _coloured(match, fitting), line)
    except (re.error, KeyError):
        return line


@functools.lru_cache(maxsize=64)
def _joined(highlights: tuple[Highlight, ...]) -> re.Pattern[str]:
    """Return a pattern with a group for each mark, `h0` for the first."""
    groups = [f"(?P<h{number}>{token})" for number, (_, token, _) in enumerate(highlights)]
    return re.compile("|".join(groups))


def _coloured(match: re.Match[str], highlights: tuple[Highlight, ...]) -> str:
    if not match[0]:
        return ""  # a mark that fits nothing at all, such as `x*`, has nothing to colour
    # Of several that fit here the first took the piece, and its group is the one with a text.
    colour = next(
        colour
        for number, (_, _, colour) in enumerate(highlights)
        if match[f"h{number}"] is not None
    )
    return f"\x1b[{_CODES[colour]}m{match[0]}{_RESET}"
