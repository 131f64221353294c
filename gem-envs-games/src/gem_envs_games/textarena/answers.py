r"""Find the answer in a model's text, `[answer]` or `\boxed{answer}`. Always linear time.

Knows nothing about any game.
"""

from __future__ import annotations

import re

__all__ = ["bracketed", "spoken"]

_LONGEST = 200
_LONGEST_TALK = 4000
_OPEN_BOX = "\\boxed{"
_BOX = re.compile(r"\\boxed\{([^{}]*)\}")


def bracketed(text: str) -> str:
    r"""Return the last answer of a text as `[answer]`, the form that TextArena's games read.

    An answer stands in square brackets or in a box; the one that begins last counts. Blank ones,
    and those of more than 200 characters, are passed over. Text without an answer is taken as
    one, up to 200 characters. White space within it becomes single spaces, and what is not ASCII
    a question mark: no game takes it, and some fail on it.

    >>> bracketed(r"Not [up] but \boxed{left}."), bracketed(r"\boxed{[3 4]}"), bracketed("up")
    ('[left]', '[3 4]', '[up]')
    """
    start, answer = max(_last(text, "[", "]"), _last(text, _OPEN_BOX, "}"))
    if start < 0:
        answer = text[:_LONGEST]
    words = answer.replace("[", " ").replace("]", " ").split()
    return f"[{' '.join(words)}]".encode("ascii", "replace").decode("ascii")


def spoken(text: str) -> str:
    r"""Return a text as what is said aloud: all of it, in one line, boxes as `[answer]`.

    It is the end of a text of more than 4,000 characters. What cannot be printed becomes white
    space, and white space single spaces: nobody can write what looks like another's line.

    >>> spoken("I trust you.\n\\boxed{Cooperate}")
    'I trust you. [Cooperate]'
    """
    line = text[-_LONGEST_TALK:]
    if not line.isprintable():
        line = "".join(character if character.isprintable() else " " for character in line)
    if _OPEN_BOX in line:
        line = _BOX.sub(r"[\1]", line)
    return " ".join(line.split())


def _last(text: str, opening: str, closing: str) -> tuple[int, str]:
    """Return the last enclosed text and where it begins, or a negative place."""
    end = len(text)
    while (start := text.rfind(opening, 0, end)) >= 0:
        first = start + len(opening)
        close = text.find(closing, first, min(end, first + _LONGEST + 1))
        if close >= 0 and not text[first:close].isspace() and close > first:
            return first, text[first:close]
        end = start  # nothing enclosed reaches into the next, so no character is read twice
    return -1, ""
