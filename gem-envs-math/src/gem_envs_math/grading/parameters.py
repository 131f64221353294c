r"""Take the words off an answer that say that a letter is any integer: `k\pi, k \in \mathbb{Z}`.

The letter is called k from then on: who writes n means the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.names import is_known
from gem_envs_math.grading.tokens import Token

__all__ = ["without_integers"]

_LETTER = "([a-z])"
_SAYS_INTEGER = re.compile(
    rf"(?: (?:,|;|\(|for|where|with|any|all|every|some|and|\||:))+"
    rf"(?: {_LETTER} \\in \\mathbb {{ Z }}"
    rf"| {_LETTER} (?:is )?(?:an |any )?integers?"
    rf"| integers? {_LETTER})(?: \))?"
)
_NAME = "k"
_LONGEST = 16  # tokens


def without_integers(tokens: Sequence[Token]) -> Sequence[Token]:
    r"""Return tokens without the condition at their end, and the letter as k.

    >>> from gem_envs_math.grading.spelling import tokens_of
    >>> answer = tokens_of(r"x = n\pi, n \in \mathbb{Z}")
    >>> [token.text for token in without_integers(answer)]
    ['x', '=', 'k', '\\pi']
    """
    texts = [token.text for token in tokens]
    if "\\mathbb" not in texts and "integer" not in texts and "integers" not in texts:
        return tokens
    for start in range(max(1, len(texts) - _LONGEST), len(texts)):
        found = _SAYS_INTEGER.fullmatch(" " + " ".join(texts[start:]))
        if found is not None:
            letter = found[1] or found[2] or found[3]
            return _renamed(tokens[:start], letter) or tokens
    return tokens


def _renamed(tokens: Sequence[Token], letter: str) -> Sequence[Token]:
    """Return tokens with a letter called k; [] where it is not there, or another k is."""
    letters = "".join(token.text for token in tokens if _is_product(token))
    if letter not in letters or (letter != _NAME and _NAME in letters):
        return []
    return [
        token._replace(text=token.text.replace(letter, _NAME)) if _is_product(token) else token
        for token in tokens
    ]


def _is_product(token: Token) -> bool:
    return token.kind == "letters" and not is_known(token.text)
