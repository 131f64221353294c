"""A tokenizer of words, for policies whose vocabulary is small and known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from gem.errors import BadArguments

__all__ = ["WordTokenizer"]

_PIECE = r"\\?[^\W\d_]+|\d+|[^\w\s]|_"
"""A word, with a backslash where one stands before it; a whole number; a punctuation mark."""
_UNKNOWN = "<unknown>"
_NUM_SPECIAL = 4


class WordTokenizer:
    r"""One token a word, a whole number or a punctuation mark; white space is none.

    `vocabulary` lists the texts that have a token, each once. One that holds several words or
    marks, such as `\boxed{`, is one token wherever it stands, but where it would end within a word
    or a number: `-1` is none in `-100`. Every other word, number or mark is the token `<unknown>`.
    Upper and lower case differ. Ids are fixed by the vocabulary's order.

    `decode` puts a space between two words or numbers and nothing else, so it gives back such
    texts as `\boxed{3 5}` and no layout.

    >>> tokenizer = WordTokenizer(["\\boxed{", "}", "12", "higher"])
    >>> tokenizer.encode("\\boxed{12} is higher")
    [4, 6, 5, 0, 7]
    >>> tokenizer.decode([4, 6, 5, 7, 7])
    '\\boxed{12}higher higher'

    Raises BadArguments for a vocabulary without a text, with an empty one, or with one twice.
    """

    begin_id = 1
    answer_id = 2
    end_id = 3

    def __init__(self, vocabulary: Sequence[str]) -> None:
        _check(vocabulary)
        self.vocabulary = tuple(vocabulary)
        self._texts = (_UNKNOWN, "", "", "", *self.vocabulary)
        self._ids = {text: _NUM_SPECIAL + place for place, text in enumerate(self.vocabulary)}
        # The longest first: a regular expression takes the first alternative that fits.
        several = [text for text in self.vocabulary if not re.fullmatch(_PIECE, text)]
        several.sort(key=len, reverse=True)
        self._pieces = re.compile("|".join([*map(_whole, several), _PIECE]))

    @classmethod
    def of(cls, texts: Iterable[str]) -> WordTokenizer:
        """Return one that knows all words, numbers and marks of some texts.

        >>> WordTokenizer.of(["Guess 1 or 2.", "Guess 3."]).vocabulary
        ('Guess', '1', 'or', '2', '.', '3')
        """
        words: dict[str, None] = {}  # in the order in which they appear, each once
        for text in texts:
            words.update(dict.fromkeys(re.findall(_PIECE, text)))
        return cls(tuple(words))

    @property
    def size(self) -> int:
        return len(self._texts)

    def encode(self, text: str) -> list[int]:
        return [self._ids.get(piece, 0) for piece in self._pieces.findall(text)]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids. An unknown word is `<unknown>`; special ids are left out."""
        text: list[str] = []
        for each in ids:
            piece = self._texts[each]
            if not piece:
                continue
            if text and text[-1][-1].isalnum() and piece[0].isalnum():
                text.append(" ")
            text.append(piece)
        return "".join(text)

    def describe(self) -> dict[str, Any]:
        return {"kind": "words", "vocabulary": list(self.vocabulary)}


def _whole(text: str) -> str:
    """Return a pattern of a text that does not end within a word or a number.

    It cannot begin within one: what stands before is read first, and whole.
    """
    last = text[-1]
    if last.isdecimal():
        return rf"{re.escape(text)}(?!\d)"
    if last.isalpha():
        return rf"{re.escape(text)}(?![^\W\d_])"
    return re.escape(text)


def _check(vocabulary: Sequence[str]) -> None:
    wrong = ""
    if not vocabulary:
        wrong = "no entry"
    elif not all(text.strip() for text in vocabulary):
        wrong = "an empty entry"
    elif len(set(vocabulary)) < len(vocabulary):
        wrong = "an entry twice"
    if wrong:
        raise BadArguments(
            f"A vocabulary was given that has {wrong}. Give a list of different words, or use "
            "WordTokenizer.of(texts).",
            subject="vocabulary",
        )
