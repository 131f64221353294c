r"""Rename and shift a letter that is any integer: `2n\pi` is `2k\pi`, `(2k+1)\pi` is `(2k-1)\pi`.

Knows nothing about the shape of an answer.
"""

from __future__ import annotations

import re
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
_OPEN = Token("sign", "(")
_CLOSE = Token("sign", ")")


def with_one_integer(a: Tokens, b: Tokens) -> Iterator[tuple[Tokens, Tokens]]:
    r"""Yield two answers in which the letter that is any integer is one: at most 10 pairs.

    That it is any integer, both say, or both are angles of an unknown, `x = 2k\pi`: then it is
    shifted and turned in the second answer, for `k + 1` and `1 - k` are any integer as well. Where
    one says it and the other is an angle, or neither does and both are angles with turns added,
    `\frac{\pi}{4} + n\pi`, it has another name alone: of `(2n-1)\pi` the n may be the problem's.
    """
    kinds = {kind_of_letter(a), kind_of_letter(b)}
    if kinds == {""} and not ({"\\pi"} <= {t.text for t in a} & {t.text for t in b}):
        return
    first = without_integers(a)
    second = without_integers(b)
    are_any = kinds == {"Z"} or (_is_of_unknown(first) and _is_of_unknown(second))
    are_angles = all("\\pi" in [token.text for token in side] for side in (first, second))
    letter = _letter(first)
    other = _letter(second)
    is_said = "Z" in kinds or (_is_turned(first, letter) and _is_turned(second, other))
    if not kinds <= {"Z", ""} or not (are_any or (are_angles and is_said)):
        return
    if not letter or not other:
        return
    for sign in "+-" if are_any else "+":
        for shift in _SHIFTS if are_any else (0,):
            whole = [_OPEN, Token("sign", sign), Token("letters", letter)]
            whole += [Token("sign", "-" if shift < 0 else "+"), Token("number", str(abs(shift)))]
            yield first, _replaced(second, other, [*whole, _CLOSE])


def with_one_natural(a: Tokens, b: Tokens) -> Iterator[tuple[Tokens, Tokens]]:
    r"""Yield two answers without the words that a letter is natural: `n = 2^k, k \ge 0`.

    Both say the same of it, or one says nothing and is of natural numbers by custom: it is called
    n, m or p, or has the letter in an exponent. Of an angle, or of `x = 5k`, k may be negative.
    A silent n has no other name, for it may be the problem's.
    """
    first = natural_letter(a)
    second = natural_letter(b)
    if first is not None and second is not None:
        is_same_least = first[2] == second[2] or -1 in (first[2], second[2])
        if is_same_least:
            yield from _with_one_name(first[0], first[1], second[0], second[1])
        return
    stated = first or second
    if stated is None:
        return
    silent = b if second is None else a
    letter = _letter(silent) or stated[1]
    is_given = letter == "n" != stated[1]
    if is_given or not (_is_natural(stated[0], stated[1]) and _is_natural(silent, letter)):
        return
    if second is None:
        yield from _with_one_name(stated[0], stated[1], silent, letter)
    else:
        yield from _with_one_name(silent, letter, stated[0], stated[1])


def _with_one_name(
    a: Tokens, letter: str, b: Tokens, other: str
) -> Iterator[tuple[Tokens, Tokens]]:
    """Yield two answers with a letter of the second renamed, unless its new name is taken."""
    is_taken = letter != other and any(letter in token.text for token in b)
    if not is_taken:
        yield a, _replaced(b, other, [Token("letters", letter)])


def _is_natural(tokens: Tokens, letter: str) -> bool:
    texts = [token.text for token in tokens]
    if "=" not in texts or "\\pi" in texts or kind_of_letter(tokens):
        return False
    is_number = texts[0] in _NATURAL and texts[1:2] == ["="]
    exponents = "".join(texts).replace("{", "").split("^")[1:]
    return is_number or any(exponent[:1] == letter for exponent in exponents)


def _is_of_unknown(tokens: Tokens) -> bool:
    """Whether an answer gives the angles that an unknown is, with no letter but the integer."""
    texts = [token.text for token in tokens]
    if "\\pi" not in texts or texts[0] not in _UNKNOWNS or texts[1:2] != ["="]:
        return False
    letters = {letter for token in tokens[2:] if _is_product(token) for letter in token.text}
    return letters <= {texts[0], _letter(tokens)}


def _is_turned(tokens: Tokens, letter: str) -> bool:
    r"""Whether an angle has turns added and no other letters: `\frac{\pi}{4} + n\pi`."""
    letters = {char for token in tokens if _is_product(token) for char in token.text}
    text = "".join(token.text for token in tokens)
    turns = re.search(rf"(?:^|(?<=.)\+)[0-9]*(?:{letter}\\pi|\\pi{letter})(?=[+-]|$)", text)
    return letters == {letter} and turns is not None and turns[0] != text


def _letter(tokens: Tokens) -> str:
    """Return the one letter of those for integers, "" where there is none or are several.

    What the name says of an answer is not any integer: the n of `a_n = (-1)^n`, `f(n) = n + 1`.
    """
    name, value = _name_and_value(tokens)
    letters = {letter for token in value if _is_product(token) for letter in token.text}
    whole_letters = (letters & _WHOLE) - {letter for token in name for letter in token.text}
    return whole_letters.pop() if len(whole_letters) == 1 else ""


def _name_and_value(tokens: Tokens) -> tuple[Tokens, Tokens]:
    at = next((at for at, token in enumerate(tokens) if token.text == "="), 0)
    return tokens[:at], tokens[at:]


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
