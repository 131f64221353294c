from __future__ import annotations

import json

import pytest

from gem.parsing import Hermes, Malformed, ParsedCall

HERMES = Hermes()


def call(content: str) -> str:
    return f"<tool_call>{content}</tool_call>"


def test_a_call_has_a_name_and_arguments() -> None:
    text = "Now. " + call('\n{"name": "add", "arguments": {"a": [1, null, 2.5, true, "b"]}}\n')

    found = HERMES.parse(text)

    arguments = {"a": [1, None, 2.5, True, "b"]}
    assert found.calls == (ParsedCall("call_0", "add", arguments, (5, len(text))),)
    assert found.text == "Now. "


def test_arguments_may_be_left_out() -> None:
    assert HERMES.parse(call('{"name": "now"}')).calls[0].arguments == {}


def test_line_breaks_stand_in_strings_as_they_are() -> None:
    found = HERMES.parse(call('{"name": "python", "arguments": {"code": "a\nb"}}'))

    assert found.calls[0].arguments == {"code": "a\nb"}


def test_an_escaped_surrogate_is_replaced_in_names_and_values() -> None:
    found = HERMES.parse(call(r'{"name": "a", "arguments": {"\ud800": "\udfff"}}'))

    assert found.calls[0].arguments == {"\ufffd": "\ufffd"}


@pytest.mark.parametrize(
    ("content", "kind", "why"),
    [
        ("", "json", "it is not JSON: Expecting value at line 1, column 1"),
        ('{"name": "a",}', "json", "it is not JSON"),
        ("{} and so on", "json", "it is not JSON alone: more follows its character 2"),
        ("[" * 100_000, "json", "it is nested too deep"),
        ("[" * 70 + "]" * 70, "json", "it is nested too deep"),
        ('{"a": NaN}', "json", "NaN is not JSON"),
        ('{"a": 1e999}', "json", "a number in it is too large"),
        ('{"a": ' + "9" * 400 + "}", "json", "a number in it is too long"),
        ('{"a": 1, "a": 2}', "json", "the name 'a' appears twice in it"),
        ("[]", "shape", 'it is not an object with a "name" and "arguments"'),
        ('{"name": 1}', "shape", "it is not an object with a"),
        ('{"name": "a", "arguments": "{}"}', "shape", 'its "arguments" are not an object'),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(content: str, kind: str, why: str) -> None:
    found = HERMES.parse(call(content))

    [error] = found.errors
    assert (error.kind, found.calls, found.text) == (kind, (), "")
    assert f": {why}" in error.reason


def test_one_malformed_call_costs_no_other() -> None:
    good = call(json.dumps({"name": "a"}))

    found = HERMES.parse(good + call("{") + good)

    assert [type(each) for each in found.found] == [ParsedCall, Malformed, ParsedCall]


def test_a_call_that_is_not_closed_is_an_error() -> None:
    found = HERMES.parse('<tool_call>{"name": "a"}')

    reason = "<tool_call> is not closed by </tool_call>."
    assert found.found == (Malformed("call_0", "unclosed", reason, None, (0, 24)),)
