"""`<tool_call>{"name": ..., "arguments": {...}}</tool_call>`, as Hermes and Qwen models write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gem.parsing._calls import CallOrError, Malformed, Parsed, ParsedCall, Span, parsed
from gem.parsing._cursor import THINKING, Cursor, regions
from gem.parsing._plain import NotPlainError, named_call, read_json

__all__ = ["Hermes"]

_OPENER = re.compile(rf"{THINKING}|<tool_call>")
_END = re.compile(r"</tool_call>")


class Hermes:
    """Calls written as JSON in tags, each with a name and an object of arguments.

    A call ends at the first `</tool_call>`, wherever that stands. After a tag that is not closed
    nothing more is read.
    """

    def parse(self, action: str) -> Parsed:
        return self.read(Cursor(action))

    def read(self, cursor: Cursor) -> Parsed:
        """Parse the text of a cursor, which counts the work."""
        return parsed(cursor.text, _calls(cursor))


def _calls(cursor: Cursor) -> Iterator[CallOrError]:
    for number, region in enumerate(regions(cursor, _OPENER, lambda opener: _END)):
        id = f"call_{number}"
        span = (region.opener.start(), region.end)
        if region.content is None:
            yield Malformed(id, "unclosed", "<tool_call> is not closed by </tool_call>.", span=span)
            return
        yield _call(id, region.content, span)


def _call(id: str, content: str, span: Span) -> CallOrError:
    try:
        data = read_json(content)
    except NotPlainError as error:
        return Malformed(id, "json", f"What <tool_call> holds cannot be read: {error}.", span=span)
    try:
        return ParsedCall(id, *named_call(data), span)
    except NotPlainError as error:
        return Malformed(id, "shape", f"What <tool_call> holds is no call: {error}.", span=span)
