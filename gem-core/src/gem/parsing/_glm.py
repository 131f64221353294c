"""`<tool_call>name`, then `<arg_key>` and `<arg_value>` by turns, as GLM 4.5 writes."""

from __future__ import annotations

from typing import Any

from gem.parsing._calls import CallOrError, Malformed, ParsedCall, Span
from gem.parsing._tagged import TaggedText

__all__ = ["Glm"]


class Glm(TaggedText):
    """Calls written in tags, an argument's name and its value each in one of their own.

    A value whose schema says that it is a string is taken as it is, any other is JSON where it
    can be read as that. A call ends at the first `</tool_call>`, wherever that stands.
    """

    def call(self, id: str, content: str, span: Span) -> CallOrError:
        name, *pieces = content.split("<arg_key>")
        name = name.strip()
        if not name or "<" in name or "{" in name:
            reason = "What <tool_call> holds is no call: it does not begin with a tool's name."
            return Malformed(id, "shape", reason, span=span)
        arguments: dict[str, Any] = {}
        for piece in pieces:
            key, ends_key, rest = piece.partition("</arg_key>")
            _, begins_value, rest = rest.partition("<arg_value>")
            # The last end: a value may hold the tag as text.
            value, ends_value, _ = rest.rpartition("</arg_value>")
            if not (ends_key and begins_value and ends_value):
                reason = "An <arg_key> is not followed by its <arg_value>, both closed."
                return Malformed(id, "syntax", reason, name, span)
            arguments[key.strip()] = self.value(name, key.strip(), value)
        return ParsedCall(id, name, arguments, span)
