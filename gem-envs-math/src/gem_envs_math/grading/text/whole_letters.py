r"""Rename and shift a letter that is any integer: `2n\pi` is `2k\pi`, `(2k+1)\pi` is `(2k-1)\pi`.

Knows nothing about the shape of an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gem_envs_math.grading.text.names import is_known
from gem_envs_math.grading.text.parameters import (
    kind_of_letter,
    natural_letter,
    without_integers,
)
from gem_envs_math.grading.text.tokens import Token

__all__ = ["with_one_integer", "with_one_natural"]

Tokens = Sequence[Token]

_WHOLE = frozenset("knml")
"""The letters that integers have by custom."""

_UNKNOWNS = frozenset(("x", "y", "z", "t", "\\theta", "\\alpha", "\\beta", "\\varphi", "\\phi"))
_NATURAL = frozenset("nmpqNM")
_SHIFTS = (0, 1, -1, 2, -2)
_OPEN, _CLOSE = Token("sign", "("), Token("sign", ")")


def with_one_integer(a: Tokens, b: Tokens) -> Iterator[tuple[Tokens, Tokens]]:
    r"""Yield two answers in which the letter that is any integer is one: at most 10 pairs.

    That it is any integer, one of them says, or both are angles of an unknown, `x = 2k\pi`. In the
    second answer it is shifted and turned, for `k + 1` and `1 - k` are any integer as well.
    """
    kinds = {kind_of_letter(a), kind_of_letter(b)}
    first, second = without_integers(a), without_integers(b)
    are_angles = _is_angle(first) and _is_angle(second)
    if kinds != {"Z"} and not (kinds == {""} and are_angles) and kinds != {"Z", ""}:
        return
    letter, other = _letter(first), _letter(second)
    if not letter or not other:
        return
    for sign in ("+", "-"):
        for shift in _SHIFTS:
            whole = [_OPEN, Token("sign", sign), Token("letters", letter)]
            whole += [Token("sign", "-" if shift < 0 else "+"), Token("number", str(abs(shift)))]
            yield first, _replaced(second, other, [*whole, _CLOSE])


def with_one_natural(a: Tokens, b: Tokens) -> Iterator[tuple[Tokens, Tokens]]:
    r"""Yield two answers without the words that a letter is natural: `n = 2^k, k \ge 0`.

    Both say the same of it, or one says nothing and is of natural numbers by custom: it is called
    n, m or p, or has the letter in an exponent. Of an angle, or of `x = 5k`, k may be negative.
    """
    first, second = natural_letter(a), natural_letter(b)
    if first is None and second is None:
        return
    if first is not None and second is not None:
        if -1 not in (first[2], second[2]) and first[2] != second[2]:
            return
        sides = first[0], second[0]
        letters = first[1], second[1]
    elif first is not None:
        sides = first[0], b
        letters = first[1], _letter(b) or first[1]
    else:
        assert second is not None
        sides = a, second[0]
        letters = _letter(a) or second[1], second[1]
    says_all = first is not None and second is not None
    are_natural = all(map(_is_natural, sides, letters))
    if says_all or are_natural:
        yield sides[0], _replaced(sides[1], letters[1], [Token("letters", letters[0])])


def _is_natural(tokens: Tokens, letter: str) -> bool:
    texts = [token.text for token in tokens]
    if "=" not in texts or "\\pi" in texts or kind_of_letter(tokens):
        return False
    is_number = texts[0] in _NATURAL and texts[1:2] == ["="]
    exponents = [texts[at + 1 : at + 3] for at, text in enumerate(texts) if text == "^"]
    return is_number or any(
        letter in exponent[:1] or exponent == ["{", letter] for exponent in exponents
    )


def _is_angle(tokens: Tokens) -> bool:
    texts = [token.text for token in tokens]
    return "\\pi" in texts and texts[0] in _UNKNOWNS and texts[1:2] == ["="]


def _letter(tokens: Tokens) -> str:
    """Return the one letter of those for integers, "" where there is none or are several."""
    name, value = _name_and_value(tokens)
    letters = {letter for token in value if _is_product(token) for letter in token.text}
    found = (letters & _WHOLE) - {token.text for token in name}
    return found.pop() if len(found) == 1 else ""


def _name_and_value(tokens: Tokens) -> tuple[Tokens, Tokens]:
    has_name = len(tokens) > 2 and tokens[1].text == "="
    return (tokens[:1], tokens[1:]) if has_name else ((), tokens)


def _replaced(tokens: Tokens, letter: str, whole: list[Token]) -> Tokens:
    """Return tokens with other ones in the place of a letter; braces keep an exponent one."""
    name, value = _name_and_value(tokens)
    written = [*name]
    for token in value:
        if not _is_product(token) or letter not in token.text:
            written.append(token)
            continue
        for char in token.text:
            written.extend(whole if char == letter else [Token("letters", char)])
    return written


def _is_product(token: Token) -> bool:
    return token.kind == "letters" and not is_known(token.text)
