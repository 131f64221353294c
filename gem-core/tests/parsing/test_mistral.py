from __future__ import annotations

import pytest

from gem.parsing import Mistral, ParsedCall

ADD = '{"name": "add", "arguments": {"a": [1, "[TOOL_CALLS]"]}}'
ARGUMENTS = {"a": [1, "[TOOL_CALLS]"]}


def test_a_list_of_calls_follows_a_mark() -> None:
    text = f"So: [TOOL_CALLS] [{ADD}, {ADD}] and on"

    found = Mistral().parse(text)

    span = (4, len(text) - 7)
    assert found.calls == (
        ParsedCall("call_0", "add", ARGUMENTS, span),
        ParsedCall("call_1", "add", ARGUMENTS, span),
    )
    assert found.text == "So:  and on"


def test_newer_models_name_each_call_after_a_mark_of_its_own() -> None:
    found = Mistral().parse('[TOOL_CALLS]add[ARGS]{"a": 1}[TOOL_CALLS]get-2[CALL_ID]x[ARGS]{}')

    assert [(each.name, each.arguments) for each in found.calls] == [
        ("add", {"a": 1}),
        ("get-2", {}),
    ]


@pytest.mark.parametrize(("id", "taken"), [("abcdefghI", "abcdefghI"), ("abc", "call_0")])
def test_an_id_of_nine_letters_is_the_calls_own(id: str, taken: str) -> None:
    [call] = Mistral().parse(f'[TOOL_CALLS][{{"name": "a", "id": "{id}"}}]').calls

    assert call.id == taken


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[TOOL_CALLS] add", "it is not JSON"),
        ('[TOOL_CALLS] [{"name": "a"', "it is not JSON"),
        ('[TOOL_CALLS] [{"arguments": {}}]', 'it is not an object with a "name"'),
        ("[TOOL_CALLS]add[ARGS][1]", 'its "arguments" are not an object'),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(text: str, why: str) -> None:
    [error] = Mistral().parse(text).errors

    assert why in error.reason
    assert error.span == (0, len(text))
