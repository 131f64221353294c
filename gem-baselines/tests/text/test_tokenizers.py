from __future__ import annotations

import json
from typing import Any

import pytest

from gem.errors import BadArguments
from gem_baselines.text import ByteTokenizer, Tokenizer, WordTokenizer, tokenizer_from

WORDS = WordTokenizer(["\\boxed{", "}", "higher", "3", "12"])


def test_a_word_a_whole_number_and_a_mark_are_a_token_each() -> None:
    tokenizer = WordTokenizer.of(["Guess 12, or -3."])

    assert tokenizer.vocabulary == ("Guess", "12", ",", "or", "-", "3", ".")


def test_an_entry_of_several_marks_is_one_token() -> None:
    assert WORDS.decode([WORDS.encode("\\boxed{12}")[0]]) == "\\boxed{"
    assert len(WORDS.encode("\\boxed{12}")) == 3


def test_words_come_back_with_a_space_between_them_and_none_at_marks() -> None:
    assert WORDS.decode(WORDS.encode(" \\boxed{ 3  12 }")) == "\\boxed{3 12}"


def test_a_word_outside_the_vocabulary_is_the_unknown_token() -> None:
    assert WORDS.decode(WORDS.encode("123 higher")) == "<unknown>higher"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("-1", "-1"),
        ("-100", "-<unknown>"),
        ("0.5", "0.5"),
        ("0.55", "<unknown>.<unknown>"),
        ("10.5", "<unknown>.<unknown>"),
        ("x's", "x's"),
        ("x'story", "<unknown>'<unknown>"),
        ("0.5x's-1.", "0.5 x's-1."),
    ],
)
def test_an_entry_of_several_marks_is_none_where_a_word_or_a_number_goes_on(
    text: str, read: str
) -> None:
    tokenizer = WordTokenizer(["-1", "0.5", "x's", "-", ".", "'"])

    assert tokenizer.decode(tokenizer.encode(text)) == read


@pytest.mark.parametrize("tokenizer", [WORDS, ByteTokenizer()])
@pytest.mark.parametrize("text", ["<end><begin>", "\ud800", "\x00\x01\x02\x03", "_é١😀"])
def test_no_text_gives_a_special_id(tokenizer: Tokenizer, text: str) -> None:
    special = {tokenizer.begin_id, tokenizer.answer_id, tokenizer.end_id}

    assert special.isdisjoint(tokenizer.encode(text))


def test_a_megabyte_of_anything_is_tokenised() -> None:
    assert len(WORDS.encode("\\" * 500_000 + "_{" * 250_000)) == 1_000_000


def test_bytes_come_back_as_they_were() -> None:
    tokenizer = ByteTokenizer()
    ids = tokenizer.encode("né\n😀")

    assert tokenizer.decode([*ids, tokenizer.end_id]) == "né\n😀"
    assert tokenizer.decode(ids[:2]) == "n\ufffd"
    assert max(ids) < tokenizer.size == 259


@pytest.mark.parametrize("tokenizer", [WORDS, ByteTokenizer()])
def test_a_description_makes_an_equal_tokenizer(tokenizer: Tokenizer) -> None:
    again = tokenizer_from(json.loads(json.dumps(tokenizer.describe())))

    assert again.encode("\\boxed{12}") == tokenizer.encode("\\boxed{12}")
    assert again.size == tokenizer.size


@pytest.mark.parametrize(
    "description",
    [{}, {"kind": "words"}, {"kind": "bytes", "texts": []}, "bytes", 5, ["a"], None],
)
def test_what_describes_no_tokenizer_is_refused(description: Any) -> None:
    with pytest.raises(BadArguments, match=r'describes none\. Give {"kind": "bytes"}'):
        tokenizer_from(description)


def test_a_tokenizer_describes_itself() -> None:
    assert tokenizer_from(WORDS) is WORDS


@pytest.mark.parametrize("vocabulary", [["a", "a"], ["a", " "], []])
def test_a_vocabulary_with_nothing_or_a_word_twice_is_refused(vocabulary: list[str]) -> None:
    with pytest.raises(BadArguments, match="a list of different words"):
        WordTokenizer(vocabulary)
