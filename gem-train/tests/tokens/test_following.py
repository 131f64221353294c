"""What stands behind an answer: where the model's turn is closed, and where no text begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gem import Message
from gem.tokens import ChatCodec, OnRewrite

from .conversations import HELLO, play, shown, user

UNCLOSED = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}"
    "{% if m.role == 'user' %}<|im_start|>{% endif %}{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
"""Closes what a user says by a token, and what the model says by none."""

RESULTS_UNCLOSED = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}"
    "{% if m.role == 'user' or not loop.last and messages[loop.index].role == 'user' %}</s>"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
)
"""Closes a turn by a token before a user alone."""


@pytest.fixture(scope="session")
def tokenizer_with_spaces() -> Callable[[str], Any]:
    """Return a function that gives a tokenizer which, as SentencePiece, puts a space before a text.

    A 7 and the ! behind it are one token.
    """
    pytest.importorskip("transformers")
    return _tokenizer_with_spaces


def _tokenizer_with_spaces(template: str) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = ["\u2581", "\n", *map(chr, range(33, 127)), "7!"]
    vocabulary = {letter: at for at, letter in enumerate(letters)}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=[("7", "!")]))
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    inner.decoder = decoders.Metaspace()
    make: Any = PreTrainedTokenizerFast  # untyped
    tokenizer = make(tokenizer_object=inner, eos_token="</s>")
    tokenizer.chat_template = template
    return tokenizer


@pytest.mark.parametrize("end", ["</s>", "<|im_start|>"])
@pytest.mark.parametrize("said", ["ok", "</s>", "the </s> end", "<|im_start|></s>"])
def test_no_token_in_an_observation_closes_the_turn_of_the_model(
    said: str, end: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of("unclosed", UNCLOSED)
    codec = ChatCodec(tokenizer)

    answer_ids = codec.encode(f"Yes.{end}")

    added = codec.following([HELLO, Message("assistant", "Yes."), *user(said)], 1, 1, answer_ids)

    assert tokenizer.decode(added) == f"\nuser: {said}<|im_start|>\nassistant:"
    assert codec.stop_ids == {tokenizer.eos_token_id}


def test_a_template_may_close_a_turn_before_a_user_alone(
    tokenizer_of: Callable[..., Any],
) -> None:
    tokenizer = tokenizer_of("results_unclosed", RESULTS_UNCLOSED)
    codec = ChatCodec(tokenizer)
    result = [Message("tool", "</s>42", call_id="c1")]
    ending = [tokenizer.eos_token_id]

    ids, _ = play(codec, [HELLO], [("Look.", result), ("42.", user("And?"))], ending=ending)

    assert ids is not None
    assert tokenizer.decode(ids) == (
        "user: Hello.</s>assistant:Look.</s>tool: </s>42assistant:42.</s>user: And?</s>assistant:"
    )


CLOSED_TWICE = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}"
    "{% if m.role == 'assistant' %}<|end_header_id|>{% endif %}</s>{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
"""Closes the model's turn by two tokens, as Cohere's for Command R7B does."""


@pytest.mark.parametrize("end", ["", "<|end_header_id|>", "<|end_header_id|></s>"])
def test_a_turn_that_two_tokens_close_is_closed_once(
    end: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of("closed_twice", CLOSED_TWICE)
    codec = ChatCodec(tokenizer, on_rewrite="refuse")
    answer_ids = codec.encode(f"Yes.{end}")
    answer = codec.message(answer_ids)

    added = codec.following([HELLO, answer, *user("And?")], 1, 1, answer_ids)

    assert added is not None
    assert answer.text == "Yes."
    assert tokenizer.decode([*answer_ids, *added]) == (
        "Yes.<|end_header_id|></s>user: And?</s>assistant: "
    )


SPACED = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}BETWEEN{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


@pytest.mark.parametrize("between", ["\n", " ", "##", "</s>", "\n</s>"])
def test_behind_an_answer_no_text_begins_for_a_tokenizer_that_shows_where_one_does(
    between: str, tokenizer_with_spaces: Callable[[str], Any]
) -> None:
    tokenizer = tokenizer_with_spaces(SPACED.replace("BETWEEN", between))
    codec = ChatCodec(tokenizer)

    ids, messages = play(codec, [HELLO], [(" One.", user("Two?")), (" Three", user("Five?"))])

    as_said = [Message(message.role, message.text.strip()) for message in messages]
    assert ids == codec.encode(shown(tokenizer, as_said))


def test_what_cannot_be_cut_off_behind_the_mark_is_tokenised_as_a_text_of_its_own(
    tokenizer_with_spaces: Callable[[str], Any],
) -> None:
    codec = ChatCodec(tokenizer_with_spaces(SPACED.replace("BETWEEN", "!")))

    added = codec.following([HELLO, Message("assistant", "Yes."), *user("And?")], 1, 1, [5])

    assert added == codec.encode("!user: And?!assistant:")


DATED = (
    "Today is {{ today.date }}.{% for m in messages %}<|im_start|>{{ m.role }}: "
    "{{ m.content.split('</think>')[-1] if m.role == 'assistant' else m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant: {% endif %}"
)
"""Begins with the date, as Llama 3.2's and gpt-oss's do, and drops reasoning."""


@pytest.mark.parametrize("on_rewrite", ["split", "refuse", "keep"])
def test_a_date_that_changes_is_no_rewrite(
    on_rewrite: OnRewrite, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of("dated", DATED)
    today = {"date": "the first"}
    codec = ChatCodec(tokenizer, on_rewrite=on_rewrite, template_options={"today": today})
    messages = [HELLO, Message("assistant", "Yes."), *user("And?")]
    begun = codec.opening([HELLO])
    before = codec.following(messages, 1, 1, codec.encode("Yes."))

    today["date"] = "the second"

    assert codec.following(messages, 1, 1, codec.encode("Yes.")) == before
    assert "the second" in tokenizer.decode(codec.opening([HELLO]))
    assert tokenizer.decode(begun).startswith("Today is the first.")


def test_a_rewrite_is_one_on_every_day(tokenizer_of: Callable[..., Any]) -> None:
    today = {"date": "the first"}
    codec = ChatCodec(tokenizer_of("dated", DATED), template_options={"today": today})
    thought = "<think>Hm.</think>Yes."
    messages = [HELLO, Message("assistant", thought), *user("And?")]

    assert codec.following(messages, 1, 1, codec.encode(thought)) is None
    today["date"] = "the second"
    assert codec.following(messages, 1, 1, codec.encode(thought)) is None


TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]


def with_results(
    codec: ChatCodec, said: list[str], shown: str = "Four: 42."
) -> tuple[list[int] | None, list[Message]]:
    """Return all tokens where tools return what is shown to all that is said but the last.

    A user speaks behind that. None where that is a rewrite; no earlier one may be.
    """
    messages = [HELLO]
    ids = codec.opening(messages, TOOLS)
    for text in said:
        at = len(messages)
        is_last = len(messages) == 2 * len(said) - 1
        result = Message("tool", shown, call_id="c1")
        messages += [Message("assistant", text), *(user("And?") if is_last else [result])]
        answer_ids = [*codec.encode(text), min(codec.stop_ids)]
        added = codec.following(messages, 1, at, answer_ids, TOOLS)
        if is_last and added is None:
            return None, messages
        assert added is not None
        ids += [*answer_ids, *added]
    return ids, messages


@pytest.mark.parametrize("answer", ["42", "a", "user", "."])
@pytest.mark.parametrize("name", ["gemma3", "lfm2", "llama3", "phi3", "qwen2_5", "qwen3"])
def test_an_answer_is_not_taken_for_the_same_words_before_it(
    name: str, answer: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    codec = ChatCodec(tokenizer)

    ids, messages = with_results(codec, ["Two.", "Three.", answer])

    assert ids is not None
    assert tokenizer.decode(ids) == tokenizer.decode(codec.opening(messages, TOOLS))


@pytest.mark.parametrize("place", range(3))
def test_reasoning_is_looked_for_in_all_that_was_said_since_a_user_spoke(
    place: int, tokenizer_of: Callable[..., Any]
) -> None:
    said = ["One.", "Two.", "Three."]
    said[place] = "<think>\nHm.\n</think>\n\nYes."

    ids, _ = with_results(ChatCodec(tokenizer_of("qwen3")), said)

    assert ids is None


@pytest.mark.parametrize("shown", ["zqxj7", "a zqxj7zqxj7 b", "<|im_end|>zqxj7"])
@pytest.mark.parametrize("name", ["gemma3", "qwen2_5", "qwen3"])
def test_a_result_may_hold_what_templates_are_tried_with(
    name: str, shown: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    codec = ChatCodec(tokenizer)

    ids, messages = with_results(codec, ["Two.", "Three.", "One."], shown)

    assert ids is not None
    assert tokenizer.decode(ids) == tokenizer.decode(codec.opening(messages, TOOLS))


def test_a_user_may_say_what_templates_are_tried_with(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("qwen3")
    codec = ChatCodec(tokenizer, on_rewrite="keep")
    thought = "<think>\nHm.\n</think>\n\nYes."
    messages = [HELLO, Message("assistant", thought), *user("Why zqxj7?")]

    added = codec.following(messages, 1, 1, codec.encode(thought))

    assert added is not None
    assert "user\nWhy zqxj7?<|im_end|>" in tokenizer.decode(added)
