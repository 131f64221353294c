r"""Tell what stands before an answer and is no part of it: a heading, a name, what is to be done.

Knows nothing about shapes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.text.names import DENIALS
from gem_envs_math.grading.text.tokens import Token

__all__ = ["has_derivative", "is_labelled", "without_heading"]

Tokens = Sequence[Token]

_CARRYING = re.compile(
    r"(?:(?:so|thus|hence|therefore) )?"
    r"(?:(?:the )?(?:final )?(?:answer|result) is|it is|there (?:is|are)|exactly)"
)
"""Words that say nothing of the answer after them, if no other word stands between."""


def without_heading(tokens: Tokens) -> Tokens:
    r"""Return tokens without the words and the colon before an answer: `\text{Maximum: } 5`.

    Words that only carry it have no colon: `\text{The answer is } 5`.
    """
    words = _leading_words(tokens)
    if len(words) < len(tokens) and _CARRYING.fullmatch(" ".join(words)):
        return tokens[len(words) :]
    at = next((index for index, token in enumerate(tokens) if token.text == ":"), 0)
    is_heading = all(token.kind == "word" and len(token.text) > 2 for token in tokens[:at])
    is_heading &= all(token.text.casefold() not in DENIALS for token in tokens[:at])
    return tokens[at + 1 :] if at and is_heading and at + 1 < len(tokens) else tokens


def _leading_words(tokens: Tokens) -> list[str]:
    words: list[str] = []
    for token in tokens:
        if token.kind not in ("word", "letters") or len(token.text) < 2:
            break
        words.append(token.text.casefold())
    return words


def is_labelled(tokens: Tokens) -> bool:
    """Whether the name of a line or a circle stands before its equation: `l: x + y = 1`."""
    is_name = len(tokens) > 4 and tokens[0].kind == "letters" and tokens[1].text == ":"
    return is_name and len(tokens[0].text) == 1 and any(token.text == "=" for token in tokens)


def has_derivative(tokens: Tokens) -> bool:
    r"""Whether `\frac{d}{dx}` stands before something: as a fraction it would be 1/x."""
    texts = [token.text for token in tokens]
    for at, text in enumerate(texts):
        below = "".join(texts[at + 5 : at + 7])
        is_operator = text == "\\frac" and texts[at + 1 : at + 5] == ["{", "d", "}", "{"]
        if is_operator and below.startswith("d"):
            return True
    return False
