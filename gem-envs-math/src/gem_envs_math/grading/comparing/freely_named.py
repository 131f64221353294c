r"""Tell whether a formula's name is free: another spelling will do, or it may be left out.

`Q=mc\Delta T` is `q=mc\Delta T`, and `T(x,t)` names the wave that `u(x,t)` is. In a list a name
says which is which, so this is for single answers only. Knows nothing about values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.reading.shapes import Named, Scalar
from gem_envs_math.grading.text.names import split_letters
from gem_envs_math.grading.text.tokens import Token

__all__ = ["are_freely_named", "is_of_itself"]

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
    first = _FUNCTION.fullmatch(a.name)
    second = _FUNCTION.fullmatch(b.name)
    if first is not None and second is not None:
        return first[1] == second[1]
    one = _SYMBOL.fullmatch(a.name)
    other = _SYMBOL.fullmatch(b.name)
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


def is_of_itself(a: Named) -> bool:
    """Whether a symbol stands on both sides: `x = 2x + 1` is an equation for x, and no 2x + 1."""
    texts = _texts(a.tokens)
    at = texts.index("=") if "=" in texts else 0
    name = texts[:at]
    rest = texts[at + 1 :]
    is_symbol = at == 1 or (at == 3 and name[1] == "_")
    if not is_symbol or a.tokens[0].kind != "letters":
        return False
    # With a subscript a letter is another symbol: `v = \sqrt{v_0^2 + 2gh}`.
    return any(
        rest[start : start + at] == name and rest[start + at : start + at + 1] != ["_"]
        for start in range(len(rest))
    )


def _texts(tokens: Sequence[Token]) -> list[str]:
    """Return the tokens' texts without the braces around one token."""
    texts: list[str] = []
    for token in tokens:
        texts.append(token.text)
        if texts[-3::2] == ["{", "}"]:
            texts[-3:] = [texts[-2]]
    return texts
