"""Compare words with words, and with letters that a formula may hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.reading.shapes import Scalar, Words
from gem_envs_math.grading.reading.wording import folded
from gem_envs_math.grading.text.tokens import Token

__all__ = ["same_words", "words_scalar"]

_UNSPACED = re.compile(r"(?<![0-9]) | (?![0-9])")
"""A space that says nothing: `non zero` is `nonzero`, but `1 2` is not `12`."""

_LONGEST_PRODUCT = 4  # of letters side by side: `xyz` is `zyx`, but `listen` is not `silent`


def same_words(a: Words, b: Words) -> bool:
    """Whether two answers in words are the same, but for spaces that say nothing."""
    first = _UNSPACED.sub("", a.text)
    second = _UNSPACED.sub("", b.text)
    if first == second:
        return True
    is_product = a.is_plain and b.is_plain and len(a.text) <= _LONGEST_PRODUCT
    return is_product and sorted(first) == sorted(second)


def words_scalar(a: Words, b: Scalar) -> bool:
    r"""Compare letters with letters: `\text{C}` and `C`; a formula is never words.

    But three or four letters outside of `\text{}` may be a product: `xyz` is `x \cdot y \cdot z`.
    """
    tokens = [token._replace(text=token.text.casefold()) for token in b.tokens]
    if len(tokens) == 1 and tokens[0].kind in ("letters", "word") and tokens[0].text == a.text:
        return True
    if _is_text(b.tokens) and folded(b.tokens) == a.text:
        return True  # `no` is no product of n and o
    if not a.is_plain or len(a.text) > _LONGEST_PRODUCT or b.unit is not None:
        return False
    is_product = all(token.kind == "letters" or token.text == "*" for token in tokens)
    letters = "".join(token.text for token in tokens if token.kind == "letters")
    return is_product and sorted(letters) == sorted(a.text)


_LONG = 4  # letters of a word that a product seldom has: `reject H_0` is in words, `CO_2` is not


def _is_text(tokens: Sequence[Token]) -> bool:
    kinds = ("letters", "word", "number")
    has_long = any(token.kind == "letters" and len(token.text) >= _LONG for token in tokens)
    is_text = all(token.kind in kinds or token.text in "_{}" for token in tokens)
    return is_text and (len(tokens) == 1 or has_long)
