"""Write intervals with brackets that are turned outwards in the usual ones: `]2,3]` is `(2,3]`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gem_envs_math.grading.text.tokens import CLOSERS, OPENERS, Token

__all__ = ["turned"]

_ROUND = {"]": Token("sign", "("), "[": Token("sign", ")")}
_SEPARATORS = frozenset((",", ";"))
_BETWEEN = frozenset(("\\cup", "U", ",", "or", "and", ";"))


def turned(tokens: list[Token]) -> list[Token]:
    """Return tokens with usual brackets, if all square ones are those of intervals.

    Of `[1,2[` one bracket is turned; of a list in a list, `[1,[2,3]]`, none is.
    """
    at = [index for index, token in enumerate(tokens) if token.text in _ROUND]
    pairs = list(zip(at[::2], at[1::2], strict=False))
    is_usual = all((tokens[i].text, tokens[j].text) == ("[", "]") for i, j in pairs)
    if is_usual or len(at) % 2 or not all(_is_interval(tokens[i + 1 : j]) for i, j in pairs):
        return tokens
    gaps = [tokens[j + 1 : i] for (_, j), (i, _) in pairwise(pairs)]
    has_outside = at[-1] + 1 < len(tokens) and tokens[at[-1] + 1].text not in _BETWEEN | {"."}
    if has_outside or not all(gap and gap[0].text in _BETWEEN for gap in gaps):
        return tokens
    written = list(tokens)
    for low, high in pairs:
        if tokens[low].text == "]":
            written[low] = _ROUND["]"]
        if tokens[high].text == "[":
            written[high] = _ROUND["["]
    return written


def _is_interval(inside: Sequence[Token]) -> bool:
    """Whether two ends stand between brackets, and what is open there is closed there."""
    depth = 0
    separators = []
    for index, token in enumerate(inside):
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
        if depth < 0:
            return False
        if not depth and token.text in _SEPARATORS:
            separators.append(index)
    return not depth and len(separators) == 1 and 0 < separators[0] < len(inside) - 1
