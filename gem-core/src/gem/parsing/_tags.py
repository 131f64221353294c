"""`<python>print(1)</python>`: a tag named like the tool, around its one argument."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gem.content import normalise_text
from gem.parsing._calls import CallOrError, Malformed, Parsed, ParsedCall, parsed
from gem.parsing._cursor import THINKING, Cursor, regions

__all__ = ["Tags"]


class Tags:
    """Calls written as tags. `arguments` maps each tool's name to the argument that its tag holds.

    A tag has no attributes, and what it holds is one text: tags in it are part of it. White
    space at both ends is dropped. Tags that name no tool are text. After a tag that is not
    closed nothing more is read.

    >>> Tags({"search": "query"}).parse("So: <search> gem </search>").calls[0].arguments
    {'query': 'gem'}
    """

    def __init__(self, arguments: Mapping[str, str]) -> None:
        self._arguments = dict(arguments)
        names = "|".join(map(re.escape, arguments))
        self._opener = re.compile(f"{THINKING}|<(?P<name>{names})>" if names else THINKING)
        self._ends = {name: re.compile(re.escape(f"</{name}>")) for name in arguments}

    def parse(self, action: str) -> Parsed:
        return self.read(Cursor(action))

    def read(self, cursor: Cursor) -> Parsed:
        """Parse the text of a cursor, which counts the work."""
        return parsed(cursor.text, self._calls(cursor))

    def _calls(self, cursor: Cursor) -> Iterator[CallOrError]:
        walk = regions(cursor, self._opener, lambda opener: self._ends[opener["name"]])
        for number, (opener, content, end) in enumerate(walk):
            id = f"call_{number}"
            name = opener["name"]
            span = (opener.start(), end)
            if content is None:
                reason = f"<{name}> is not closed by </{name}>."
                yield Malformed(id, "unclosed", reason, name, span)
                return
            argument = normalise_text(content.strip())
            yield ParsedCall(id, name, {self._arguments[name]: argument}, span)
