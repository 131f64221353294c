"""Conversation: what a policy is shown, and every prompt extends the one before it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.content import Action, ImagePart, Message, Part, TextPart, ToolCall
from gem.conversation import Conversation, Messages, Reply, Request, Usage, as_reply

ANSWER = Message("assistant", "7")


def shown(conversation: Conversation) -> list[tuple[str, Any]]:
    return [(message.role, message.content) for message in conversation.messages]


def test_observations_and_answers_alternate() -> None:
    talk = Conversation()
    talk.observe("Guess.", {})
    talk.answer(ANSWER)
    talk.observe("Lower.", {})
    assert shown(talk) == [("user", "Guess."), ("assistant", "7"), ("user", "Lower.")]


def test_a_suffix_joins_by_one_newline_and_stays() -> None:
    talk = Conversation()
    talk.observe("Guess.", {"suffix": "Board 1"})
    talk.answer(ANSWER)
    talk.observe("Lower.", {"suffix": "Board 2"})
    assert shown(talk) == [
        ("user", "Guess.\nBoard 1"),
        ("assistant", "7"),
        ("user", "Lower.\nBoard 2"),
    ]


@pytest.mark.parametrize("info", [{}, {"suffix": ""}, {"suffix": None}])
def test_without_a_suffix_nothing_is_joined(info: dict[str, Any]) -> None:
    talk = Conversation()
    talk.observe("Guess.", info)
    assert shown(talk) == [("user", "Guess.")]


def test_a_suffix_alone_is_the_whole_message() -> None:
    talk = Conversation()
    talk.observe("", {"suffix": "Board"})
    assert shown(talk) == [("user", "Board")]


def test_a_suffix_joins_parts_as_a_part() -> None:
    talk = Conversation()
    parts: tuple[Part, ...] = (TextPart("See:"), ImagePart(b"x"))
    talk.observe(list(parts), {"suffix": "Board"})
    assert shown(talk) == [("user", (*parts, TextPart("Board")))]


def test_a_tool_turn_has_no_suffix() -> None:
    talk = Conversation()
    result = Message("tool", "42", call_id="c1")
    talk.observe(result, {"suffix": "Board"})
    talk.observe([result, result], {"suffix": "Board"})
    assert talk.messages == (result, result, result)


def test_a_suffix_joins_the_last_message_and_keeps_its_fields() -> None:
    talk = Conversation()
    last = Message("user", "now", (ToolCall("1", "f"),), "c1")
    talk.observe([Message("tool", "42", call_id="c1"), last], {"suffix": "Board"})
    assert talk.messages[-1] == Message("user", "now\nBoard", last.tool_calls, "c1")
    assert talk.messages[0].text == "42"


@given(st.lists(st.tuples(st.text(), st.none() | st.text(), st.booleans()), max_size=6))
def test_every_prompt_extends_the_one_before_it(turns: list[tuple[str, str | None, bool]]) -> None:
    talk = Conversation()
    before: Sequence[Message] = ()
    for text, suffix, is_tool in turns:
        talk.observe(Message("tool" if is_tool else "user", text), {"suffix": suffix})
        assert talk.messages[: len(before)] == before
        talk.answer(ANSWER)
        before = talk.messages


def test_a_history_that_is_rewritten_replaces_what_was_said() -> None:
    talk = Conversation(rewrites_history=True)
    talk.observe("First.", {"suffix": "Board"})
    talk.answer(ANSWER)
    talk.observe("First. Second.", {"suffix": "Board"})
    assert shown(talk) == [("user", "First. Second.")]


def test_messages_are_a_copy() -> None:
    talk = Conversation()
    before = talk.messages
    talk.observe("Guess.", {})
    assert before == ()


def test_messages_stay_when_the_history_is_rewritten() -> None:
    talk = Conversation(rewrites_history=True)
    talk.observe("First.", {})
    before = talk.messages
    talk.observe("Second.", {})
    assert before == (Message("user", "First."),)


def four() -> Conversation:
    talk = Conversation()
    talk.observe("Guess.", {})
    talk.answer(Message("assistant", "", (CALL,)))
    talk.observe(Message("tool", "42", call_id="1"), {})
    talk.answer(ANSWER)
    return talk


FOUR = (
    Message("user", "Guess."),
    Message("assistant", "", (ToolCall("1", "search", {"q": "x"}),)),
    Message("tool", "42", call_id="1"),
    ANSWER,
)


def test_messages_read_like_a_tuple() -> None:
    messages = four().messages
    assert (messages[0], messages[-1], messages[1:3]) == (FOUR[0], FOUR[3], FOUR[1:3])
    assert (len(messages), tuple(messages), repr(messages)) == (4, FOUR, repr(FOUR))
    assert FOUR[2] in messages


@pytest.mark.parametrize("index", [4, -5])
def test_no_message_is_read_outside_them(index: int) -> None:
    messages = four().messages
    four().observe("More.", {})
    with pytest.raises(IndexError):
        messages[index]


def test_messages_equal_the_tuple_of_them() -> None:
    messages = four().messages
    assert messages == FOUR == messages == four().messages
    assert messages != FOUR[1:]
    assert messages != list(FOUR)


def test_messages_are_a_key_as_the_tuple_of_them_is() -> None:
    talk = Conversation()
    talk.observe("Guess.", {})
    assert hash(talk.messages) == hash((Message("user", "Guess."),))


def pickled(messages: Messages) -> Any:
    return pickle.loads(pickle.dumps(messages))  # noqa: S301 - its own


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_of_messages_is_the_tuple_of_them(copied: Any) -> None:
    assert copied(four().messages) == FOUR
    assert type(copied(four().messages)) is tuple


def test_a_message_of_a_subclass_is_kept_as_it_is() -> None:
    class Signed(Message):
        """A message with more to it."""

    talk = Conversation()
    talk.answer(Signed("assistant", "7"))
    assert type(talk.messages[0]) is Signed


def test_an_action_as_observation_is_plain_text() -> None:
    talk = Conversation()
    talk.observe(Action("a"), {})
    assert type(talk.messages[0].content) is str


CALL = ToolCall("1", "search", {"q": "x"})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("7", ANSWER),
        (Action("7", tool_calls=[CALL]), Message("assistant", "7", (CALL,))),
        (ANSWER, ANSWER),
        (Reply(ANSWER, (1,), (0.5,), "stop", Usage(1, 2)), ANSWER),
    ],
)
def test_a_policy_may_answer_in_any_of_these_ways(answer: Any, message: Message) -> None:
    reply = as_reply(answer)
    assert reply.message == message
    assert type(reply.message.content) is str
    assert reply.action == message.text
    assert reply.action.tool_calls == message.tool_calls


def test_a_reply_is_passed_on_as_it_is() -> None:
    reply = Reply(ANSWER, (1,), (0.5,), "stop", Usage(1, 2))
    assert as_reply(reply) is reply


@pytest.mark.parametrize("answer", [None, 7, b"7", ["7"], {"role": "assistant"}])
def test_any_other_answer_is_refused(answer: Any) -> None:
    with pytest.raises(TypeError, match=f"A policy returned {type(answer).__name__}. It must"):
        as_reply(answer)


def test_a_request_shows_nothing_by_default() -> None:
    request = Request()
    assert (request.messages, request.prompt, request.sample, request.solution) == (
        (),
        None,
        None,
        None,
    )
