"""Calls in any of several formats, in the order in which they stand in a text."""

from __future__ import annotations

from dataclasses import replace

from gem.parsing.calls import Found, Parsed, Parser, parsed

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
        found = [each for parser in self._parsers for each in parser.parse(action).found]
        kept: list[Found] = [each for each in found if each.span is None]
        place = 0
        for each in sorted((each for each in found if each.span is not None), key=_span):
            begin, end = _span(each)
            if begin >= place:
                kept.append(replace(each, id=f"call_{len(kept)}"))
                place = end
        return parsed(str(action), kept)


def _span(found: Found) -> tuple[int, int]:
    return found.span or (0, 0)
