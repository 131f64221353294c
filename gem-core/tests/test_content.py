"""Content: text, images, messages and calls, and the same back from JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.content import (
    Action,
    ImagePart,
    Message,
    TextPart,
    ToolCall,
    normalise_text,
    observation_copy,
    observation_from_json,
    observation_text,
    observation_to_json,
)

Text = st.text(st.characters(), max_size=10)
Parts = st.lists(
    st.builds(TextPart, Text) | st.builds(ImagePart, st.binary(max_size=9), Text), max_size=3
).map(tuple)
Calls = st.lists(
    st.builds(ToolCall, Text, Text, st.dictionaries(Text, st.integers(), max_size=2)), max_size=2
).map(tuple)
Messages = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    Text | Parts,
    Calls,
    st.none() | Text,
)
Observations = Text | Parts.filter(bool) | Messages | st.lists(Messages, min_size=1).map(tuple)


@given(Observations)
def test_an_observation_comes_back_from_json(observation: Any) -> None:
    plain = json.loads(json.dumps(observation_to_json(observation)))
    assert observation_from_json(plain) == observation


@given(Messages)
def test_a_message_comes_back_from_json(message: Message) -> None:
    assert Message.from_json(json.loads(json.dumps(message.to_json()))) == message


def test_a_message_s_json_leaves_out_what_it_has_not() -> None:
    assert Message("user", "a").to_json() == {"role": "user", "content": "a"}
    assert Message("tool", "a", call_id="1").to_json() == {
        "role": "tool",
        "content": "a",
        "call_id": "1",
    }


def test_a_subclass_of_str_becomes_plain_text() -> None:
    assert type(observation_to_json(Action("a"))) is str
    assert type(Message("user", Action("a")).to_json()["content"]) is str


def test_no_parts_at_all_come_back_as_no_parts() -> None:
    assert observation_from_json(observation_to_json(())) == ()


@pytest.mark.parametrize(
    "plain",
    [
        None,
        5,
        [],
        {},
        {"message": 5},
        {"message": {}},
        {"messages": 5},
        {"messages": ["a"]},
        {"parts": 5},
        {"parts": [{}]},
        {"parts": ["text"]},
        {"message": {"role": "nobody", "content": "a"}},
        {"message": {"role": "user", "content": None}},
        {"message": {"role": "user", "content": "a", "call_id": 1}},
        {"message": {"role": "user", "content": "a", "tool_calls": [1]}},
        {"message": {"role": "user", "content": "a", "tool_calls": 1}},
        {"message": {"role": "user", "content": "a", "tool_calls": [{"id": "1", "name": "f"}]}},
        {
            "message": {
                "role": "user",
                "content": "a",
                "tool_calls": [{"id": "1", "name": "f", "arguments": 5}],
            }
        },
    ],
)
def test_anything_else_is_refused(plain: Any) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        observation_from_json(plain)


def test_the_text_of_a_message_leaves_images_out() -> None:
    parts = (TextPart("a"), ImagePart(b"x"), TextPart("b"))
    assert Message("user", parts).text == "a\nb"
    assert Message("user", "whole").text == "whole"


@pytest.mark.parametrize(
    ("observation", "text"),
    [
        ("a", "a"),
        (Message("user", "a"), "a"),
        ((TextPart("a"), ImagePart(b"x"), TextPart("b")), "a\nb"),
        ((Message("user", "a"), Message("tool", (TextPart("b"), ImagePart(b"x")))), "a\nb"),
        ((), ""),
    ],
)
def test_an_observation_reads_as_its_texts(observation: Any, text: str) -> None:
    assert observation_text(observation) == text


@pytest.mark.parametrize(
    "value",
    [5, None, {"board": 1}, ["text"], ("Even?", {}), [TextPart("a"), Message("user", "b")]],
)
def test_what_is_no_observation_is_named(value: Any) -> None:
    problem = f"returned the observation .*, of type {type(value).__name__}. It must be text"
    for use in (observation_text, observation_to_json, observation_copy):
        with pytest.raises(TypeError, match=problem):
            use(value)


def test_an_action_is_text_that_may_carry_calls() -> None:
    call = ToolCall("1", "search", {"query": "x"})
    action = Action("a", tool_calls=[call])
    assert action == "a"
    assert action.tool_calls == (call,)
    assert Action().tool_calls == ()
    assert Action() == ""


@given(Text)
def test_normalised_text_can_be_written(text: str) -> None:
    normal = normalise_text(text)
    normal.encode("utf-8")
    assert normalise_text(normal) == normal


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udfff", "\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ufeffa\ufeff", "\ufeffa\ufeff"),
        ("é\x00\u202e", "é\x00\u202e"),
        ("", ""),
        ("x" * 10**6 + "\ud800" * 10**6, "x" * 10**6 + "\ufffd" * 10**6),
    ],
    ids=range(7),
)
def test_only_lone_surrogates_are_replaced(text: str, normal: str) -> None:
    assert normalise_text(text) == normal


def test_parts_are_chat_content_with_images_as_data_urls() -> None:
    message = Message("user", (TextPart("What is this?"), ImagePart(b"\x89PNG")))
    assert message.to_chat()["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "image": "data:image/png;base64,iVBORw=="},
    ]
