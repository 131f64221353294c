from __future__ import annotations

import pytest

from gem.parsing import Llama

CALL = '{"name": "add", "parameters": {"a": 1}}'


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"\n{CALL} ",
        f"<|python_tag|>{CALL}<|eom_id|>",
        f"{CALL}<|eot_id|>",
        CALL.replace("parameters", "arguments"),
        CALL.replace("{", '{"type": "function", ', 1),
    ],
)
def test_an_answer_that_is_an_object_with_parameters_is_a_call(text: str) -> None:
    found = Llama().parse(text)

    [call] = found.calls
    assert (call.name, call.arguments) == ("add", {"a": 1})
    assert found.text.strip() == ""


def test_several_are_parted_by_semicolons() -> None:
    found = Llama().parse(f"<|python_tag|>{CALL}; {CALL}")

    assert [each.id for each in found.calls] == ["call_0", "call_1"]


@pytest.mark.parametrize(
    "written", [CALL, f"<|python_tag|> {CALL}", f"<think>Hm.</think>{CALL}; {CALL}"]
)
def test_what_stands_behind_the_calls_is_text(written: str) -> None:
    found = Llama().parse(f"{written}\n\nThis adds one.<|eot_id|>")

    assert found.calls
    assert found.text.endswith("\n\nThis adds one.<|eot_id|>")
    assert "add" not in found.text.removesuffix("\n\nThis adds one.<|eot_id|>")


@pytest.mark.parametrize("text", ["", "Hm. " + CALL, '{"name": "Ada"}', '{"a": 1}', "{"])
def test_any_other_answer_is_text(text: str) -> None:
    assert Llama().parse(text).found == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"name": "add", "parameters": {', "it is not JSON"),
        ('{"name": 1, "parameters": {}}', 'it is not an object with a "name"'),
        ('<|python_tag|>{"name": "add"}', 'not an object with a "name" and "parameters"'),
        ("<|python_tag|>print(1)", "it is not JSON"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(text: str, why: str) -> None:
    [error] = Llama().parse(text).errors

    assert why in error.reason
