"""Calls in any of several formats."""

from __future__ import annotations

import pytest

import gem
from gem.parsing import AnyOf, Fences, OpenAI, Tags

EITHER = AnyOf(Fences({"python": "code"}), Tags({"python": "code"}))


def test_calls_come_in_the_order_in_which_they_stand() -> None:
    text = "A <python>1</python>\n```python\n2\n```\nB <python>3</python>"

    read = EITHER.parse(text)

    assert [(call.id, call.arguments["code"]) for call in read.calls] == [
        ("call_0", "1"),
        ("call_1", "2"),
        ("call_2", "3"),
    ]
    assert read.text == "A \n\nB "


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<python>\n```python\n1\n```\n</python>", "```python\n1\n```"),
        ("```python\n<python>1</python>\n```", "<python>1</python>"),
    ],
)
def test_a_call_within_a_call_is_part_of_it(text: str, code: str) -> None:
    assert [call.arguments["code"] for call in EITHER.parse(text).calls] == [code]


def test_after_a_call_that_is_not_closed_nothing_more_is_read() -> None:
    read = EITHER.parse("<python>1\n```python\n2\n```\n")

    assert [error.kind for error in read.errors] == ["unclosed"]
    assert read.calls == ()


def test_calls_beside_the_text_come_first() -> None:
    action = gem.Action("<python>1</python>", tool_calls=[gem.ToolCall("c7", "python", {})])

    read = AnyOf(Tags({"python": "code"}), OpenAI()).parse(action)

    assert [call.id for call in read.calls] == ["c7", "call_1"]
