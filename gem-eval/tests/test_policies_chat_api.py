from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem import ImagePart, Message, Reply, Request, TextPart, ToolCall, Usage
from gem_eval.policies.chat_api import (
    MalformedReplyError,
    read_reply,
    request_body,
    request_path,
)

CALL = ToolCall("call_1", "look", {"at": "north"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "text", "tool_calls", "function", "usage"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def body(request: Request, **options: Any) -> dict[str, Any]:
    return request_body(request, **{"system": None, "sends_seed": True, **options})


def reply_to(message: dict[str, Any], finish: Any = "stop") -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}]}).encode()


def test_a_conversation_becomes_messages() -> None:
    request = Request((Message("user", "Guess."), Message("assistant", "7")))

    assert body(request)["messages"] == [
        {"role": "user", "content": "Guess."},
        {"role": "assistant", "content": "7"},
    ]


def test_a_system_prompt_comes_first() -> None:
    sent = body(Request((Message("user", "Guess."),)), system="Be brief.")

    assert sent["messages"][0] == {"role": "system", "content": "Be brief."}


def test_an_image_travels_as_a_data_url() -> None:
    parts = (TextPart("What is this?"), ImagePart(b"\x89PNG", "image/png"))

    assert body(Request((Message("user", parts),)))["messages"][0]["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
    ]


def test_tools_and_their_results_travel_in_the_documented_shape() -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {}}}
    asked = Message("assistant", "", (CALL,))
    answered = Message("tool", "A wall.", call_id="call_1")

    sent = body(Request((asked, answered), tools=(tool,)))

    function = {"name": "look", "arguments": '{"at": "north"}'}
    assert sent["tools"] == [tool]
    assert sent["messages"] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "A wall.", "tool_call_id": "call_1"},
    ]


def test_a_finished_prompt_is_sent_as_it_is() -> None:
    request = Request(prompt="<|user|>Guess.<|assistant|>")

    assert request_path(request) == "/completions"
    assert body(request)["prompt"] == "<|user|>Guess.<|assistant|>"
    assert "messages" not in body(request)


def test_the_seed_is_sent_within_31_bits() -> None:
    assert body(Request(seed=2**63 - 1))["seed"] == 2**31 - 1
    assert "seed" not in body(Request(seed=5), sends_seed=False)


def test_streaming_is_off() -> None:
    assert body(Request())["stream"] is False


def test_a_lone_surrogate_is_replaced() -> None:
    sent = body(Request((Message("user", "a\ud800b"),)))

    assert sent["messages"][0]["content"] == "a\ufffdb"


def test_a_reply_is_read_with_its_usage() -> None:
    plain = {
        "choices": [{"message": {"content": "7"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }

    reply = read_reply(json.dumps(plain).encode(), is_chat=True)

    assert (reply.message, reply.finish_reason) == (Message("assistant", "7"), "length")
    assert reply.usage == Usage(3, 2)


def test_a_completion_is_read() -> None:
    assert read_reply(b'{"choices": [{"text": "7"}]}', is_chat=False).message.text == "7"


def test_native_tool_calls_are_read() -> None:
    call = {"id": "call_1", "function": {"name": "look", "arguments": '{"at": "north"}'}}

    reply = read_reply(reply_to({"content": None, "tool_calls": [call]}), is_chat=True)

    assert reply.action.tool_calls == (CALL,)


@pytest.mark.parametrize(
    "arguments",
    [
        "{not json",
        "[1]",
        '{"x": NaN}',
        '{"x": 1e999}',
        f'{{"x": {"[" * 200}{"]" * 200}}}',
        "[" * 100_000,
    ],
)
def test_arguments_that_a_model_garbled_are_kept_as_text(arguments: str) -> None:
    call = {"id": "c", "function": {"name": "look", "arguments": arguments}}

    reply = read_reply(reply_to({"content": "", "tool_calls": [call]}), is_chat=True)

    assert reply.message.tool_calls[0].arguments == {"$malformed": arguments}


def test_content_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]

    assert read_reply(reply_to({"content": parts}), is_chat=True).message.text == "ab"


def test_a_refusal_is_an_answer() -> None:
    reply = read_reply(reply_to({"content": None, "refusal": "No."}), is_chat=True)

    assert reply.message.text == "No."


@pytest.mark.parametrize("finish", ["length", "stop", "content_filter"])
def test_a_model_that_says_nothing_gives_an_empty_answer(finish: str) -> None:
    assert read_reply(reply_to({"content": None}, finish), is_chat=True).message.text == ""


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart_from_the_answer(field: str) -> None:
    reply = read_reply(reply_to({"content": "7", field: "It is odd."}), is_chat=True)

    assert (reply.message.text, reply.reasoning) == ("7", "It is odd.")


@pytest.mark.parametrize("thought", [None, "", 7, {"text": "so"}, ["so"]])
def test_what_is_no_reasoning_is_left_out(thought: Any) -> None:
    reply = read_reply(reply_to({"content": "7", "reasoning": thought}), is_chat=True)

    assert (reply.message.text, reply.reasoning) == ("7", None)


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>\nIt is odd.\n</think>\n\n7", "It is odd.", "7"),
        ("It is odd.\n</think>7", "It is odd.", "7"),  # the prompt ends in the first tag
        ("<think>It is odd, and", "It is odd, and", ""),
        ("<think>\n\n</think>\n\n7", None, "7"),
        ("7 <think>", None, "7 <think>"),
        ("<think>a</think>b</think>c", "a", "b</think>c"),
        ("<think>" * 200_000, "<think>" * 199_999, ""),
    ],
)
def test_tags_around_thoughts_are_read_where_that_is_asked(
    text: str, reasoning: str | None, answer: str
) -> None:
    body = reply_to({"content": text})

    reply = read_reply(body, is_chat=True, think_tags=True)

    assert (reply.reasoning, reply.message.text) == (reasoning, answer)
    assert read_reply(body, is_chat=True).message.text == text


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"<html>Welcome</html>", "not JSON"),
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "'choices'"),
        (b'{"choices": []}', "'choices'"),
        (b'{"choices": null}', "'choices'"),
        (b'{"choices": [7]}', "'choices'"),
        (b'{"choices": [{}]}', "'message'"),
        (reply_to({}), "'content'"),
        (reply_to({"content": None}, None), "'content'"),
        (reply_to({"content": 7}), "'content'"),
        (reply_to({"content": [{"type": "text"}]}), "'content'"),
        (reply_to({"content": "", "tool_calls": 7}), "'tool_calls'"),
        (reply_to({"content": "", "tool_calls": [{}]}), "'tool_calls'"),
        (reply_to({"tool_calls": [{"function": {"name": None}}]}), "'tool_calls'"),
        (reply_to({"content": None}, finish=["stop"]), "no 'content'"),
    ],
)
def test_another_shape_is_refused_by_name(text: bytes, what: str) -> None:
    with pytest.raises(MalformedReplyError, match=what):
        read_reply(text, is_chat=True)


