r"""Take the half-line of what is not negative off a formula: `\lambda e^{-\lambda x}, x \ge 0`.

It is that of time, or of what is distributed: whoever writes a density leaves that out as often
as not. Knows nothing about values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.text.splitting import levels
from gem_envs_math.grading.text.tokens import Token

__all__ = ["without_support"]

_SUPPORT = re.compile(r"(?: (?:,|for|where|with|if|when))+ (?:([xt]) >=? 0|0 <=? ([xt]))")
_SHORTEST = 4  # tokens of a support, at least
_LONGEST = 6  # and at most
_FALLS = ("^ { -", "^ ( -", "\\exp ( -", "exp ( -", "\\exp ( - \\frac")
_RELATIONS = frozenset(("<", ">", "<=", ">=", "!=", "\\in"))


def without_support(tokens: Sequence[Token]) -> Sequence[Token]:
    r"""Return an exponential that falls, or a formula in t, without the half-line that it is on.

    >>> from gem_envs_math.grading.text.spelling import tokens_of
    >>> answer = tokens_of(r"f(x)=e^{-x}, x \ge 0")
    >>> "".join(token.text for token in without_support(answer))
    'f(x)=e^{-x}'
    """
    if len(tokens) < _SHORTEST + 1 or "0" not in (tokens[-1].text, tokens[-3].text):
        return tokens
    for length in range(_SHORTEST, min(_LONGEST, len(tokens) - 1) + 1):
        texts = [token.text for token in tokens]
        match = _SUPPORT.fullmatch(" " + " ".join(texts[-length:]))
        if match is not None:
            rest = tokens[:-length]
            return rest if _is_formula(rest, match[1] or match[2]) else tokens
    return tokens


def _is_formula(tokens: Sequence[Token], symbol: str) -> bool:
    """Whether all that stands before a half-line is one formula that may be on it."""
    texts = [token.text for token in tokens]
    if symbol not in texts or "," in texts or not _RELATIONS.isdisjoint(texts):
        return False
    if symbol == "t":
        return texts.count("=") < 2 and texts[:2] != ["t", "="]
    # What is distributed up to x, `1 - e^{-x}`, is a sum, and defined on both half-lines.
    outer = {text for text, depth in zip(texts, levels(tokens), strict=True) if not depth}
    text = " ".join(texts)
    return outer.isdisjoint(("+", "-")) and any(sign in text for sign in _FALLS)
