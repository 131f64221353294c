"""Parse JSON in which an object has each key once. Knows nothing about rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

__all__ = ["RepeatedKey", "elements_of", "value_of"]

_BLANK = re.compile(r"[ \t\n\r]*")


class RepeatedKey(ValueError):
    """An object has a key twice: one of the two values would be lost without a word."""

    def __init__(self, key: str) -> None:
        super().__init__(f"has the key {key!a:.60} twice")


def value_of(text: str) -> Any:
    """Return the one value of a text.

    Raises RepeatedKey, JSONDecodeError with line and column, ValueError for a whole number of
    more digits than Python converts, RecursionError where it is nested too deeply.
    """
    return _DECODER.decode(text)


def elements_of(text: str) -> Iterator[Any]:
    """Yield the values of a list one by one, so that it is known which of them is broken.

    The text has a `[` before all but white space. Raises what `value_of` raises.
    """
    at = _skipped(text, text.index("[") + 1)
    # One value at a time. Python's own reader would read the whole list, and only then fail.
    is_open = text[at : at + 1] != "]"
    while is_open:
        value, at = _DECODER.raw_decode(text, at)
        yield value
        at = _skipped(text, at)
        is_open = text[at : at + 1] == ","
        if is_open:
            at = _skipped(text, at + 1)
        elif text[at : at + 1] != "]":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    at = _skipped(text, at + 1)
    if at < len(text):
        raise json.JSONDecodeError("Extra data", text, at)


def _skipped(text: str, at: int) -> int:
    """Return where the white space ends that begins here, which may be none."""
    blank = _BLANK.match(text, at)
    assert blank is not None  # it may be empty
    return blank.end()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)  # the last of two would win
    if len(value) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise RepeatedKey(key)
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object)
