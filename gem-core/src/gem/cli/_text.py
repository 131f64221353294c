"""Put text on a terminal: safely, and in columns. Knows nothing about the commands."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Sequence

__all__ = ["columns", "counted", "indented", "one_line", "printable"]

# Control characters can rewrite a screen, bidirectional marks can disguise text, and a lone
# surrogate has no encoding. Newline and tab stay.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


_GAP = "  "
_LEAST_ROOM = 20  # characters in which a sentence can still be read


def printable(text: str) -> str:
    r"""Escape what an environment's text could do to a terminal.

    >>> printable("\x1b[2Jgone")
    '\\x1b[2Jgone'
    """
    return _UNSAFE.sub(lambda match: ascii(match[0])[1:-1], text)


def one_line(text: str) -> str:
    """Return text as one printable line."""
    return printable(" ".join(text.split()))


def counted(number: int, noun: str) -> str:
    """Return a number with what it counts.

    >>> counted(1, "turn"), counted(0, "turn")
    ('1 turn', '0 turns')
    """
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


def indented(text: str, margin: str = "  ") -> str:
    """Return printable text with a margin, its lines as they are."""
    return textwrap.indent(printable(text), margin, lambda line: True)


def columns(rows: Iterable[Sequence[str]], margin: str = "") -> str:
    """Align the rows' cells; the last column wraps under itself at the terminal's width.

    Where a narrow terminal leaves it no room, it goes below the others.
    """
    # Made printable first: widths are of what the terminal shows.
    cells = [[one_line(cell) for cell in row] for row in rows]
    if not cells:
        return ""
    widths = [max(map(len, column)) for column in list(zip(*cells, strict=True))[:-1]]
    width = shutil.get_terminal_size((100, 24)).columns
    room = width - len(margin) - sum(column + len(_GAP) for column in widths)
    longest = max(len(row[-1]) for row in cells)
    if room < min(longest, _LEAST_ROOM):
        return "\n".join(_stacked(row, margin, max(width, _LEAST_ROOM)) for row in cells)
    return "\n".join(_row(row, widths, margin, room) for row in cells)


def _row(row: Sequence[str], widths: Sequence[int], margin: str, room: int) -> str:
    start = margin
    for cell, width in zip(row, widths, strict=False):  # the last cell has no width
        start += f"{cell:<{width}}{_GAP}"
    first, *others = _wrapped(row[-1], max(room, 1)) or [""]
    under = " " * len(start)
    return "\n".join([(start + first).rstrip(), *(under + line for line in others)])


def _stacked(row: Sequence[str], margin: str, width: int) -> str:
    """Return the last cell below the others, further to the right."""
    below = margin + 2 * _GAP
    lines = [margin + line for line in _wrapped(_GAP.join(row[:-1]), width - len(margin))]
    lines += [below + line for line in _wrapped(row[-1], width - len(below))]
    return "\n".join(lines)


def _wrapped(text: str, width: int) -> list[str]:
    """Break lines between words alone: an id or a command that is cut can be typed by nobody."""
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
