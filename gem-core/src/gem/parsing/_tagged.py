"""What the formats share that hold a call in `<tool_call>`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gem.content import normalise_text
from gem.parsing._calls import CallOrError, Malformed, Parsed, Span, parsed
from gem.parsing._cursor import THINKING, Cursor, regions
from gem.parsing._plain import NotPlainError, read_json

__all__ = ["Tagged", "TaggedText"]

_OPENER = re.compile(rf"{THINKING}|<tool_call>")
_END = re.compile(r"</tool_call>")


class Tagged(ABC):
    """Read each `<tool_call>...</tool_call>`; `call` says what it holds."""

    def parse(self, action: str) -> Parsed:
        return self.read(Cursor(action))

    def read(self, cursor: Cursor) -> Parsed:
        """Parse the text of a cursor, which counts the work."""
        return parsed(cursor.text, self._calls(cursor))

    @abstractmethod
    def call(self, id: str, content: str, span: Span) -> CallOrError:
        """Read what stands between the tags."""

    def _calls(self, cursor: Cursor) -> Iterator[CallOrError]:
        for number, region in enumerate(regions(cursor, _OPENER, lambda opener: _END)):
            id = f"call_{number}"
            span = (region.opener.start(), region.end)
            if region.content is None:
                reason = "<tool_call> is not closed by </tool_call>."
                yield Malformed(id, "unclosed", reason, span=span)
                return
            yield self.call(id, normalise_text(region.content), span)


class TaggedText(Tagged):
    """Read calls whose arguments are written as text, and not as JSON.

    `tools` are the schemas of the tools there are: they say which arguments are strings.
    """

    def __init__(self, tools: Sequence[Mapping[str, Any]] = ()) -> None:
        functions = [tool["function"] for tool in tools if "function" in tool]
        self._properties = {
            function.get("name"): function.get("parameters", {}).get("properties", {})
            for function in functions
        }

    def value(self, tool: str, argument: str, text: str) -> Any:
        """Return an argument of a tool as its schema has it."""
        # A text that looks like a number is a text where the schema says so: a name "007", say.
        schema = self._properties.get(tool, {}).get(argument, {})
        if isinstance(schema, Mapping) and schema.get("type") == "string":
            return text
        try:
            return read_json(text)
        except NotPlainError:
            return text
