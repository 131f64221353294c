"""What a parser returns: the calls, what is malformed, and the text around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Union, runtime_checkable

__all__ = ["Found", "Malformed", "Parsed", "ParsedCall", "Parser", "Span", "parsed"]

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


Found = Union[ParsedCall, Malformed]


@dataclass(frozen=True, slots=True)
class Parsed:
    """Everything in one answer, in the order in which it stands there.

    `text` is the answer without what was found.
    """

    found: tuple[Found, ...]
    text: str

    @property
    def calls(self) -> tuple[ParsedCall, ...]:
        """The calls that can be made."""
        return tuple(each for each in self.found if isinstance(each, ParsedCall))

    @property
    def errors(self) -> tuple[Malformed, ...]:
        """Those that cannot."""
        return tuple(each for each in self.found if isinstance(each, Malformed))


@runtime_checkable
class Parser(Protocol):
    """One way to write calls."""

    def parse(self, action: str) -> Parsed:
        """Read what a policy answered. Raises nothing; its time is linear in the text's length."""


def parsed(text: str, found: Iterable[Found]) -> Parsed:
    """Put what was found, in order, together with the rest of the text."""
    everything = tuple(found)
    rest, place = [], 0
    for each in everything:
        if each.span is not None and each.span[1] > place:
            rest.append(text[place : each.span[0]])
            place = each.span[1]
    rest.append(text[place:])
    return Parsed(everything, "".join(rest))
