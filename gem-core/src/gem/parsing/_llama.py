"""`{"name": ..., "parameters": {...}}` and nothing else, as Llama 3.1 and its kin write."""

from __future__ import annotations

import re
from dataclasses import replace

from gem.parsing._calls import CallOrError, Malformed, Parsed, ParsedCall, parsed
from gem.parsing._cursor import only_piece
from gem.parsing._plain import NotPlainError, json_at, named_call

__all__ = ["Llama"]

_MARK = "<|python_tag|>"
_ENDS = ("<|eom_id|>", "<|eot_id|>")
_BEGINS = re.compile(r'\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:')
_NEXT = re.compile(r"\s*;\s*(?=\{)")


class Llama:
    """Calls written as JSON objects that are all of an answer but for its thinking.

    `<|python_tag|>` may stand before them, and `;` between them. An object that has a name and
    neither "parameters" nor "arguments" is text, unless the tag says that it is a call.
    """

    def parse(self, action: str) -> Parsed:
        span = only_piece(action)
        if span is None:
            return Parsed((), action)
        written = action[slice(*span)]
        for ending in _ENDS:
            written = written.removesuffix(ending).rstrip()
        is_marked = written.startswith(_MARK)
        calls = written.removeprefix(_MARK).lstrip()
        if not is_marked and not _BEGINS.match(calls):
            return Parsed((), action)
        items, end = _calls(calls)
        if calls[end:].strip():  # what stands behind the calls is text
            span = (span[0], span[0] + len(written) - len(calls) + end)
        items = [replace(item, span=span) for item in items]
        # Without the mark it may be any JSON that has a name, an answer about a person, say.
        is_text = not is_marked and any(
            isinstance(item, Malformed) and item.kind == "shape" for item in items
        )
        return Parsed((), action) if is_text else parsed(action, items)


def _calls(written: str) -> tuple[list[CallOrError], int]:
    """Return the calls that a text begins with, and where they end."""
    items: list[CallOrError] = []
    place = 0
    while True:
        id = f"call_{len(items)}"
        try:
            data, place = json_at(written, place)
        except NotPlainError as error:
            items.append(Malformed(id, "json", f"The call cannot be read: {error}."))
            return items, len(written)
        if not isinstance(data, dict) or not {"parameters", "arguments"} & {*data}:
            reason = 'The call is not an object with a "name" and "parameters".'
            items.append(Malformed(id, "shape", reason))
            return items, len(written)
        try:
            arguments = data.get("parameters", data.get("arguments"))
            items.append(ParsedCall(id, *named_call({**data, "arguments": arguments})))
        except NotPlainError as error:
            items.append(Malformed(id, "syntax", f"The call cannot be made: {error}."))
        separator = _NEXT.match(written, place)
        if separator is None:
            return items, place
        place = separator.end()