def test_an_error_in_place_of_an_answer_is_quoted() -> None:
    with pytest.raises(MalformedReplyError) as caught:
        read_reply(b'{"error": {"message": "no such model"}}', is_chat=True)

    assert "no such model" in caught.value.found


@pytest.mark.parametrize(
    "usage", [None, 7, {"prompt_tokens": "3"}, {"prompt_tokens": -1}, {}, {"total_tokens": 9}]
)
def test_usage_of_another_shape_is_left_out(usage: Any) -> None:
    plain = {"choices": [{"message": {"content": "7"}}], "usage": usage}

    assert read_reply(json.dumps(plain).encode(), is_chat=True).usage is None


def test_a_count_that_a_server_leaves_out_is_0() -> None:
    plain = {"choices": [{"message": {"content": ""}}], "usage": {"prompt_tokens": 9}}

    assert read_reply(json.dumps(plain).encode(), is_chat=True).usage == Usage(9, 0)


@given(JSON, st.booleans())
def test_any_json_is_an_answer_or_a_malformed_reply(plain: Any, is_chat: bool) -> None:
    try:
        reply = read_reply(json.dumps(plain).encode(), is_chat=is_chat)
    except MalformedReplyError:
        return
    assert isinstance(reply.message.text, str)


def read(choice: dict[str, Any], *, is_chat: bool = True) -> Reply:
    whole = {"message": {"content": "7"}, "text": "7", **choice}
    return read_reply(json.dumps({"choices": [whole]}).encode(), is_chat=is_chat)


def test_logprobs_and_ids_are_of_the_answer_where_a_server_gives_them() -> None:
    content = [{"token": "7", "logprob": -0.25}, {"token": "</s>", "logprob": -1}]

    with_both = read({"logprobs": {"content": content}, "token_ids": [22, 2]})

    assert (with_both.logprobs, with_both.token_ids) == ((-0.25, -1.0), (22, 2))
    of_prompt = read({"logprobs": {"token_logprobs": [-0.5]}}, is_chat=False)
    assert (of_prompt.logprobs, of_prompt.token_ids) == ((-0.5,), None)
    assert (read({}).logprobs, read({"logprobs": None}).token_ids) == (None, None)


@pytest.mark.parametrize(
    "logprobs",
    [
        "many",
        {"content": []},
        {"content": [7]},
        {"content": [{"logprob": None}]},
        {"content": [{"logprob": True}]},
        {"content": [{"logprob": float("nan")}]},
        {"content": [{"logprob": float("-inf")}]},
        {"content": [{"logprob": -(10**400)}]},
        {"content": [{"logprob": -1.0}] * 3},
    ],
)
def test_logprobs_of_another_shape_or_number_are_none(logprobs: Any) -> None:
    reply = read({"logprobs": logprobs, "token_ids": [1, 2]})

    assert (reply.message.text, reply.logprobs, reply.token_ids) == ("7", None, (1, 2))


@pytest.mark.parametrize("ids", [None, [], "12", [1.0], [True], [-1], [2**31], [1, None]])
def test_ids_of_another_shape_are_none(ids: Any) -> None:
    assert read({"token_ids": ids}).token_ids is None
