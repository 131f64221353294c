r"""Rename letters that are free: `(t, 2t)` is `(s, 2s)`, `n\pi` is `k\pi`, `y(t) = t` is `y = x`.

Knows nothing about the shape of an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.text.names import split_letters
from gem_envs_math.grading.text.tokens import Token

__all__ = ["with_one_integer", "with_one_parameter", "with_one_variable"]

Tokens = Sequence[Token]

_PARAMETERS = frozenset(("t", "s", "k", "r", "\\lambda", "\\mu"))
_NAMES = frozenset("xyz")
_SOLUTION_LETTERS = frozenset(("e", "C", "c", "A", "B", "\\pi"))
_INTEGERS = ("k", "n", "m")
_COMMANDS = ("\\frac", "\\sqrt")
_NO_VECTORS = frozenset(("\\in", "\\mathbb", "\\sum", "\\int", "\\prod", "|", ":", "<", ">"))


def with_one_parameter(a: Tokens, b: Tokens) -> tuple[Tokens, Tokens] | None:
    r"""Return two vectors with the same parameter, None where they have not one each.

    It is the one letter beside the names of coordinates, and another letter in the other vector.
    """
    first, second = _parameter(a), _parameter(b)
    if not first or not second or first == second:
        return None
    return a, [token._replace(text=first) if token.text == second else token for token in b]


def with_one_variable(a: Tokens, b: Tokens) -> tuple[Tokens, Tokens] | None:
    r"""Return `y = Ce^{2x}` and `y(t) = Ce^{2t}` with one variable, None for other answers.

    One side names the variable, and nothing but it and constants of integration stands there.
    """
    for one, other in ((a, b), (b, a)):
        named, bare = _variable(one), _variable(other)
        is_named = [token.text for token in one[1:5]] == ["(", named, ")", "="]
        if named and bare and named != bare and is_named:
            renamed = [t._replace(text=bare) if t.text == named else t for t in one]
            return (renamed, other) if one is a else (other, renamed)
    return None


def with_one_integer(a: Tokens, b: Tokens) -> tuple[Tokens, Tokens] | None:
    r"""Return `n\pi` and `k\pi` with one letter for any integer, None for other answers."""
    first, second = _integer(a), _integer(b)
    if not first or not second or first == second:
        return None
    return a, [token._replace(text=first) if token.text == second else token for token in b]


def _integer(tokens: Tokens) -> str:
    r"""Return the one letter of `k n m` that stands beside `\pi`, and where nothing bounds it."""
    texts = {token.text for token in tokens}
    letters = "".join(token.text for token in tokens if token.kind == "letters")
    found = [letter for letter in _INTEGERS if letter in letters]
    is_free = "\\pi" in texts and _NO_VECTORS.isdisjoint(texts) and "_" not in texts
    return found[0] if is_free and len(found) == 1 and found[0] in texts else ""


def _variable(tokens: Tokens) -> str:
    """Return the x of `y = ...` or the t of `y(t) = ...`, "" where other letters stand there."""
    texts = [token.text for token in tokens]
    start = 2 if texts[1:2] == ["="] else 5
    is_solution = texts[:1] == ["y"] and texts[start - 1 : start] == ["="]
    right = split_letters(tokens[start:])
    letters = {token.text for token in right if token.kind == "symbol"} - _SOLUTION_LETTERS
    kinds = ("symbol", "function", "number", "sign")
    is_plain = all(token.kind in kinds or token.text in _COMMANDS for token in right)
    is_one = is_solution and is_plain and len(letters) == 1 and letters <= {"x", "t"}
    return letters.pop() if is_one else ""


def _parameter(tokens: Tokens) -> str:
    texts = {token.text for token in tokens}
    is_vector = "," in texts or "\\begin" in texts
    if not is_vector or not _NO_VECTORS.isdisjoint(texts) or "word" in {t.kind for t in tokens}:
        return ""
    letters = {token.text for token in tokens if token.kind == "letters"} - _matrix_names(tokens)
    letters |= _PARAMETERS & texts
    letters -= _NAMES
    return next(iter(letters)) if len(letters) == 1 and letters <= _PARAMETERS else ""


def _matrix_names(tokens: Tokens) -> set[str]:
    return {token.text for token in tokens if token.text.endswith("matrix")}
