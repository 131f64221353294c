"""Make a tokenizer from JSON data, as a file of settings holds it."""

from __future__ import annotations

from gem.errors import BadArguments
from gem_baselines.text._bytes import ByteTokenizer
from gem_baselines.text._tokenizer import Tokenizer
from gem_baselines.text._words import WordTokenizer

__all__ = ["tokenizer_from"]


def tokenizer_from(description: object) -> Tokenizer:
    """Return the tokenizer that JSON data describes; one that is a tokenizer already is itself.

    A description is `{"kind": "bytes"}`, `{"kind": "words", "vocabulary": [...]}`, or
    `{"kind": "words", "texts": [...]}`, which knows the words of those texts. Raises BadArguments
    on any other.

    >>> tokenizer_from({"kind": "words", "texts": ["1 2 3"]}).size
    7
    """
    match description:
        case Tokenizer():
            return description
        case {"kind": "bytes", **others} if not others:
            return ByteTokenizer()
        case {"kind": "words", "vocabulary": list(vocabulary), **others} if not others:
            return WordTokenizer(list(map(str, vocabulary)))
        case {"kind": "words", "texts": list(texts), **others} if not others:
            return WordTokenizer.of(map(str, texts))
    raise BadArguments(
        f"{description!r:.80} was given as a tokenizer, and describes none. Give "
        '{"kind": "bytes"}, {"kind": "words", "vocabulary": [...]} or {"kind": "words", '
        '"texts": [...]}.',
        subject="tokenizer",
    )
