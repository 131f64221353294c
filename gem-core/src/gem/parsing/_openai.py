"""Calls that came beside the text, as OpenAI's API sends them: `gem.Action.tool_calls`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem.content import Action, ToolCall
from gem.parsing._calls import CallOrError, Malformed, Parsed, ParsedCall
from gem.parsing._plain import NotPlainError, plain

__all__ = ["MALFORMED", "REASON", "OpenAI"]

MALFORMED = "$malformed"
"""The one argument of a call whose arguments were no JSON object: their text."""

REASON = "$reason"
"""Beside it, where somebody has said why the call cannot be read: a sentence for the policy."""


class OpenAI:
    """Calls that an Action carries. Its text is never searched for any."""

    def parse(self, action: str) -> Parsed:
        calls = action.tool_calls if isinstance(action, Action) else ()
        return Parsed(tuple(map(_call_or_error, calls)), str(action))


def _call_or_error(call: ToolCall) -> CallOrError:
    given: Any = call.arguments  # a policy's, which nobody has held to their type
    if not isinstance(given, Mapping):
        what = "text" if isinstance(given, str) else f"a {type(given).__name__}"
        reason = f"The arguments of {call.name} are {what}, and must be a JSON object."
        return Malformed(call.id, "shape", reason, call.name)
    try:
        arguments = plain(dict(given))
    except NotPlainError as error:
        reason = f"The arguments of {call.name} cannot be read: {error}."
        return Malformed(call.id, "shape", reason, call.name)
    if MALFORMED in arguments:
        otherwise = f"The arguments of {call.name} are not a JSON object."
        reason = str(arguments.get(REASON, otherwise))
        return Malformed(call.id, "json", reason, call.name)
    return ParsedCall(call.id, call.name, arguments)
