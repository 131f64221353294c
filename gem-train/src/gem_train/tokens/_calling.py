"""How a chat template shows tools, and in which format its model calls them: found by rendering.

A call is rendered as the template would show one, and the parser that reads it there is the one
that reads what the model says. Where the template lists no tools, or writes calls as no parser
reads them, the prompt says how to call. Knows nothing about models or their names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gem.content import Message, ToolCall
from gem.errors import BadArguments
from gem.parsing import FAMILIES, MALFORMED, REASON, Malformed, ParsedCall

__all__ = [
    "JSON_IN_TAGS",
    "Calling",
    "Render",
    "calling_of",
    "calls_in_tags",
    "how_to_call",
    "in_tags",
]

Chat = list[dict[str, Any]]
Tools = Sequence[Mapping[str, Any]]
Render = Callable[..., str]
"""From a chat, tools and whether the model is to speak now (`opens`) to text."""

_NAME = "zqxj8"  # in no template
_ARGUMENTS = {"zqxj9": "zqxj6"}
_RESULT = "zqxj5"
_CALL_ID = "zqxj4abcd"  # nine letters: some templates take no others
_PROBE: Tools = (
    {
        "type": "function",
        "function": {
            "name": _NAME,
            "description": "Look up.",
            "parameters": {
                "type": "object",
                "properties": {"zqxj9": {"type": "string"}},
                "required": ["zqxj9"],
            },
        },
    },
)


class Calling(NamedTuple):
    """How tools are shown, and calls read.

    `family` is a word of `FAMILIES`, None where calls are left in the text. `is_listed` says that
    the template itself lists the tools, `needs_instructions` that the prompt has to say how to
    call them, `results` in which role their results come.
    """

    family: str | None
    is_listed: bool
    needs_instructions: bool
    results: Literal["tool", "user"]

    def calls(self, text: str, tools: Tools, turn: int = 0) -> tuple[ToolCall, ...]:
        """Return the calls in what the model said, as the environment takes them.

        Their ids differ between the answers of an episode, which `turn` counts. What looks like a
        call and cannot be read is one whose arguments say why: its result tells the model.
        """
        if self.family is None:
            return ()
        calls = FAMILIES[self.family](tools).parse(text).found
        return tuple(_call(call, turn, number) for number, call in enumerate(calls))


JSON_IN_TAGS = Calling("hermes", is_listed=False, needs_instructions=True, results="user")
"""Where no template says anything about tools: the prompt says how to call, as JSON in tags."""


def calling_of(render: Render, tool_format: str) -> Calling:
    """Return how a template calls, or how `tool_format` says that calls are read.

    Raises BadArguments for a format that there is not.
    """
    if tool_format == "text":
        return Calling(None, is_listed=False, needs_instructions=False, results="tool")
    if tool_format not in ("template", *FAMILIES):
        raise BadArguments(
            f"A ChatCodec's tool_format is {tool_format!r}, and must be 'template' (what the chat "
            f"template asks for), 'text' (calls are left to the environment), or one of "
            f"{', '.join(FAMILIES)}.",
            subject="tool_format",
        )
    is_listed = _lists_tools(render)
    family = _family(render) if tool_format == "template" else tool_format
    if family is not None and is_listed:
        role: Literal["tool", "user"] = "tool" if _shows_results(render) else "user"
        return Calling(family, is_listed=True, needs_instructions=False, results=role)
    if tool_format != "template":
        return Calling(family, is_listed=False, needs_instructions=False, results="user")
    return JSON_IN_TAGS


def how_to_call(tools: Tools) -> str:
    """Return what a prompt says about tools where the template says nothing."""
    listed = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    return (
        "# Tools\n\n"
        "You may call functions. These are their signatures:\n"
        f"<tools>\n{listed}\n</tools>\n\n"
        "To call one, write its name and its arguments as JSON within <tool_call></tool_call>:\n"
        '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>\n'
        "What it returns comes back within <tool_response></tool_response>."
    )


def calls_in_tags(calls: Sequence[ToolCall]) -> str:
    """Return calls as a prompt with `how_to_call` asks the model to write them."""
    written = (
        json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)
        for call in calls
    )
    return "\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in written)


def in_tags(results: Sequence[Message]) -> str:
    """Return the results of tools as the text of a user, for templates that show no results."""
    return "\n".join(f"<tool_response>\n{result.text}\n</tool_response>" for result in results)


def _call(call: ParsedCall | Malformed, turn: int, number: int) -> ToolCall:
    id = f"c{turn % 10_000:04}{number % 10_000:04}"  # nine letters: templates refuse any other
    if isinstance(call, Malformed):
        return ToolCall(id, call.name or "unknown", {MALFORMED: "", REASON: call.reason})
    # The parser has numbered it, from nought in each answer: the model gave it no id.
    is_numbered = call.id.startswith("call_")
    return ToolCall(id if is_numbered else call.id, call.name, call.arguments)


def _lists_tools(render: Render) -> bool:
    """Say whether a template shows the tools that it is given."""
    try:
        return _NAME in render([_USER], _PROBE, opens=True)
    except BadArguments:
        return False


def _family(render: Render) -> str | None:
    """Return the format in which the template shows a call; None where no parser reads it."""
    for arguments in (_ARGUMENTS, json.dumps(_ARGUMENTS)):  # some templates want them as text
        try:
            question = render([_USER], (), opens=False)
            chat = render([_USER, _answer_with_call(arguments)], (), opens=False)
        except BadArguments:
            continue
        answer = chat[len(question) :]
        for family, make in FAMILIES.items():
            for start, end in _places(answer):
                calls = make(_PROBE).parse(answer[start:end]).found
                if len(calls) == 1 and _is_the_probe(calls[0]):
                    return family
    return None


def _places(answer: str) -> list[tuple[int, int]]:
    """Return where in an answer its call may stand: the whole, or from the first brace on.

    What opens and ends the turn stands around it, and some formats know no text but the call.
    """
    places = [(0, len(answer))]
    for opening, closing in (("{", "}"), ("[", "]")):
        start = answer.find(opening)
        end = answer.rfind(closing) + 1
        if 0 <= start < end:
            places.append((start, end))
    return places


def _is_the_probe(call: ParsedCall | Malformed) -> bool:
    if isinstance(call, Malformed):
        return False
    return call.name == _NAME and call.arguments == _ARGUMENTS


def _shows_results(render: Render) -> bool:
    """Say whether a template shows messages of tools: some refuse the role, some leave it out."""
    result = {"role": "tool", "content": _RESULT, "tool_call_id": _CALL_ID}
    try:
        return _RESULT in render([_USER, _ASSISTANT, result], _PROBE, opens=True)
    except BadArguments:
        return False


def _answer_with_call(arguments: Any) -> dict[str, Any]:
    call = {
        "id": _CALL_ID,
        "type": "function",
        "function": {"name": _NAME, "arguments": arguments},
    }
    return {"role": "assistant", "content": "", "tool_calls": [call]}


_USER: dict[str, Any] = {"role": "user", "content": "x"}
_ASSISTANT: dict[str, Any] = {"role": "assistant", "content": "y"}
