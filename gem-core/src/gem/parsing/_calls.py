"""What a parser returns: the calls, what is malformed, and the text around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Union, runtime_checkable

__all__ = ["CallOrError", "Malformed", "Parsed", "ParsedCall", "Parser", "Span", "parsed"]

Span = tuple[int, int]
"""Where something stands: its first character, and the one after its last."""


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call as it stands in a text. `span` is None where it came beside the text.

    `id` is the policy's own, or else "call_0", "call_1" and so on. `arguments` is plain JSON data.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """What looks like a call and is none. `reason` is a sentence for the policy.

    `kind`: "unclosed" (its end is missing), "json" or "syntax" (what it holds cannot be read),
    "shape" (it is no name with arguments), "size" (more than is read). `name` is the tool, where
    it is known.
    """

    id: str
    kind: Literal["unclosed", "json", "syntax", "shape", "size"]
    reason: str
    name: str | None = None
    span: Span | None = None


CallOrError = Union[ParsedCall, Malformed]


@dataclass(frozen=True, slots=True)
class Parsed:
    """Everything in one answer, in the order in which it stands there.

    `text` is the answer without what was found.
    """

    found: tuple[CallOrError, ...]
    text: str

    @property
    def calls(self) -> tuple[ParsedCall, ...]:
        """The calls that can be made."""
        return tuple(item for item in self.found if isinstance(item, ParsedCall))

    @property
    def errors(self) -> tuple[Malformed, ...]:
        """What looks like a call and cannot be made."""
        return tuple(item for item in self.found if isinstance(item, Malformed))


@runtime_checkable
class Parser(Protocol):
    """One way to write calls."""

    def parse(self, action: str) -> Parsed:
        """Read what a policy answered. Raises nothing; its time is linear in the text's length."""


def parsed(text: str, items: Iterable[CallOrError]) -> Parsed:
    """Put calls and errors, in order, together with the rest of the text."""
    found = tuple(items)
    rest = []
    place = 0
    for item in found:
        # Several calls may have one span, as those of a list in one pair of tags: it is cut out
        # with the first of them.
        if item.span is not None and item.span[1] > place:
            rest.append(text[place : item.span[0]])
            place = item.span[1]
    rest.append(text[place:])
    return Parsed(found, "".join(rest))
