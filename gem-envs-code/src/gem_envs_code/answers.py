"""Find the program in what a policy answered."""

from __future__ import annotations

import re

from gem.content import normalise_text
from gem.parsing import THINKING, Cursor, regions, unindented

__all__ = ["INSTRUCTION", "LONGEST", "fenced", "program_in"]

LONGEST = 200_000
"""Characters of the longest program that is run."""

INSTRUCTION = (
    "Put the whole program into one fenced block, ```python. Only the last such block is graded."
)

_OPENER = re.compile(rf"{THINKING}|^(?P<indent>[ \t]*)```(?P<name>[^\s`]*)[^\n`]*\n", re.MULTILINE)
_END = re.compile(r"^[ \t]*```[ \t]*\r?$", re.MULTILINE)
_NAMES = ("", "py", "python", "python3")


def program_in(action: str) -> str | None:
    r"""Return the code of the last fenced block of Python, None where there is none to run.

    A block without a language counts too, and one in a list, whose lines are indented. What a
    policy only thought does not, nor does a block that is not closed, is empty, or is longer than
    LONGEST. Takes time in proportion to the length.

    >>> program_in("Like this:\n```python\nprint(1)\n```")
    'print(1)\n'
    """
    last = None
    for opener, content, _ in regions(Cursor(action), _OPENER, lambda opener: _END):
        if content is not None and opener["name"].lower() in _NAMES:
            last = (content, opener["indent"])
    if last is None:
        return None
    program, indent = last
    if not program.strip() or len(program) > LONGEST:
        return None
    return normalise_text(unindented(program, indent))


def fenced(program: str) -> str:
    """Return a program as an answer."""
    return f"```python\n{program.rstrip()}\n```"
