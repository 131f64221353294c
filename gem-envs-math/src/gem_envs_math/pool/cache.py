"""Verdicts that were made before, as many as fit."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import NamedTuple

__all__ = ["Cache", "Pair", "Reply"]

_OVERHEAD_BYTES = 400  # of an entry: its tuples, and its place in the dictionary


class Pair(NamedTuple):
    """What a verdict is about."""

    answer: str
    gold: str


Reply = tuple[str, str]
"""An outcome, and how it was found."""


class Cache:
    """Replies by pair. What was asked for least lately goes when `most_bytes` are taken.

    >>> cache = Cache(most_bytes=2000)
    >>> cache[Pair("1/2", "0.5")] = ("right", "number")
    >>> cache.get(Pair("1/2", "0.5")), cache.get(Pair("2", "3"))
    (('right', 'number'), None)
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._replies: OrderedDict[Pair, Reply] = OrderedDict()

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, pair: Pair) -> Reply | None:
        """Return the reply to a pair, which then counts as asked for just now."""
        reply = self._replies.get(pair)
        if reply is not None:
            self._replies.move_to_end(pair)
        return reply

    def __setitem__(self, pair: Pair, reply: Reply) -> None:
        self._bytes += 0 if pair in self._replies else _size(pair)
        self._replies[pair] = reply
        while self._bytes > self._most_bytes:
            oldest, _ = self._replies.popitem(last=False)
            self._bytes -= _size(oldest)


def _size(pair: Pair) -> int:
    return _OVERHEAD_BYTES + sum(map(sys.getsizeof, pair))
