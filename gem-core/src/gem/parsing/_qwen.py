"""`<function=name>` with a `<parameter=...>` for each argument, as Qwen3-Coder and 3.5 write."""

from __future__ import annotations

from typing import Any

from gem.parsing._calls import CallOrError, Malformed, ParsedCall, Span
from gem.parsing._tagged import TaggedText

__all__ = ["Qwen"]


class Qwen(TaggedText):
    """Calls written in `<tool_call>` as a tag with the tool's name around tags with arguments.

    A value whose schema says that it is a string is taken as it is, but for the line breaks next
    to its tags; any other is JSON where it can be read as that. A call ends at the first
    `</tool_call>`, wherever that stands.
    """

    def call(self, id: str, content: str, span: Span) -> CallOrError:
        before, is_function, rest = content.partition("<function=")
        name, is_named, rest = rest.partition(">")
        body, is_closed, _ = rest.rpartition("</function>")
        if before.strip() or not (is_function and is_named and is_closed):
            reason = "What <tool_call> holds is no call: it is not <function=NAME>...</function>."
            return Malformed(id, "shape", reason, span=span)
        name = name.strip()
        arguments: dict[str, Any] = {}
        for piece in body.split("<parameter=")[1:]:
            key, is_key, rest = piece.partition(">")
            # The last end: a value may hold the tag as text.
            value, is_value, _ = rest.rpartition("</parameter>")
            if not (is_key and is_value):
                reason = "A <parameter=...> is not closed by </parameter>."
                return Malformed(id, "syntax", reason, name, span)
            text = value.removeprefix("\n").removesuffix("\n")
            arguments[key.strip()] = self.value(name, key.strip(), text)
        return ParsedCall(id, name, arguments, span)
