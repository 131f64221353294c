from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gem.parsing import Glm

TOOLS: list[Mapping[str, Any]] = [
    {
        "type": "function",
        "function": {"name": "add", "parameters": {"properties": {"s": {"type": "string"}}}},
    },
    {"type": "other"},
]


def call(*arguments: tuple[str, str], name: str = "add") -> str:
    written = [
        f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in arguments
    ]
    return f"<tool_call>{name}\n{''.join(written)}</tool_call>"


def test_only_strings_are_taken_as_they_are() -> None:
    text = "So." + call(("s", " 1\n<b>"), ("n", " 1"), ("l", "[true]"), ("w", "a word"))

    found = Glm(TOOLS).parse(text)

    [made] = found.calls
    assert made.name == "add"
    assert made.arguments == {"s": " 1\n<b>", "n": 1, "l": [True], "w": "a word"}
    assert found.text == "So."


def test_a_call_may_have_no_arguments() -> None:
    assert Glm().parse(call(name="now")).calls[0].arguments == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<tool_call>add", "<tool_call> is not closed by </tool_call>."),
        ("<tool_call></tool_call>", "it does not begin with a tool's name"),
        ('<tool_call>{"name": "add"}</tool_call>', "it does not begin with a tool's name"),
        ("<tool_call>add<arg_key>a</tool_call>", "is not followed by its <arg_value>"),
        ("<tool_call>add<arg_key>a</arg_key>1</tool_call>", "is not followed by its <arg_value>"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(text: str, why: str) -> None:
    [error] = Glm().parse(text).errors

    assert why in error.reason
