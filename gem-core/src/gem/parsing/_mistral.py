"""`[TOOL_CALLS] [{"name": ..., "arguments": {...}}]`, as Mistral's models write.

Newer ones write `[TOOL_CALLS]name[ARGS]{...}`, once for each call. Both are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gem.parsing._calls import CallOrError, Malformed, Parsed, ParsedCall, parsed
from gem.parsing._cursor import outside_thought
from gem.parsing._plain import NotPlainError, json_at, named_call

__all__ = ["Mistral"]

_OPENER = "[TOOL_CALLS]"
_NAMED = re.compile(r"\s*(?P<name>[\w.-]{1,256})(?:\[CALL_ID\](?P<id>\w{1,256}))?\[ARGS\]")
_ID = re.compile(r"[A-Za-z0-9]{9}")  # the template refuses any other


class Mistral:
    """Calls written as JSON after a mark: a list of them, or the arguments after a name.

    A call ends where its JSON does. After one that cannot be read nothing more is read.
    """

    def parse(self, action: str) -> Parsed:
        return parsed(action, _calls(action))


def _calls(text: str) -> Iterator[CallOrError]:
    number = 0
    place = 0
    for begin, end in outside_thought(text):
        # A call may end beyond this piece, where its JSON holds a `<think>` as text.
        opener = text.find(_OPENER, max(begin, place), end)
        while opener >= 0:
            try:
                calls, place = _read(text, opener + len(_OPENER), number)
            except NotPlainError as error:
                reason = f"What follows [TOOL_CALLS] is no call: {error}."
                yield Malformed(f"call_{number}", "json", reason, span=(opener, len(text)))
                return
            for call in calls:
                yield replace(call, span=(opener, place))
                number += 1
            opener = text.find(_OPENER, place, end)


def _read(text: str, at: int, number: int) -> tuple[list[ParsedCall], int]:
    """Return the calls whose JSON begins at `at`, and where it ends. Raises NotPlainError."""
    named = _NAMED.match(text, at)
    if named is None:
        written, end = json_at(text, at)
        calls = written if isinstance(written, list) else [written]
        return [_call(call, number + index) for index, call in enumerate(calls)], end
    arguments, end = json_at(text, named.end())
    written = {"name": named["name"], "arguments": arguments, "id": named["id"]}
    return [_call(written, number)], end


def _call(written: Any, number: int) -> ParsedCall:
    name, arguments = named_call(written)
    own_id = written.get("id")
    is_id = isinstance(own_id, str) and _ID.fullmatch(own_id) is not None
    return ParsedCall(own_id if is_id else f"call_{number}", name, arguments)
