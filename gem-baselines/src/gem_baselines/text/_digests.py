"""Shorten what an environment tells, for a small policy that learns faster from few tokens."""

from __future__ import annotations

import re
from collections.abc import Callable

from gem.errors import BadArguments

__all__ = ["keep_matches"]


def keep_matches(pattern: str) -> Callable[[str], str]:
    r"""Return a digest that keeps of a text what a regular expression matches, in order.

    Of a match with groups it keeps the last group that took part. Raises BadArguments on what is
    no regular expression. The time that a digest takes is that of its pattern: one with nested
    repeats may take very long on a crafted text.

    >>> digest = keep_matches(r"higher|lower|(\d+) black")
    >>> digest("At turn 3, you guessed 7, and the target number is higher.")
    'higher'
    >>> digest("which receives 1 black peg(s)")
    '1'
    """
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise BadArguments(
            f"keep={pattern!r} was asked for, and is no regular expression: {error}. Give one "
            "such as 'higher|lower'.",
            subject="keep",
        ) from error

    def digest(text: str) -> str:
        matches = expression.finditer(text)
        return " ".join(match.group(match.lastindex or 0) for match in matches)

    return digest
