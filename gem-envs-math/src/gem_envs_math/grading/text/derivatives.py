r"""Write derivatives as symbols: `\frac{d^2y}{dx^2}` is `y''`, `\partial_x f` is `f_x`.

As a fraction, `\frac{dy}{dx}` would be `y/x`. Knows nothing about the shape of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.text.tokens import Token

__all__ = ["write_derivative"]

_OVER = re.compile(r"d(?:\^([2-4]))?([A-Za-z]|\\[a-z]+)")
_UNDER = re.compile(r"d([a-z]|\\[a-z]+)(?:\^([2-4]))?")
_PARTIAL_OVER = re.compile(r"\\partial(?:\^([2-4]))?([A-Za-z]|\\[a-z]+)")
_PARTIAL_UNDER = re.compile(r"\\partial([a-z]|\\[a-z]+)(?:\^([2-4]))?")
_LONGEST = 10  # tokens in the upper and in the lower part
_OPEN = Token("sign", "{")
_CLOSE = Token("sign", "}")


def write_derivative(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    r"""Append the symbol that a derivative is and return the index after it; `at` for no such.

    `y'` is by x, the prime of any other letter by t. A derivative by another letter has it below.
    One that is all that stands before a sign of equality is left: it is read as a name.
    """
    if tokens[at].text == "\\partial":
        return _by_subscript(tokens, at, written)
    middle = _end(tokens, at + 1)
    end = _end(tokens, middle)
    if not at + 1 < middle < end:
        return at
    over = _text(tokens[at + 2 : middle - 1])
    under = _text(tokens[middle + 1 : end - 1])
    if over.startswith("\\partial"):
        return _partial(over, under, end, written) or at
    above = _OVER.fullmatch(over)
    below = _UNDER.fullmatch(under)
    if above is None or below is None or (above[1] or "1") != (below[2] or "1"):
        return at
    is_usual = below[1] == ("x" if above[2] == "y" else "t")
    if at == 0 and [token.text for token in tokens[end : end + 1]] == ["="]:
        return at
    _write(above[2], "" if is_usual else below[1], written)
    written.extend([Token("sign", "'")] * int(above[1] or 1))
    return end


def _by_subscript(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    r"""Write `\partial_x f` as `f_x`."""
    if at + 3 >= len(tokens) or tokens[at + 1].text != "_":
        return at
    end = _end(tokens, at + 2) if tokens[at + 2].text == "{" else at + 3
    by = _text(tokens[at + 2 : end])
    if not 0 < len(by) < 4 or not by.isalpha() or end >= len(tokens):
        return at
    if tokens[end].kind != "letters" or len(tokens[end].text) > 1:
        return at
    _write(tokens[end].text, by, written)
    return end + 1


def _partial(over: str, under: str, end: int, written: list[Token]) -> int:
    above = _PARTIAL_OVER.fullmatch(over)
    parts = [_PARTIAL_UNDER.fullmatch(part) for part in re.split(r"(?<=.)(?=\\partial)", under)]
    letters = [part[1] * int(part[2] or 1) for part in parts if part and len(part[1]) == 1]
    by = "".join(letters)
    if above is None or len(letters) < len(parts) or len(by) != int(above[1] or 1):
        return 0
    _write(above[2], by, written)
    return end


def _write(letter: str, by: str, written: list[Token]) -> None:
    written.append(Token("command" if letter[0] == "\\" else "letters", letter))
    if by:
        kind = "command" if by[0] == "\\" else "letters"
        written.extend([Token("sign", "_"), _OPEN, Token(kind, by), _CLOSE])


def _end(tokens: Sequence[Token], at: int) -> int:
    """Return the index after the group that opens at an index, that index where none does."""
    if at >= len(tokens) or tokens[at].text != "{":
        return at
    depth = 0
    for index in range(at, min(at + _LONGEST + 2, len(tokens))):
        depth += (tokens[index].text == "{") - (tokens[index].text == "}")
        if not depth:
            return index + 1
    return at


def _text(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens if token.text not in ("{", "}"))
