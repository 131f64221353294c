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


def printable(text: str) -> str:
    r"""Escape what an environment's text could do to a terminal.

    >>> printable("\x1b[2Jgone")
    '\\x1b[2Jgone'
    """
    return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)


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
    """Align the rows' cells; the last column wraps under itself at the terminal's width."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    if not cells:
        return ""
    widths = [max(map(len, column)) for column in list(zip(*cells, strict=True))[:-1]]
    return "\n".join(_row(row, widths, margin) for row in cells)


def _row(row: Sequence[str], widths: Sequence[int], margin: str) -> str:
    start = margin + "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=False))
    room = max(shutil.get_terminal_size((100, 24)).columns - len(start), 30)
    lines = textwrap.wrap(row[-1], room) or [""]
    return "\n".join(
        [(start + lines[0]).rstrip(), *(" " * len(start) + line for line in lines[1:])]
    )
