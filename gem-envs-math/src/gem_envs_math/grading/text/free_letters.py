r"""Rename letters that are free: `(t, 2t)` is `(s, 2s)`, `n\pi` is `k\pi`, `y(t) = t` is `y = x`.

Knows nothing about the shape of an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.text.names import split_letters
from gem_envs_math.grading.text.splitting import levels, split
from gem_envs_math.grading.text.tokens import Token

__all__ = ["with_one_parameter", "with_one_variable"]

Tokens = Sequence[Token]

_PARAMETERS = frozenset(("t", "s", "k", "r", "\\lambda", "\\mu"))
_LETTER = Token("letters", "t")
_NAMES = frozenset("xyz")
_SOLUTION_LETTERS = frozenset(("e", "C", "c", "A", "B", "\\pi"))
_COMMANDS = ("\\frac", "\\sqrt")
_NO_VECTORS = frozenset(("\\in", "\\mathbb", "\\sum", "\\int", "\\prod", "|", ":", "<", ">"))
_NO_VECTORS |= {"[", "]", "\\{", "\\}", "\\infty", "\\cup", "\\cap", "or", "and"}


def with_one_parameter(a: Tokens, b: Tokens) -> tuple[Tokens, Tokens] | None:
    r"""Return two vectors with the same parameter, None where they have not one each.

    It is the one letter beside the names of coordinates, and another letter in the other vector.
    """
    first = _parameter(a)
    second = _parameter(b)
    if not first or not second or first == second:
        return None
    return _renamed(a, first), _renamed(b, second)


def _renamed(tokens: Tokens, letter: str) -> Tokens:
    return [_LETTER if token.text == letter else token for token in tokens]


def with_one_variable(a: Tokens, b: Tokens) -> tuple[Tokens, Tokens] | None:
    r"""Return `y = Ce^{2x}` and `y(t) = Ce^{2t}` with one variable, None for other answers.

    One side names the variable, and nothing but it and constants of integration stands there.
    """
    for one, other in ((a, b), (b, a)):
        if [token.text for token in one[1:2]] != ["("]:
            continue
        named = _variable(one)
        bare = _variable(other)
        is_named = [token.text for token in one[1:5]] == ["(", named, ")", "="]
        if named and bare and named != bare and is_named:
            renamed = [t._replace(text=bare) if t.text == named else t for t in one]
            return (renamed, other) if one is a else (other, renamed)
    return None


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
    letters -= _NAMES | _names_of_tuple(tokens)
    letter = next(iter(letters)) if len(letters) == 1 and letters <= _PARAMETERS else ""
    return letter if letter and _is_curve(tokens, letter) else ""


def _is_curve(tokens: Tokens, letter: str) -> bool:
    """Whether an answer is a point that moves: no list, where a letter is a given number.

    Nor is it a pair with the letter at one place only, which may be the end of an interval.
    """
    items = split(tokens, (",",))
    if len(items) > 1:
        names = [item[0].text for item in items if [token.text for token in item[1:2]] == ["="]]
        return len(names) == len(items) == len(set(names)) and set(names) <= _NAMES
    depths = levels(tokens)
    places = split(tokens[1:-1], (",",))
    is_pair = len(places) == 2 and 0 not in depths[1:-1]
    return not is_pair or all(letter in [token.text for token in place] for place in places)


def _names_of_tuple(tokens: Tokens) -> set[str]:
    """Return the a and b of `(a,b) = (2t,t)`."""
    texts = [token.text for token in tokens[:12]]
    if texts[0] != "(" or "=" not in texts:
        return set()
    return set(texts[: texts.index("=")])


def _matrix_names(tokens: Tokens) -> set[str]:
    return {token.text for token in tokens if token.text.endswith("matrix")}
