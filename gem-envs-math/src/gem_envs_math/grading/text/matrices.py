"""Keep the order of matrices that are multiplied: `A^TA` is not `AA^T`.

An expression's letters commute everywhere else. Knows nothing about values.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.text.tokens import Token

__all__ = ["are_ordered_alike"]

_QUOTIENTS = frozenset(("\\frac", "/"))
_LEFT_OUT = frozenset(("{", "}", "*"))


def are_ordered_alike(a: Sequence[Token], b: Sequence[Token]) -> bool:
    r"""Whether two expressions of equal values multiply matrices in the same order.

    True where they hold no matrices. Matrices are capitals of which one is transposed, or one is
    inverted beside others and nothing is divided: `P^{-1}AP` is not `A`.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> are_ordered_alike(tokenize("A^TA"), tokenize("AA^T"))
    False
    """
    if not (_has_matrices(a) or _has_matrices(b)):
        return True
    return _terms(a) == _terms(b)


def _has_matrices(tokens: Sequence[Token]) -> bool:
    # Upright letters, as in `\\mathrm{~K}^{-1}`, are units.
    texts = ["" if token.kind == "word" else token.text for token in tokens]
    if "^" not in texts or not _QUOTIENTS.isdisjoint(texts):
        return False
    capitals = {char for text in texts if text.isalpha() for char in text if char.isupper()}
    for at, text in enumerate(texts[1:], 1):
        is_base = texts[at - 1] == ")" or texts[at - 1][-1:].isupper()
        if text != "^" or not is_base:
            continue
        exponent = "".join(texts[at + 1 : at + 5]).replace("{", "")
        if exponent.startswith("T") and capitals - {"T"}:
            return True
        if exponent.startswith("-1") and len(capitals) > 1 and texts[at - 1].isupper():
            return True
    return False


def _terms(tokens: Sequence[Token]) -> list[str]:
    """Return the terms of the sum in the order of their texts: sums of matrices have no order."""
    terms = ["+"]
    depth = 0
    for token in tokens:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        is_braced = terms[-1].endswith("^")
        if token.text in ("+", "-") and not depth and not is_braced and terms != ["+"]:
            terms.append(token.text)
        elif token.text not in _LEFT_OUT:
            terms[-1] += token.text
    return sorted(terms)
