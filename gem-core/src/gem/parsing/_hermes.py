"""`<tool_call>{"name": ..., "arguments": {...}}</tool_call>`, as Hermes and Qwen models write."""

from __future__ import annotations

from gem.parsing._calls import CallOrError, Malformed, ParsedCall, Span
from gem.parsing._plain import NotPlainError, named_call, read_json
from gem.parsing._tagged import Tagged

__all__ = ["Hermes"]


class Hermes(Tagged):
    """Calls written as JSON in tags, each with a name and an object of arguments.

    A call ends at the first `</tool_call>`, wherever that stands. After a tag that is not closed
    nothing more is read.
    """

    def call(self, id: str, content: str, span: Span) -> CallOrError:
        try:
            data = read_json(content)
        except NotPlainError as error:
            reason = f"What <tool_call> holds cannot be read: {error}."
            return Malformed(id, "json", reason, span=span)
        try:
            return ParsedCall(id, *named_call(data), span)
        except NotPlainError as error:
            reason = f"What <tool_call> holds is no call: {error}."
            return Malformed(id, "shape", reason, span=span)
