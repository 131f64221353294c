from __future__ import annotations

import pytest

from gem.parsing import Qwen

TOOLS = [
    {
        "type": "function",
        "function": {"name": "add", "parameters": {"properties": {"s": {"type": "string"}}}},
    }
]


def call(body: str) -> str:
    return f"<tool_call>\n<function=add>\n{body}</function>\n</tool_call>"


def test_only_strings_are_taken_as_they_are() -> None:
    text = call(
        "<parameter=s>\n1\n\n</parameter>\n<parameter=n>\n1\n</parameter>\n"
        "<parameter=w>a word</parameter>\n"
    )

    found = Qwen(TOOLS).parse(f"So.{text}")

    [made] = found.calls
    assert made.name == "add"
    assert made.arguments == {"s": "1\n", "n": 1, "w": "a word"}
    assert found.text == "So."


def test_a_call_may_have_no_arguments() -> None:
    assert Qwen().parse(call("")).calls[0].arguments == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<tool_call><function=add>", "<tool_call> is not closed by </tool_call>."),
        ("<tool_call></tool_call>", "it is not <function=NAME>...</function>"),
        ('<tool_call>{"name": "add"}</tool_call>', "it is not <function=NAME>...</function>"),
        ("<tool_call>So <function=add></function></tool_call>", "it is not <function=NAME>"),
        (call("<parameter=a>1"), "is not closed by </parameter>"),
        (call("<parameter=a"), "is not closed by </parameter>"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(text: str, why: str) -> None:
    [error] = Qwen().parse(text).errors

    assert why in error.reason
