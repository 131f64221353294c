"""Calls in any of several formats, in the order in which they stand in a text."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter

from gem.parsing._calls import CallOrError, Parsed, Parser, Span, parsed

__all__ = ["AnyOf"]


class AnyOf:
    """Calls as any of these parsers finds them. What begins within another call is part of it.

    >>> from gem.parsing import Fences, Tags
    >>> either = AnyOf(Tags({"python": "code"}), Fences({"python": "code"}))
    >>> [call.id for call in either.parse("<python>1</python> or <python>2</python>").calls]
    ['call_0', 'call_1']
    """

    def __init__(self, *parsers: Parser) -> None:
        self._parsers = parsers

    def parse(self, action: str) -> Parsed:
        kept: list[CallOrError] = []  # first those that came beside the text, with ids of their own
        in_text: list[tuple[Span, CallOrError]] = []
        for parser in self._parsers:
            for item in parser.parse(action).found:
                if item.span is None:
                    kept.append(item)
                else:
                    in_text.append((item.span, item))
        place = 0
        # By place. Of two that begin together the shorter comes first, and the sort is stable: of
        # two that are as long as each other, the one of the parser that was named first.
        for (begin, end), item in sorted(in_text, key=itemgetter(0)):
            if begin >= place:
                kept.append(replace(item, id=f"call_{len(kept)}"))
                place = end
        return parsed(str(action), kept)
