"""What stands behind an answer: where the model's turn is closed, and where no text begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from gem import Message
from gem.tokens import ChatCodec, OnRewrite

from .conversations import HELLO, Bytes, play, shown, user

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


@pytest.mark.parametrize("role", ["user", "tool"])
def test_what_comes_back_may_hold_the_mark_any_number_of_times(
    role: Literal["user", "tool"], tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of("qwen3")
    codec = ChatCodec(tokenizer)
    told = [Message(role, "zqxj7" * 20_000, call_id="c1" if role == "tool" else None)]

    ids, messages = play(codec, [HELLO], [("One.", told), ("", told), ("Two.", user("And?"))])

    assert ids == codec.opening(messages)


def test_a_user_may_say_what_templates_are_tried_with(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("qwen3")
    codec = ChatCodec(tokenizer, on_rewrite="keep")
    thought = "<think>\nHm.\n</think>\n\nYes."
    messages = [HELLO, Message("assistant", thought), *user("Why zqxj7?")]

    added = codec.following(messages, 1, 1, codec.encode(thought))

    assert added is not None
    assert "user\nWhy zqxj7?<|im_end|>" in tokenizer.decode(added)


BEGUN_ALIKE = {
    "glm4moe": ["\n<think>", "\n"],
    "gptoss": ["<", "<|channel|>"],
    "qwen3_training": ["<", "<think>", "<think>\n"],
}
"""Answers with which begins what a template writes before them."""


@pytest.mark.parametrize(
    ("name", "said"), [(name, said) for name in BEGUN_ALIKE for said in BEGUN_ALIKE[name]]
)
def test_an_answer_is_not_taken_for_the_beginning_of_what_the_template_writes(
    name: str, said: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    messages = [HELLO, Message("assistant", said), *user("And?")]
    codecs = {way: ChatCodec(tokenizer, on_rewrite=way) for way in ("split", "keep")}
    answer_ids = [*codecs["keep"].encode(said), min(codecs["keep"].stop_ids)]

    assert codecs["split"].following(messages, 1, 1, answer_ids) is None
    kept = codecs["keep"].following(messages, 1, 1, answer_ids)
    assert tokenizer.decode(kept).count("think") <= 1
    assert "channel" not in tokenizer.decode(kept)


@pytest.mark.parametrize("said", ["Yes.", "<think>\nSo.\n</think>\n\nYes."])
def test_an_empty_thought_before_the_last_answer_is_a_rewrite(
    said: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of("qwen3_training")
    codec = ChatCodec(tokenizer)

    ids, _ = with_results(codec, ["<think>\nHm.\n</think>\n\nCall.", said])

    assert (ids is None) == (said == "Yes.")


TRIMMING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}: {{ m.content.strip() }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant: {% endif %}"
)


@pytest.mark.parametrize("place", range(4))
def test_a_trimmed_answer_between_results_is_no_rewrite(
    place: int, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of("trimming", TRIMMING)
    codec = ChatCodec(tokenizer)
    said = ["One.", "Two.", "Three.", "Four."]
    said[place] = "  x "
    turns = [(text, [Message("tool", "42", call_id="c1")]) for text in said[:-1]]

    ids, messages = play(codec, [HELLO], [*turns, (said[-1], user("And?"))])

    assert ids is not None
    trimmed = tokenizer.decode(codec.opening(messages))
    assert tokenizer.decode(ids) == trimmed.replace("x</s>", "  x </s>")


@pytest.mark.parametrize("said", ["Yes.", "Yes.\n"])
def test_white_space_that_a_template_trims_and_writes_is_not_written_twice(
    said: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of("lines", TRIMMING.replace("</s>", "\n</s>"))
    codec = ChatCodec(tokenizer)

    ids, messages = play(codec, [HELLO], [(said, user("Two?")), ("Three.", user("Four?"))])

    assert ids == codec.opening(messages)


OPENED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}: "
    "{% if '</think>' in m.content %}<think>{% endif %}{{ m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant: <think>{% endif %}"
)
"""Opens with reasoning, and keeps it where there is some."""


def test_what_a_template_puts_into_the_mouth_of_the_model_may_stay(
    tokenizer_of: Callable[..., Any],
) -> None:
    codec = ChatCodec(tokenizer_of("opened", OPENED))
    result = [Message("tool", "42", call_id="c1")]

    said = [f"Hm.</think>{number}" for number in range(3)]

    ids, messages = play(
        codec, [HELLO], [(said[0], result), (said[1], result), (said[2], user("And?"))]
    )

    assert ids == codec.opening(messages)


FORGETTING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}: "
    "{{ m.content.split('</think>')[-1] if loop.revindex > 3 else m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant: {% endif %}"
)
"""Drops the reasoning of all but the last messages, whoever speaks."""


@pytest.mark.parametrize("place", [None, 0, 1, 2])
def test_what_was_dropped_before_the_last_answer_is_a_rewrite(
    place: int | None, tokenizer_of: Callable[..., Any]
) -> None:
    codec = ChatCodec(tokenizer_of("forgetting", FORGETTING))
    said = ["One.", "Two.", "Three.", "Four."]
    if place is not None:
        said[place] = "<think>Hm.</think>Yes."
    turns = [(text, [Message("tool", "42", call_id="c1")]) for text in said[:-1]]

    ids, _ = play(codec, [HELLO], [*turns, (said[-1], user("And?"))])

    assert (ids is None) == (place is not None)


NOT_TWICE = (
    "{% set ns = namespace(said='') %}{% for m in messages %}"
    "{% if m.role != 'assistant' or m.content != ns.said %}"
    "<|im_start|>{{ m.role }}: {{ m.content }}</s>{% endif %}"
    "{% if m.role == 'assistant' %}{% set ns.said = m.content %}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant: {% endif %}"
)
"""Drops an answer that is the same as the one before it."""


@pytest.mark.parametrize(
    ("said", "is_rewrite"),
    [
        (["One.", "Two.", "Three."], False),
        (["One.", "Two.", "One."], False),
        (["One.", "One.", "Two."], True),
        (["Zero.", "One.", "One.", "Two."], True),
        (["One.", "Two.", "Two."], True),
    ],
)
def test_an_answer_that_is_dropped_is_not_taken_for_one_that_is_the_same(
    said: list[str], is_rewrite: bool, tokenizer_of: Callable[..., Any]
) -> None:
    codec = ChatCodec(tokenizer_of("not_twice", NOT_TWICE))
    *called, last = said
    turns = [(text, [Message("tool", "42", call_id="c1")]) for text in called]

    ids, _ = play(codec, [HELLO], [*turns, (last, user("And?"))])

    assert (ids is None) == is_rewrite


CUT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}: "
    "{{ m.content.split('|')[0] if m.role == 'assistant' and messages[-1].role == 'user' "
    "else m.content }}|</s>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant: {% endif %}"
)
"""Cuts answers once a user speaks, and writes what it cut at behind each."""


@pytest.mark.parametrize("earlier", [[], ["One."]])
def test_an_answer_ends_where_the_same_follows_it_as_follows_any(
    earlier: list[str], tokenizer_of: Callable[..., Any]
) -> None:
    codec = ChatCodec(tokenizer_of("cut", CUT))

    whole, _ = with_results(codec, [*earlier, "Two."])
    cut, _ = with_results(codec, [*earlier, "Two.|"])

    assert whole is not None
    assert cut is None


class Dated(Bytes):
    """Begins with the date: it is the first some times more, and then the second."""

    times_left = 1_000

    def apply_chat_template(self, conversation: Any, **options: Any) -> str:
        self.times_left -= 1
        date = "the first" if self.times_left >= 0 else "the second"
        return f"{date}\n{super().apply_chat_template(conversation, **options)}"


@pytest.mark.parametrize("times_left", range(10))
def test_a_date_may_change_while_a_template_is_tried(times_left: int) -> None:
    tokenizer = Dated()
    codec = ChatCodec(tokenizer, on_rewrite="refuse")
    messages = [HELLO, Message("assistant", "Yes."), *user("And?")]

    tokenizer.times_left = times_left
    first = codec.following(messages, 1, 1, codec.encode("Yes."))
    second = codec.following(messages, 1, 1, codec.encode("Yes."))

    assert first == second == codec.encode("\nuser: And?\nassistant: ")
