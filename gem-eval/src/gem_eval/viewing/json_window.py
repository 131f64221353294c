"""Read one JSON value after another out of a long text, with only a window of it in memory.

Knows nothing about what the values mean.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, BinaryIO

__all__ = ["JsonWindow"]

_CHUNK = 1 << 20
_BLANKS = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


class JsonWindow:
    """The next `length` bytes of a file as text, read `chunk` bytes at once, or more.

    All methods raise ValueError on what is no JSON, or is cut off.

    What was read is forgotten when more is needed, so that no more is kept than a value is long.
    """

    def __init__(self, file: BinaryIO, length: int, *, chunk: int = _CHUNK) -> None:
        self._file = file
        self._left = length
        self._chunk = chunk
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._at = 0  # where reading goes on, in characters of the window
        self._place = 0  # the same in bytes of the whole text; only `_move_to` changes both

    @property
    def place(self) -> int:
        """How many bytes of the text were read."""
        return self._place

    def value(self) -> Any:
        """Read a value. Whatever stands before it must have been taken."""
        while True:
            try:
                value, end = _decode(self._text, self._at)
            except ValueError:
                # It may go on beyond the window.
                if not self._grow():
                    raise
                continue
            # A number may go on, too: of `0.5` the window may end behind the dot, of `1e-5` behind
            # the minus, and what stands before is a number.
            if end + 2 >= len(self._text) and self._grow():
                continue
            self._move_to(end)
            return value

    def next_mark(self) -> str:
        """Return the next character that is no blank, which stays; nothing at the end."""
        while True:
            found = _BLANKS.match(self._text, self._at)
            assert found is not None, "it matches nothing, too"
            self._move_to(found.end())
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._grow():
                return ""

    def takes(self, mark: str) -> bool:
        """Take a mark if it comes next, with the blanks after it, and say so."""
        if self.next_mark() != mark:
            return False
        self._move_to(self._at + 1)
        self.next_mark()
        return True

    def take(self, mark: str) -> None:
        """Take a mark, which must come next."""
        if not self.takes(mark):
            raise ValueError(f"not an episode: {mark!r} was expected at byte {self.place + 1}")

    def _move_to(self, end: int) -> None:
        """Go on behind `end`, in characters of the window."""
        if self._text.isascii():  # a string knows that of itself
            self._place += end - self._at
        else:
            # What is new alone is encoded, or a window of many values would take quadratic time.
            self._place += len(self._text[self._at : end].encode("utf-8"))
        self._at = end

    def _grow(self) -> bool:
        """Read on, and say whether there was anything to read."""
        if not self._left:
            return False
        rest = self._text[self._at :]
        # As much again as there is, so that a long value is not tried again too often.
        wanted = min(max(self._chunk, len(rest)), self._left)
        chunk = self._file.read(wanted)
        self._left = self._left - len(chunk) if chunk else 0
        self._text = rest + self._decoder.decode(chunk, final=not self._left)
        self._at = 0
        return True
