from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.parsing import OpenAI, ParsedCall

PARSER = OpenAI()


def action(arguments: Any) -> gem.Action:
    return gem.Action("Let me see.", tool_calls=[gem.ToolCall("c7", "add", arguments)])


def test_calls_beside_the_text_keep_their_ids() -> None:
    found = PARSER.parse(action({"a": 1}))

    assert found.calls == (ParsedCall("c7", "add", {"a": 1}, None),)
    assert found.text == "Let me see."


def test_a_text_is_not_searched() -> None:
    assert PARSER.parse("<python>1</python>").found == ()


@pytest.mark.parametrize(
    ("arguments", "kind", "reason"),
    [
        ({"$malformed": "{"}, "json", "The arguments of add are not a JSON object."),
        ({"$malformed": "", "$reason": "It is torn."}, "json", "It is torn."),
        ({"a": {1}}, "shape", "it holds a set, which JSON does not have."),
        ({"a": {1: 2}}, "shape", "a key in it is no text."),
        ({"a": 1 << 2000}, "shape", "a number in it is too long."),
        ({"a": float("nan")}, "shape", "infinite or NaN, which JSON does not have."),
        ({"a": [float("-inf")]}, "shape", "infinite or NaN, which JSON does not have."),
        ('{"a": 1}', "shape", "The arguments of add are text, and must be a JSON object."),
        ([("a", 1)], "shape", "The arguments of add are a list, and must be a JSON object."),
        (None, "shape", "The arguments of add are a NoneType, and must be a JSON object."),
    ],
)
def test_arguments_that_are_no_json_are_an_error(arguments: Any, kind: str, reason: str) -> None:
    [error] = PARSER.parse(action(arguments)).errors

    assert (error.id, error.kind, error.name) == ("c7", kind, "add")
    assert reason in error.reason
