"""`{"name": ..., "parameters": {...}}` and nothing else, as Llama 3.1 and its kin write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gem.parsing._calls import CallOrError, Malformed, Parsed, ParsedCall, Span, parsed
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
        for end in _ENDS:
            written = written.removesuffix(end).rstrip()
        is_marked = written.startswith(_MARK)
        written = written.removeprefix(_MARK).lstrip()
        if not is_marked and not _BEGINS.match(written):
            return Parsed((), action)
        items = list(_calls(written, span))
        # Without the mark it may be any JSON that has a name, an answer about a person, say.
        is_text = not is_marked and any(
            isinstance(item, Malformed) and item.kind == "shape" for item in items
        )
        return Parsed((), action) if is_text else parsed(action, items)


def _calls(written: str, span: Span) -> Iterator[CallOrError]:
    number = 0
    place = 0
    while True:
        id = f"call_{number}"
        try:
            data, place = json_at(written, place)
        except NotPlainError as error:
            yield Malformed(id, "json", f"The call cannot be read: {error}.", span=span)
            return
        if not isinstance(data, dict) or not {"parameters", "arguments"} & {*data}:
            reason = 'The call is not an object with a "name" and "parameters".'
            yield Malformed(id, "shape", reason, span=span)
            return
        try:
            arguments = data.get("parameters", data.get("arguments"))
            yield ParsedCall(id, *named_call({**data, "arguments": arguments}), span)
        except NotPlainError as error:
            yield Malformed(id, "syntax", f"The call cannot be made: {error}.", span=span)
        separator = _NEXT.match(written, place)
        if separator is None:
            return
        number += 1
        place = separator.end()
