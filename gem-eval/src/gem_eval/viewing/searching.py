"""Search whole conversations for a text, by reading the log: no index of words is kept.

Who asks works for as long as a page may take, and the next who asks goes on from there. A text is a
text, never a pattern; letters of English match in either case.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gem_eval.viewing import finding_rows
from gem_eval.viewing.conversation import UNREADABLE
from gem_eval.viewing.json_window import JsonWindow
from gem_eval.viewing.log_index import LogIndex
from gem_eval.viewing.scanning import walk

__all__ = ["Search", "Searches"]

_MOST_KEPT = 8
_LINES_AT_ONCE = 500
_PIECE = 1 << 20  # of a line: an episode may be larger than memory ought to be
_NOT_SPOKEN = frozenset({"image", "media_type", "role", "type"})  # in an observation


class Search(NamedTuple):
    """How far a search is: the last line that was read, of those up to `last`.

    `turns` has the lines that hold the text, each with the first turn that does, from 1.
    """

    text: str
    line: int
    last: int
    turns: Mapping[int, int]

    @property
    def is_done(self) -> bool:
        """Whether all that was read of the log was searched."""
        return self.line >= self.last

    @property
    def lines(self) -> str:
        """The lines that hold the text, as JSON."""
        # A copy: another page may be searching on.
        return json.dumps([*self.turns])


class Searches:
    """The latest searches of one log. `log` is the file that `index` is made of."""

    def __init__(self, log: Path, index: LogIndex) -> None:
        self._log = log
        self._index = index
        self._kept: dict[tuple[str, str], _Running] = {}
        self._lock = threading.Lock()

    def search(self, text: str, budget_s: float = 0.5) -> Search:
        """Search on for about so long, and return what was found so far. Raises OSError."""
        with self._index.reading() as db:
            generation = finding_rows.known_in(db).generation
        with self._lock:
            # What was found in a log that was replaced is of no line of this one.
            key = (text, generation)
            running = self._kept.pop(key, None) or _Running(text, self._log, self._index)
            self._kept[key] = running  # behind all others: the first is the one longest unused
            if len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        running.go_on(budget_s)
        with self._index.reading() as db:
            last = finding_rows.last_line(db)
        return Search(text, running.line, last, running.turns)


class _Running:
    """One search. Several pages may ask for it at once: one searches, the others wait."""

    def __init__(self, text: str, log: Path, index: LogIndex) -> None:
        self._text = _folded(text)
        self._written = _written(text)
        self._log = log
        self._index = index
        self._lock = threading.Lock()
        self.line = 0
        self.turns: dict[int, int] = {}

    def go_on(self, budget_s: float) -> None:
        until = time.monotonic() + budget_s
        if not self._lock.acquire(timeout=budget_s):
            return
        try:
            while tries := self._next():
                with self._log.open("rb") as log:
                    for line, start, length in tries:
                        self._look_at(log, line, start, length)
                        self.line = line
                        if time.monotonic() > until:
                            return
        finally:
            self._lock.release()

    def _next(self) -> list[tuple[int, int, int]]:
        with self._index.reading() as db:
            return finding_rows.tries_after(db, self.line, _LINES_AT_ONCE)

    def _look_at(self, log: BinaryIO, line: int, start: int, length: int) -> None:
        log.seek(start)
        turn = self._in_short(log, length) if length <= _PIECE else self._in_long(log, length)
        if turn is not None:
            self.turns[line] = turn

    def _in_short(self, log: BinaryIO, length: int) -> int | None:
        """Return the first turn that holds the text, from 1; None where none does."""
        text = log.read(length)
        if not self._may_be_in(text):
            return None
        try:
            record = json.loads(text)
            for number, turn in enumerate(record["turns"], start=1):
                if self._is_in_turn(turn):
                    return number
            return self._end(record, len(record["turns"]))
        except UNREADABLE:  # the log has changed
            return None

    def _in_long(self, log: BinaryIO, length: int) -> int | None:
        """Return the same of a line that is read in pieces, and parsed turn by turn."""
        start = log.tell()
        if not self._may_be_in_long(log, length):
            return None
        log.seek(start)
        turns = 0

        def look(turn: Mapping[str, Any], _start: int, _end: int) -> None:
            nonlocal turns
            turns += 1
            if self._is_in_turn(turn):
                raise _Found

        try:
            return self._end(walk(JsonWindow(log, length), look), turns)
        except _Found:
            return turns
        except UNREADABLE:  # the log has changed
            return None

    def _end(self, record: Mapping[str, Any], turns: int) -> int | None:
        """Return the last turn where the text stands in what was said at the end."""
        final = _texts(record.get("final_observation"), _NOT_SPOKEN)
        return max(turns, 1) if any(map(self._is_in, final)) else None

    def _may_be_in(self, text: bytes) -> bool:
        """Say whether the text stands anywhere in a line, keys and figures included.

        It is what makes this fast: few lines need to be parsed.
        """
        folded = text.lower()
        return any(written in folded for written in self._written)

    def _may_be_in_long(self, log: BinaryIO, length: int) -> bool:
        overlap = max(map(len, self._written)) - 1
        end = b""
        left = length
        while left and (piece := log.read(min(_PIECE, left))):
            left -= len(piece)
            if self._may_be_in(end + piece):
                return True
            end = piece[len(piece) - overlap :] if overlap else b""
        return False

    def _is_in_turn(self, turn: Mapping[str, Any]) -> bool:
        return any(map(self._is_in, _texts_of(turn)))

    def _is_in(self, text: str) -> bool:
        return self._text in _folded(text)


class _Found(Exception):
    """Ends the walk through an episode: what follows does not matter."""


def _folded(text: str) -> bytes:
    """Return a text as what is compared: bytes, with the letters of English in lower case."""
    return text.encode("utf-8", "surrogatepass").lower()


def _written(text: str) -> list[bytes]:
    """Return how a text may stand in JSON, folded: as ASCII, or as it is."""
    forms = {json.dumps(text, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}
    return [_folded(form) for form in forms]


def _texts_of(turn: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was said in a turn, by whomever."""
    yield from _texts(turn.get("observation"), _NOT_SPOKEN)
    yield from _texts([turn.get(name) for name in ("suffix", "reasoning", "action")])
    for call in turn.get("tool_calls") or ():
        yield from _texts([call.get("name"), call.get("arguments")])
    for result in turn.get("tool_results") or ():
        yield from _texts(result.get("content"))


def _texts(plain: Any, leave_out: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield every text in plain data, but for what stands under some keys."""
    waiting = [plain]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, Mapping):
            waiting += [value for key, value in found.items() if key not in leave_out]
        elif isinstance(found, list):
            waiting += found
