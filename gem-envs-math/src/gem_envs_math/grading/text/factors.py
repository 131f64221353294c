r"""Tell a letter that is a factor before a bracket from a function: the g of `g(\sin\theta - \mu)`.

Knows nothing about values.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.text.names import split_letters
from gem_envs_math.grading.text.tokens import Token

__all__ = ["with_factors"]

Tokens = Sequence[Token]

_QUANTITIES = frozenset("gGhHFPQ")
"""Letters of physics that may stand before a bracket as factors; f is always a function."""

_TIMES = Token("sign", "*")
_SUMS = frozenset(("+", "-"))


def with_factors(a: Tokens, b: Tokens) -> tuple[Tokens, Tokens] | None:
    r"""Return two answers in which a quantity multiplies the sum in the bracket after it, or None.

    A quantity is a letter that stands without a bracket in one of the two at least, and before
    no bracket that holds anything but a sum: `g(x)` and `g(2)` are a function's values.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> pair = with_factors(tokenize("g(m+M)"), tokenize("gm+gM"))
    >>> ["".join(token.text for token in side) for side in pair or ()]
    ['g*(m+M)', 'gm+gM']
    """
    sides = tuple(split_letters(a)), tuple(split_letters(b))
    before_sums: set[str] = set()
    before_others: set[str] = set()
    alone: set[str] = set()
    for side in sides:
        for at, token in enumerate(side):
            if token.text not in _QUANTITIES:
                continue
            if side[at + 1 : at + 2] and side[at + 1].text == "(":
                is_sum = _holds_sum(side, at + 1)
                (before_sums if is_sum else before_others).add(token.text)
            else:
                alone.add(token.text)
    factors = (before_sums & alone) - before_others
    if not factors:
        return None
    return _multiplied(a, factors), _multiplied(b, factors)


def _holds_sum(tokens: Tokens, at: int) -> bool:
    """Whether a bracket holds a sum, outside of all brackets in it."""
    depth = 0
    for index in range(at, len(tokens)):
        text = tokens[index].text
        depth += (text in ("(", "{", "[")) - (text in (")", "}", "]"))
        if not depth:
            return False
        if depth == 1 and text in _SUMS and index > at + 1:
            return True
    return False


def _multiplied(tokens: Tokens, factors: set[str]) -> Tokens:
    written: list[Token] = []
    for at, token in enumerate(tokens):
        written.append(token)
        is_bracket_next = tokens[at + 1 : at + 2] and tokens[at + 1].text == "("
        if is_bracket_next and token.kind in ("letters", "symbol") and token.text[-1:] in factors:
            written.append(_TIMES)
    return written
