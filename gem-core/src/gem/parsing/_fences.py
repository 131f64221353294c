"""A fenced block whose language names a tool: ```` ```python ````, lines, ```` ``` ````."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gem.content import normalise_text
from gem.parsing._calls import CallOrError, Malformed, Parsed, ParsedCall, parsed
from gem.parsing._cursor import THINKING, Cursor, regions

__all__ = ["Fences", "unindented"]

_OPENER = re.compile(
    rf"{THINKING}|^(?P<indent> {{0,3}})```(?P<name>[\w.+-]*)[ \t]*\r?\n", re.MULTILINE
)
_END = re.compile(r"^ {0,3}```[ \t]*\r?$", re.MULTILINE)


class Fences:
    r"""Calls written as fenced blocks. `arguments` maps each tool to the argument its block holds.

    A fence stands on a line of its own, and its indentation is not its content's. Blocks of other
    languages are text, and so is all in them. After a block of a tool that is not closed nothing
    more is read.

    >>> Fences({"python": "code"}).parse("```python\nprint(1)\n```").calls[0].arguments
    {'code': 'print(1)'}
    """

    def __init__(self, arguments: Mapping[str, str]) -> None:
        self._arguments = dict(arguments)

    def parse(self, action: str) -> Parsed:
        return self.read(Cursor(action))

    def read(self, cursor: Cursor) -> Parsed:
        """Parse the text of a cursor, which counts the work."""
        return parsed(cursor.text, self._calls(cursor))

    def _calls(self, cursor: Cursor) -> Iterator[CallOrError]:
        number = 0
        for opener, content, end in regions(cursor, _OPENER, lambda opener: _END):
            id = f"call_{number}"
            name = opener["name"]
            span = (opener.start(), end)
            if name not in self._arguments:
                continue
            if content is None:
                reason = f"The block ```{name} is not closed by a line with ``` alone."
                yield Malformed(id, "unclosed", reason, name, span)
                return
            argument = normalise_text(unindented(content, opener["indent"]).strip())
            yield ParsedCall(id, name, {self._arguments[name]: argument}, span)
            number += 1


def unindented(content: str, indent: str) -> str:
    r"""Return the content of a block whose opening fence has this indentation, without it.

    As CommonMark has it for a block in a list: each line loses as much of it as it has. Content
    that begins without any indentation is left as it is, for it never had the fence's.

    >>> unindented("   if x:\n       print(x)\n", "   ")
    'if x:\n    print(x)\n'
    """
    first = re.search(r"^[^\S\n]*\S", content, re.MULTILINE)
    if not indent or first is None or not first[0][0].isspace():
        return content
    width = len(indent) - len(indent.lstrip(indent[0]))  # of a mixture the first kind
    return re.sub(rf"^{indent[0]}{{0,{width}}}", "", content, flags=re.MULTILINE)
