r"""Tell a letter that is a factor before a bracket from a function: the g of `g(\sin\theta - \mu)`.

Knows nothing about values.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.text.names import split_letters
from gem_envs_math.grading.text.tokens import Token

__all__ = ["with_factors"]

Tokens = Sequence[Token]

_QUANTITIES = frozenset((*"gGhHFPQ", "\\zeta", "\\Gamma"))
"""Letters of physics that may stand before a bracket as factors; f is always a function."""

_TIMES = Token("sign", "*")
_VARIABLES = frozenset("xyztn")
_SUMS = frozenset(("+", "-"))


def with_factors(a: Tokens, b: Tokens) -> tuple[Tokens, Tokens] | None:
    r"""Return two answers in which a quantity multiplies the sum in the bracket after it, or None.

    A quantity is a letter that stands without a bracket in one of the two at least, and before
    one bracket of each, which holds a sum of no variables: `g(x)`, `g(2)` and `g(x+1)-g(x-1)` are
    a function's values.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> pair = with_factors(tokenize("g(m+M)"), tokenize("gm+gM"))
    >>> ["".join(token.text for token in side) for side in pair or ()]
    ['g*(m+M)', 'gm+gM']
    """
    if not any(token.text == "(" for token in (*a, *b)):
        return None
    sides = tuple(split_letters(a)), tuple(split_letters(b))
    factors = _alone(sides[0]) | _alone(sides[1])
    applied: set[str] = set()
    for side in sides:
        factors -= _functions(side)
        applied |= {side[at].text for at in range(len(side)) if _is_applied(side, at)}
    if factors.isdisjoint(applied):
        return None
    return _multiplied(a, factors), _multiplied(b, factors)


def _is_applied(tokens: Tokens, at: int) -> bool:
    return tokens[at].text in _QUANTITIES and [t.text for t in tokens[at + 1 : at + 2]] == ["("]


def _alone(tokens: Tokens) -> set[str]:
    """Return the quantities that stand somewhere without a bracket after them."""
    return {
        token.text
        for at, token in enumerate(tokens)
        if token.text in _QUANTITIES and not _is_applied(tokens, at)
    }


def _functions(tokens: Tokens) -> set[str]:
    """Return the letters before several brackets, or before one that holds no such sum."""
    before = [at for at in range(len(tokens)) if _is_applied(tokens, at)]
    letters = [tokens[at].text for at in before]
    return {
        tokens[at].text
        for at in before
        if letters.count(tokens[at].text) > 1 or not _holds_sum(tokens, at + 1)
    }


def _holds_sum(tokens: Tokens, at: int) -> bool:
    """Whether a bracket holds a sum, outside of all brackets in it, and no variable."""
    depth = 0
    has_sign = False
    for index in range(at, len(tokens)):
        text = tokens[index].text
        depth += (text in ("(", "{", "[")) - (text in (")", "}", "]"))
        if not depth:
            return has_sign
        if text in _VARIABLES:
            return False
        has_sign |= depth == 1 and text in _SUMS and index > at + 1
    return False


def _multiplied(tokens: Tokens, factors: set[str]) -> Tokens:
    written: list[Token] = []
    for at, token in enumerate(tokens):
        written.append(token)
        is_bracket_next = tokens[at + 1 : at + 2] and tokens[at + 1].text == "("
        # The last of a run of letters, or a letter that is a command.
        letter = token.text[-1:] if token.kind in ("letters", "symbol") else token.text
        if is_bracket_next and letter in factors:
            written.append(_TIMES)
    return written
