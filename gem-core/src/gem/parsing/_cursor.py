"""Walk over a text from left to right, past what a policy only thought.

Thinking stands between `<think>` and `</think>`. Without an end it goes on to the end of the
text. If the first of these tags is `</think>`, the chat template has opened the thinking, and all
before it is thought. Knows nothing about calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

__all__ = ["Cursor", "Region", "only_piece", "outside_thought", "regions"]

THINKING = r"(?P<think><think>)"
_ENDS = re.compile(r"</think>")
_FIRST = re.compile(r"<(/?)think>")


class Region(NamedTuple):
    """What an opener begins: the opener, and the content up to its end; None where it has none."""

    opener: re.Match[str]
    content: str | None
    end: int


class Cursor:
    """Searches a text forwards. What is not there is looked for once.

    `read` counts the characters that were looked at: the work.
    """

    __slots__ = ("_absent", "read", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.read = 0
        self._absent: set[re.Pattern[str]] = set()

    def search(self, pattern: re.Pattern[str], start: int) -> re.Match[str] | None:
        """Return the next match. `start` never decreases for one pattern."""
        # A search that fails reads to the end. To repeat it for each of many openers would take
        # quadratic time, which a hostile text could ask for.
        if pattern in self._absent:
            return None
        match = pattern.search(self.text, start)
        self.read += (len(self.text) if match is None else match.end()) - start
        if match is None:
            self._absent.add(pattern)
        return match

    def after_first_thought(self) -> int:
        """Return where to begin: past a thought that the chat template has opened."""
        first = self.search(_FIRST, 0)
        return first.end() if first is not None and first[1] else 0


def regions(
    cursor: Cursor, opener: re.Pattern[str], end_of: Callable[[re.Match[str]], re.Pattern[str]]
) -> Iterator[Region]:
    """Yield what stands between an opener and its end, outside of thinking.

    `opener` is a pattern that has THINKING as an alternative. Within a region nothing begins:
    neither a thought nor another region. After an opener without an end the walk goes on.
    """
    place = cursor.after_first_thought()
    while (match := cursor.search(opener, place)) is not None:
        thinks = match.lastgroup == "think"
        end = cursor.search(_ENDS if thinks else end_of(match), match.end())
        if thinks and end is None:
            return  # all the rest is thought
        if end is None:
            yield Region(match, None, len(cursor.text))
            place = match.end()
            continue
        if not thinks:
            yield Region(match, cursor.text[match.end() : end.start()], end.end())
        place = end.end()


_THOUGHT = re.compile(THINKING)


def outside_thought(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the text is that was not only thought.

    >>> list(outside_thought("So <think>hm</think> 4"))
    [(0, 3), (20, 22)]
    """
    cursor = Cursor(text)
    place = cursor.after_first_thought()
    while (match := cursor.search(_THOUGHT, place)) is not None:
        yield place, match.start()
        end = cursor.search(_ENDS, match.end())
        if end is None:
            return
        place = end.end()
    yield place, len(text)


def only_piece(text: str) -> tuple[int, int] | None:
    """Return where all that was not only thought is, without white space around it.

    None where nothing is left, or thought parts what is.
    """
    pieces = [span for span in outside_thought(text) if text[slice(*span)].strip()]
    if len(pieces) != 1:
        return None
    begin, end = pieces[0]
    piece = text[begin:end]
    begin += len(piece) - len(piece.lstrip())
    return begin, begin + len(piece.strip())
