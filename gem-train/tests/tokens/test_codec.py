"""The tokens of a conversation, for the chat templates of models in wide use."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gem import ImagePart, Message
from gem.content import TextPart
from gem.errors import BadArguments
from gem.tokens import ChatCodec

from .conversations import HELLO, SYSTEM, Bytes, play, shown, user

THOUGHT = "<think>\nWhat now?\n</think>\n\nThis."
MOVING = (
    "{% for m in messages %}{% if m.role == 'user' %}[INST]"
    "{% if loop.last and messages[0].role == 'system' %}{{ messages[0].content }} {% endif %}"
    "{{ m.content }}[/INST]{% elif m.role == 'assistant' %}{{ m.content }}</s>{% endif %}"
    "{% endfor %}"
)
"""Shows what the system says with the last user's message, as Mistral's first ones do."""

LLAMA_LIKE = (
    "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]"
    "{% else %} {{ m.content }}</s>{% endif %}{% endfor %}"
)
"""Has no opening for an answer, and a space before each."""

LATE = (
    "{% if messages[-1].role == 'tool' %}Tools were used.{% endif %}"
    "{% for m in messages %}{{ m.role }}: {{ m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
"""Begins otherwise where a tool spoke last."""

LATE_AND_AS_LONG = LATE.replace("{% endif %}", "{% else %}No tools so far.{% endif %}", 1)


TURNS = [("One.", user("Two?")), ("", user("And?")), ("Three\nfour", user("Five?"))]


def test_tokens_are_those_of_the_whole_conversation(
    appending: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(appending)

    ids, messages = play(ChatCodec(tokenizer), [HELLO], TURNS, ending=[tokenizer.eos_token_id])

    assert ids is not None
    assert tokenizer.decode(ids) == shown(tokenizer, messages)


def test_what_the_system_says_changes_nothing_about_that(
    with_system: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(with_system)
    opening, ending = [SYSTEM, HELLO], [tokenizer.eos_token_id]

    ids, messages = play(ChatCodec(tokenizer), opening, TURNS, ending=ending)

    assert ids is not None
    assert tokenizer.decode(ids) == shown(tokenizer, messages)


def test_a_turn_that_was_cut_is_closed(appending: str, tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of(appending)
    codec = ChatCodec(tokenizer)

    cut, _ = play(codec, [HELLO], TURNS)
    whole, _ = play(codec, [HELLO], TURNS, ending=[tokenizer.eos_token_id])

    assert cut == whole


def test_a_template_that_opens_with_reasoning_rewrites(
    rewriting: str, tokenizer_of: Callable[..., Any]
) -> None:
    ids, _ = play(ChatCodec(tokenizer_of(rewriting)), [HELLO], [("Yes.", user("And?"))])

    assert ids is None


def test_what_the_model_saw_can_be_kept(rewriting: str, tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of(rewriting)
    codec = ChatCodec(tokenizer, on_rewrite="keep")

    ids, _ = play(codec, [HELLO], [("Yes.", user("And?"))], ending=[tokenizer.eos_token_id])

    opened = shown(tokenizer, [HELLO])
    assert ids is not None
    assert tokenizer.decode(ids).startswith(f"{opened}Yes.{tokenizer.eos_token}")
    assert "And?" in tokenizer.decode(ids)
    assert tokenizer.decode(ids).count("Hello.") == 1


def test_reasoning_that_is_dropped_later_is_a_rewrite(tokenizer_of: Callable[..., Any]) -> None:
    ids, _ = play(ChatCodec(tokenizer_of("qwen3")), [HELLO], [(THOUGHT, user("And?"))])

    assert ids is None


def test_reasoning_stays_until_a_user_speaks(tokenizer_of: Callable[..., Any]) -> None:
    codec = ChatCodec(tokenizer_of("qwen3"))
    result = [Message("tool", "42", call_id="c1")]

    kept, messages = play(codec, [HELLO], [(THOUGHT, result)])
    lost, _ = play(codec, [HELLO], [(THOUGHT, result), ("42.", user("And?"))])

    assert kept is not None
    assert tokenizer_of("qwen3").decode(kept) == shown(tokenizer_of("qwen3"), messages)
    assert lost is None


def test_a_template_that_keeps_reasoning_extends(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("qwen3_instruct_2507")

    ids, messages = play(ChatCodec(tokenizer), [HELLO], [(THOUGHT, user("And?"))])

    assert ids is not None
    assert tokenizer.decode(ids) == shown(tokenizer, messages)


def test_results_of_tools_are_shown_as_the_template_shows_them(
    tokenizer_of: Callable[..., Any],
) -> None:
    tokenizer = tokenizer_of("qwen2_5")
    results = [Message("tool", "1", call_id="a"), Message("tool", "2", call_id="b")]

    ids, messages = play(ChatCodec(tokenizer), [SYSTEM, HELLO], [("<tool_call>", results)])

    assert ids is not None
    assert tokenizer.decode(ids) == shown(tokenizer, messages)
    assert "<tool_response>\n2\n</tool_response>" in tokenizer.decode(ids)


def test_all_that_was_said_since_a_user_spoke_is_compared(
    tokenizer_of: Callable[..., Any],
) -> None:
    tokenizer = tokenizer_of("qwen2_5")
    turns = [("Call.", [Message("tool", "42", call_id="c1")]), ("It is 42.", user("And?"))]

    ids, messages = play(ChatCodec(tokenizer), [HELLO], turns)

    assert ids is not None
    assert tokenizer.decode(ids) == shown(tokenizer, messages)


@pytest.mark.parametrize("template", [LATE, LATE_AND_AS_LONG])
def test_a_beginning_that_depends_on_the_end_is_a_rewrite(
    template: str, tokenizer_of: Callable[..., Any]
) -> None:
    codec = ChatCodec(tokenizer_of("late", template))

    still, _ = play(codec, [HELLO], [("Yes.", user("And?"))])
    changed, _ = play(codec, [HELLO], [("Yes.", [Message("tool", "42", call_id="c1")])])

    assert still is not None
    assert changed is None


def test_a_tokenizer_may_have_no_end() -> None:
    codec = ChatCodec(Bytes())

    ids, _ = play(codec, [HELLO], [("Yes.", user("And?"))])

    assert codec.stop_ids == frozenset()
    assert bytes(ids or ()).decode() == "user: Hello.\nassistant: Yes.\nuser: And?\nassistant: "


def test_tools_are_part_of_the_opening_alone(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("qwen3")
    codec = ChatCodec(tokenizer)
    tools = [{"type": "function", "function": {"name": "add", "parameters": {}}}]
    messages = [HELLO, Message("assistant", "Yes."), *user("And?")]

    opening = codec.opening([HELLO], tools)
    added = codec.following(messages, 1, 1, codec.encode("Yes."), tools)

    assert added is not None
    assert '"name": "add"' in tokenizer.decode(opening)
    assert "add" not in tokenizer.decode(added)


def test_a_prompt_that_moves_with_each_turn_is_a_rewrite(tokenizer_of: Callable[..., Any]) -> None:
    codec = ChatCodec(tokenizer_of("mistral", MOVING))

    still, _ = play(codec, [HELLO], [("Yes.", user("And?"))])
    moved, _ = play(codec, [SYSTEM, HELLO], [("Yes.", user("And?"))])

    assert still is not None
    assert moved is None


def test_options_reach_the_template(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("qwen3")
    codec = ChatCodec(tokenizer, template_options={"enable_thinking": False})

    opening = tokenizer.decode(codec.opening([HELLO]))

    assert opening.endswith("<think>\n\n</think>\n\n")
    assert play(codec, [HELLO], [("Yes.", user("And?"))])[0] is None


def test_a_trimmed_answer_is_no_rewrite(tokenizer_of: Callable[..., Any]) -> None:
    ids, _ = play(ChatCodec(tokenizer_of("gemma")), [HELLO], [("  Yes. \n", user("And?"))])

    assert ids is not None


@pytest.mark.parametrize("space", [" ", ""])
def test_a_space_that_a_template_puts_before_what_was_said_is_no_rewrite(
    leading: str, space: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(leading)
    codec = ChatCodec(tokenizer, on_rewrite="refuse")
    turns = [(space + "One.", user("Two?")), (space + "Three\nfour", user("Five?"))]

    ids, messages = play(codec, [HELLO], turns, ending=[tokenizer.eos_token_id])

    assert ids is not None
    spoken = [Message(each.role, each.text.strip()) for each in messages]
    written = shown(tokenizer, spoken).replace(" </s>", "</s>")
    as_said = written.replace(" One.", f"{space}One.").replace(" Three", f"{space}Three")
    assert tokenizer.decode(ids) == as_said


def test_with_such_a_space_dropped_reasoning_is_still_a_rewrite(
    tokenizer_of: Callable[..., Any],
) -> None:
    template = LLAMA_LIKE.replace("m.content", "m.content.split('</think>')[-1]")
    codec = ChatCodec(tokenizer_of("dropping", template))

    kept, _ = play(codec, [HELLO], [("This.", user("And?"))])
    lost, _ = play(codec, [HELLO], [(THOUGHT, user("And?"))])

    assert kept is not None
    assert lost is None


def test_a_system_message_that_moves_to_the_last_user_is_a_rewrite(
    tokenizer_of: Callable[..., Any],
) -> None:
    codec = ChatCodec(tokenizer_of("mistral_v3"))

    still, _ = play(codec, [HELLO], [("Yes.", user("And?"))])
    moved, _ = play(codec, [SYSTEM, HELLO], [("Yes.", user("And?"))])

    assert still is not None
    assert moved is None


def test_what_moves_is_not_said_again_where_the_conversation_is_kept(
    tokenizer_of: Callable[..., Any],
) -> None:
    tokenizer = tokenizer_of("mistral", MOVING)
    codec = ChatCodec(tokenizer, on_rewrite="keep")

    ids, _ = play(codec, [SYSTEM, HELLO], [("Yes.", user("And?"))])

    assert ids is not None
    assert tokenizer.decode(ids).endswith("Yes.</s>[INST]And?[/INST]")


@pytest.mark.parametrize("name", ["mistral_v3", "mistral_nemo"])
def test_a_template_that_refuses_an_empty_answer_is_shown_it(
    name: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    codec = ChatCodec(tokenizer)

    def opened(answer: str) -> str:
        messages = [SYSTEM, HELLO, Message("assistant", answer), *user("And?")]
        return str(tokenizer.decode(codec.opening(messages)))

    assert opened("") == opened("zxz").replace("zxz", "")


REFUSING = (
    "{% for m in messages %}{% if not m.content %}{{ raise_exception('empty') }}{% endif %}"
    "<|im_start|>{{ m.role }}: {{ m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant: {% endif %}"
)


def test_an_empty_answer_before_a_result_may_be_refused_too(
    tokenizer_of: Callable[..., Any],
) -> None:
    tokenizer = tokenizer_of("refusing", REFUSING)
    codec = ChatCodec(tokenizer)
    result = [Message("tool", "42", call_id="c1")]

    ids, messages = play(codec, [HELLO], [("", result), ("Yes.", user("Why?"))])

    assert ids is not None
    assert tokenizer.decode(ids) == tokenizer.decode(codec.opening(messages))


@pytest.mark.parametrize("said", ["Why zqxj7?", "zqxj7", "zqxj7zqxj7zqxj7"])
@pytest.mark.parametrize("name", ["mistral_v3", "mistral_nemo"])
def test_with_an_empty_answer_all_that_others_say_is_shown(
    name: str, said: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    messages = [HELLO, Message("assistant", ""), *user(said)]
    function = {"name": "look", "description": "zqxj7" * 9, "parameters": {"type": "object"}}
    tools = [{"type": "function", "function": function}]

    opened = tokenizer.decode(ChatCodec(tokenizer).opening(messages, tools))

    assert said in opened.partition("</s>")[2]
    assert opened.count("zqxj7") == 9 + said.count("zqxj7")


def test_the_end_of_a_turn_is_not_part_of_its_text(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("qwen3")
    codec = ChatCodec(tokenizer)
    said, end = codec.encode("Yes."), tokenizer.eos_token_id

    assert codec.text([*said, end]) == codec.text(said) == "Yes."
    assert codec.text([end, *said]) == "<|im_end|>Yes."
    assert codec.text([]) == ""


def test_what_the_model_said_keeps_its_spaces(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = copy.copy(tokenizer_of("llama3"))
    tokenizer.clean_up_tokenization_spaces = True  # as the tokenizers of Llama 3 have it
    # From version 5 on transformers does it for other tokenizers alone, unless it is told so.
    tokenizer.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output = True
    codec = ChatCodec(tokenizer)
    said = "[1 , 2] is n't ' s ' !"

    assert tokenizer.decode(codec.encode(said)) != said
    assert codec.text(codec.encode(said)) == codec.decode(codec.encode(said)) == said


def test_a_tokenizer_is_asked_for_what_is_documented_alone() -> None:
    class Plain(Bytes):
        clean_up_tokenization_spaces = False

    codec = ChatCodec(Plain())

    assert codec.decode(codec.encode("[1 , 2]")) == "[1 , 2]"


def test_other_tokens_may_end_a_turn(tokenizer_of: Callable[..., Any]) -> None:
    of_numpy: Any = np.int64(8)
    codec = ChatCodec(tokenizer_of("qwen3"), stop_ids=[7, of_numpy])

    assert codec.text([*codec.encode("Yes."), 7]) == "Yes."
    assert codec.text([*codec.encode("Yes."), 8]) == "Yes."


@pytest.mark.parametrize("name", ["qwen2_5", "llama3", "phi3", "gemma"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    said=st.lists(st.text(st.characters(codec="utf-8"), max_size=30), min_size=1, max_size=4),
    is_closed=st.booleans(),
)
def test_whatever_is_said_the_environment_is_told_apart_from_it(
    name: str, said: list[str], is_closed: bool, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    codec = ChatCodec(tokenizer, on_rewrite="keep")
    end = tokenizer.eos_token_id
    messages, since = [HELLO], 1

    for text in said:
        at = len(messages)
        messages += [Message("assistant", text), *user("Go on.")]
        said_ids = [*codec.encode(text), *([end] if is_closed else [])]
        added = codec.following(messages, since, at, said_ids)
        since = len(messages)

        assert added is not None
        assert (added[0] == end) != (said_ids[-1:] == [end])
        assert tokenizer.decode(added).count("Go on.") == 1
        assert text not in tokenizer.decode(added) or text in shown(tokenizer, user("Go on."))


def test_a_lone_surrogate_is_tokenised_as_the_replacement_character(
    tokenizer_of: Callable[..., Any],
) -> None:
    codec = ChatCodec(tokenizer_of("qwen3"))
    broken = [Message("user", "a\ud800b"), Message("assistant", "Yes."), *user("c\udc41")]
    whole = [Message("user", "a\ufffdb"), Message("assistant", "Yes."), *user("c\ufffd")]
    answer_ids = codec.encode("Yes.")

    assert codec.opening(broken[:1]) == codec.opening(whole[:1])
    assert codec.following(broken, 1, 1, answer_ids) == codec.following(whole, 1, 1, answer_ids)
    assert codec.encode("\ud800") == codec.encode("\ufffd")


# refusals


def test_a_rewrite_can_be_refused(tokenizer_of: Callable[..., Any]) -> None:
    codec = ChatCodec(tokenizer_of("qwen3"), on_rewrite="refuse")

    with pytest.raises(BadArguments, match="rewrites what was said before"):
        play(codec, [HELLO], [(THOUGHT, user("And?"))])


def test_a_template_that_refuses_a_role_is_one_error(tokenizer_of: Callable[..., Any]) -> None:
    codec = ChatCodec(tokenizer_of("gemma"))

    with pytest.raises(BadArguments, match="cannot show the roles system, user"):
        codec.opening([SYSTEM, HELLO])


def test_a_template_without_answers_is_refused(tokenizer_of: Callable[..., Any]) -> None:
    with pytest.raises(BadArguments, match="does not show what was said"):
        ChatCodec(tokenizer_of("deaf", "{{ messages[0].content }}"))


def test_a_tokenizer_without_a_template_is_refused(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = type(tokenizer_of("qwen3"))(tokenizer_object=tokenizer_of("qwen3")._tokenizer)

    with pytest.raises(BadArguments, match="has a chat template that cannot show"):
        ChatCodec(tokenizer)


def test_an_unknown_way_with_rewrites_is_refused(tokenizer_of: Callable[..., Any]) -> None:
    with pytest.raises(BadArguments, match="on_rewrite is 'drop', and must be one of"):
        ChatCodec(tokenizer_of("qwen3"), on_rewrite="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize("stop_ids", [["<|im_end|>"], "<|im_end|>", [3, None], [1.0]])
def test_what_is_no_id_ends_no_turn(stop_ids: Any, tokenizer_of: Callable[..., Any]) -> None:
    with pytest.raises(BadArguments, match=r"stop_ids hold .* and must be ids of tokens"):
        ChatCodec(tokenizer_of("qwen3"), stop_ids=stop_ids)


def test_parts_of_text_are_text_and_images_are_refused(tokenizer_of: Callable[..., Any]) -> None:
    codec = ChatCodec(tokenizer_of("qwen3"))
    parts = Message("user", (TextPart("Hel"), TextPart("lo.")))
    image = Message("user", (ImagePart(b"x"),))

    assert codec.opening([parts]) == codec.opening([Message("user", parts.text)])
    with pytest.raises(BadArguments, match="hold an image"):
        codec.opening([image])


def test_an_image_that_a_tool_returns_is_refused_within_the_tags_too(
    tokenizer_of: Callable[..., Any],
) -> None:
    codec = ChatCodec(tokenizer_of("gemma3"))
    tool = {"type": "function", "function": {"name": "look", "parameters": {}}}
    talk = [
        Message("user", "Look."),
        Message("assistant", "a call"),
        Message("tool", (ImagePart(b"x"),), call_id="c00000000"),
    ]

    assert codec.calling.results == "user"  # in <tool_response>
    with pytest.raises(BadArguments, match="hold an image"):
        codec.following(talk, 1, 1, codec.encode("a call"), [tool])
