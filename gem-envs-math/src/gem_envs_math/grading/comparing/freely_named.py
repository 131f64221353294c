r"""Tell whether two names are another's spelling where one formula alone is the answer.

`Q=mc\Delta T` is `q=mc\Delta T`, and `T(x,t)` names the wave that `u(x,t)` is. In a list a name
says which is which, so this is for single answers only. Knows nothing about values.
"""

from __future__ import annotations

import re

from gem_envs_math.grading.reading.shapes import Named, Scalar
from gem_envs_math.grading.text.names import split_letters

__all__ = ["are_freely_named"]

_STATISTICS = (
    frozenset(("\\mu", "\\barx", "\\barX")),
    frozenset(("\\sigma", "s")),
)
"""What a mean and a standard deviation are called, of a sample or of all."""

_FUNCTION = re.compile(r"\\?[A-Za-z]+\(((?:[xyzr],){1,3}t)\)")
_SYMBOL = re.compile(r"(\\[a-z]+|[A-Za-z])(_\w{1,9})?")
_CONSTANTS = frozenset(("e", "i", "\\pi"))


def are_freely_named(a: Named, b: Named) -> bool:
    r"""Whether a formula's name may be the other's.

    Letters may differ in case or by a subscript on one side, where the formula holds symbols and
    the letter is none of them: `r=5` is not `R=5`, nor `R=2r` `r=2r`.
    """
    if len(a.values) > 1 or len(b.values) > 1:
        return False  # every link of a chain must hold
    names = {a.name, b.name}
    if any(names <= group for group in _STATISTICS):
        return True
    first, second = _FUNCTION.fullmatch(a.name), _FUNCTION.fullmatch(b.name)
    if first is not None and second is not None:
        return first[1] == second[1]
    one, other = _SYMBOL.fullmatch(a.name), _SYMBOL.fullmatch(b.name)
    if one is None or other is None or one[1].casefold() != other[1].casefold():
        return False
    if one[2] and other[2] and one[2] != other[2]:
        return False
    is_same_case = one[1] == other[1]
    symbols = _symbols(a, alone=is_same_case) | _symbols(b, alone=is_same_case)
    return bool(symbols) and one[1].casefold() not in {symbol.casefold() for symbol in symbols}


def _symbols(a: Named, *, alone: bool) -> set[str]:
    """Return the symbols of a formula, only those without subscripts if `alone`."""
    value = a.values[-1]
    if not isinstance(value, Scalar):
        return set()
    tokens = split_letters(value.tokens)
    followers = [token.text for token in tokens[1:]] + [""]
    texts = {
        token.text
        for token, after in zip(tokens, followers, strict=True)
        if token.kind == "symbol" and not (alone and after == "_")
    }
    return texts - _CONSTANTS
