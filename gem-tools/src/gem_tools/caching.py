"""Answers of pure tools, kept in this process so that equal calls need not be made again.

Knows nothing about what the tools do.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from gem.content import ToolResult
from gem.tools import Tool

__all__ = ["MOST_BYTES", "MOST_ENTRIES", "Answers", "answers"]

MOST_ENTRIES = 16_384
MOST_BYTES = 64 * 1024 * 1024

Key = bytes


class Answers:
    """The latest answers that were of use: so many, and so many bytes, at most.

    One is known by its tool (the object, and its `version`) and its arguments. Errors are never
    kept. It is used from one event loop.
    """

    def __init__(self, most_entries: int = MOST_ENTRIES, most_bytes: int = MOST_BYTES) -> None:
        self._most_entries = most_entries
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Key, tuple[ToolResult, int]] = OrderedDict()
        self._numbers: WeakKeyDictionary[Tool, int] = WeakKeyDictionary()
        self._next = itertools.count()
        self.size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, tool: Tool, arguments: Mapping[str, Any], call_id: str) -> ToolResult | None:
        """Return the answer for this call, `meta["cached"]` set; None where there is none."""
        if not tool.is_pure or not self._kept:
            return None
        key = self._key(tool, arguments)
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        result, _ = self._kept[key]
        return replace(result, call_id=call_id, meta={**result.meta, "cached": True})

    def put(self, tool: Tool, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """Keep an answer, if it may be kept, in place of those that were not used for longest."""
        if not tool.is_pure or result.is_error:
            return
        size = sys.getsizeof(result.content) + sys.getsizeof(repr(result.meta))
        if size > self._most_bytes:
            return
        key = self._key(tool, arguments)
        self._drop(key)
        self._kept[key] = (result, size)
        self.size += size
        while len(self._kept) > self._most_entries or self.size > self._most_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: Key) -> None:
        _, size = self._kept.pop(key, (None, 0))
        self.size -= size

    def _key(self, tool: Tool, arguments: Mapping[str, Any]) -> Key:
        number = self._numbers.setdefault(tool, next(self._next))
        text = json.dumps([number, tool.version, arguments], sort_keys=True)
        return hashlib.sha256(text.encode()).digest()  # of one size, however long the arguments


answers = Answers()
"""What all tools of this process share."""
