r"""Read points with their names and distributions: `P(1,2)`, `X \sim N(0,1)`, `\text{Poisson}(2)`.

A capital before a tuple may be either, so that both are one shape. Knows nothing about values.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.text.splitting import encloses
from gem_envs_math.grading.text.tokens import Token

__all__ = ["FOLLOWS", "head_of"]

FOLLOWS = "\\sim"
"""What stands between a random variable and its distribution."""

_NAMES = {
    "N": ("Normal",),
    "U": ("Uniform", "Unif"),
    "Poisson": ("Pois", "Poi"),
    "Binomial": ("Bin", "Binom"),
    "Geometric": ("Geom", "Geo"),
    "Bernoulli": ("Bern", "Ber"),
    "Exponential": ("Exp", "Expo"),
}
_HEADS = {long: name for name, longs in _NAMES.items() for long in (name, *longs)}


def head_of(tokens: Sequence[Token]) -> str:
    r"""Return the name of a point or of a distribution before its bracket, "" where there is none.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> head_of(tokenize("P(1,2)")), head_of(tokenize("Normal(0,1)")), head_of(tokenize("P(1)"))
    ('P', 'N', '')
    """
    head = tokens[0].text
    is_word = tokens[0].kind in ("letters", "word")
    is_bracketed = len(tokens) > 3 and tokens[1].text == "(" and tokens[-1].text == ")"
    if not is_word or not is_bracketed or not encloses(tokens[1:]):
        return ""
    if len(head) > 1:
        return _HEADS.get(head, "")
    has_comma = any(token.text == "," for token in tokens)
    return head if head.isupper() and has_comma and len(tokens) > 4 else ""
