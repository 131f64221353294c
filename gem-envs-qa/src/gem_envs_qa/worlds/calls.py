"""Read the searches that an action asks for, beside its text or within it.

Within the text they are `<search>words</search>`, or as Hermes and Qwen models write calls.
Knows nothing about worlds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gem.content import Action
from gem.parsing import AnyOf, Hermes, Malformed, OpenAI, ParsedCall, Tags

__all__ = ["SCHEMA", "Search", "searches"]

SCHEMA: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search the library. Returns the documents that match best.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "words to look for"}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}
"""The tool in the OpenAI form."""

_IN_TEXT = AnyOf(Tags({"search": "query"}), Hermes())


class Search(NamedTuple):
    """One search that was asked for. Of `query` and `error`, what is wrong with it, one is set."""

    call_id: str
    query: str | None
    error: str | None = None


def searches(action: str) -> tuple[list[Search], bool]:
    """Return the searches of an action, and whether they came beside its text.

    >>> searches("Let me see. <search>Vosk Guild</search>")
    ([Search(call_id='call_0', query='Vosk Guild', error=None)], False)
    """
    is_beside = isinstance(action, Action) and bool(action.tool_calls)
    parsed = (OpenAI() if is_beside else _IN_TEXT).parse(action)
    return [_search(call) for call in parsed.found], is_beside


def _search(call: ParsedCall | Malformed) -> Search:
    if isinstance(call, Malformed):
        return Search(call.id, None, call.reason)
    if call.name != "search":
        return Search(call.id, None, f"There is no tool {call.name!r:.60}. There is 'search'.")
    query = call.arguments.get("query")
    if not isinstance(query, str) or len(call.arguments) != 1:
        return Search(call.id, None, "'search' takes 'query', a string, and nothing else.")
    return Search(call.id, query)
