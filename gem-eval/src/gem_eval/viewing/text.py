"""Show text of models and environments as what it is: nothing in it acts. Pure functions.

Characters that would act, or that nobody sees, are shown by their name (`U+202E`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from gem.parsing import find_boxed

__all__ = [
    "Piece",
    "answer_pieces",
    "cut",
    "duration",
    "family",
    "first_line",
    "hidden_apart",
    "hidden_named",
    "pieces",
    "value_text",
]

# Controls but tab and newline, what is written from right to left, what has no width, and halves of
# characters, which no encoding can write.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_HIDDEN_RUN = re.compile(f"{_HIDDEN.pattern}+")
_WIDEST_BOARD = 60
_MOST_OF_VALUE = 40
_RULE = re.compile(r"[-+=|#]+")


class Piece(NamedTuple):
    """A part of a text: prose, a board whose lines stay as they are, or the last boxed answer."""

    kind: Literal["prose", "board", "boxed"]
    text: str


def hidden_named(text: str) -> str:
    r"""Return text with each hidden character replaced by its name.

    >>> hidden_named("a\u202eb")
    'aU+202Eb'
    """
    return _HIDDEN.sub(lambda found: f"U+{ord(found[0]):04X}", text)


def hidden_apart(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield what a text is made of: pairs of plain text and the hidden characters behind it.

    >>> list(hidden_apart("a\x00\x00b"))
    [('a', '\x00\x00'), ('b', '')]
    """
    end = 0
    for found in _HIDDEN_RUN.finditer(text):
        yield text[end : found.start()], found[0]
        end = found.end()
    yield text[end:], ""


def pieces(text: str) -> Iterator[Piece]:
    r"""Cut an observation into prose and boards.

    A board is two or more lines in a row that are made of short cells.

    >>> [piece.kind for piece in pieces("Look:\n1 2 3\n4 5 6\nWhat now?")]
    ['prose', 'board', 'prose']
    """
    prose: list[str] = []
    board: list[str] = []
    for line in [*text.split("\n"), None]:
        if line is not None and _is_of_board(line):
            board.append(line)
            continue
        if len(board) > 1:
            if prose:
                yield Piece("prose", "\n".join(prose))
            yield Piece("board", "\n".join(board))
            prose = []
        else:
            prose += board
        board = []
        if line is not None:
            prose.append(line)
    if prose:
        yield Piece("prose", "\n".join(prose))


def answer_pieces(text: str) -> Iterator[Piece]:
    r"""Cut an answer so that its last `\boxed{}`, which environments read, stands alone.

    >>> [piece.text for piece in answer_pieces(r"\boxed{1}, or \boxed{\frac{1}{2}}")]
    ['\\boxed{1}, or ', '\\boxed{\\frac{1}{2}}']
    """
    inside = find_boxed(text)
    if inside is None:
        yield Piece("prose", text)
        return
    start = text.rindex("\\boxed", 0, inside[0])
    end = inside[1] + 1  # behind the brace
    if start:
        yield Piece("prose", text[:start])
    yield Piece("boxed", text[start:end])
    if end < len(text):
        yield Piece("prose", text[end:])


def first_line(text: str, most: int) -> str:
    """Return the first line that is not blank, cut to a number of characters."""
    for line in text[: 8 * most].splitlines():
        if line.strip():
            return cut(line.strip(), most)
    return ""


def cut(text: str, most: int) -> str:
    """Return text on one line, at most so long; three dots stand for what is missing.

    >>> cut("one  two three", 8)
    'one two…'
    """
    is_longer = len(text) > 4 * most
    flat = " ".join(text[: 4 * most].split())
    if len(flat) <= most and not is_longer:
        return flat
    return f"{flat[: most - 1].rstrip()}…"


def family(env_id: str) -> str:
    """Return the name of an environment without its namespace and version.

    >>> family("game:Sudoku-v0-easy")
    'Sudoku-easy'
    """
    return re.sub(r"-v\d+", "", env_id.partition(":")[2] or env_id)


def value_text(value: Any) -> str:
    """Write the value of an argument that was varied, as JSON and cut where it is long.

    >>> value_text("hard"), value_text(5)
    ('"hard"', '5')
    """
    return cut(json.dumps(value, ensure_ascii=False), _MOST_OF_VALUE)


def duration(seconds: float | None) -> str:
    """Write a time with the unit that fits.

    >>> duration(0.00007), duration(0.0042), duration(2.5), duration(200), duration(9000)
    ('70 µs', '4.2 ms', '2.5 s', '3 min 20 s', '2 h 30 min')
    >>> duration(179.7)
    '3 min 0 s'
    """
    if seconds is None or not math.isfinite(seconds):
        return "-"
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.{1 if seconds < 0.01 else 0}f} ms"
    if seconds < 119.95:
        return f"{seconds:.1f} s"
    # In whole seconds from here on, or what is left of a minute would be "60 s".
    whole = round(seconds)
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _is_of_board(line: str) -> bool:
    if len(line) >= _WIDEST_BOARD or len(line.strip()) < 3:
        return False
    return all(len(cell) <= 2 or _RULE.fullmatch(cell) for cell in line.split())
