r"""Rename constants of integration: `y = Ce^{2x}` is `y = c_1 e^{2x}`.

Knows nothing about the shape of an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from gem_envs_math.grading.text.names import is_known
from gem_envs_math.grading.text.tokens import Token

__all__ = ["are_arbitrary", "count_constants", "renamed"]

Tokens = Sequence[Token]

_VARIABLES = frozenset(("x", "y", "z", "t", "u", "s", "r", "\\theta"))
_UNKNOWNS = _VARIABLES | {"f", "v", "w"}
_NUMBERED = frozenset("Cc")
_SINGLE = "CAKck"
_SEVERAL = (("A", "B"), ("A", "B", "C"), ("A", "B", "D"))
_NO_CONSTANTS = frozenset(("\\mathbb", "\\in", "\\cap", "\\cup", "\\angle", "\\triangle"))
_BEFORE = frozenset(("+", "-", "{", "(", "=", "\\ln", "ln"))
_SOLUTIONS = frozenset(("e", "\\sin", "\\cos", "\\ln", "\\sinh", "\\cosh", "\\exp"))
_MOST = 3


class _Reading(NamedTuple):
    """A side with some of its names taken for constants; `is_sure` where nothing else has them."""

    tokens: Tokens
    names: tuple[str, ...]
    is_sure: bool
    can_swap: bool


def renamed(a: Tokens, b: Tokens) -> Iterator[tuple[Tokens, Tokens]]:
    r"""Yield two answers with their constants of integration called C_1, C_2, ...: at most 40.

    On one side they are `C`, or `C_1` and so on, which name nothing else beside a variable; on the
    other those, or `c`, `K`, `k`, `A`, or `A` and `B`. Each numbered one that only multiplies
    may be any of them.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> pairs = renamed(tokenize("x^2+C"), tokenize("x^2+c"))
    >>> [["".join(token.text for token in side) for side in pair] for pair in pairs]
    [['x^2+C_1', 'x^2+C_1']]
    """
    if not any(_has_sure(side) for side in (a, b)):
        return
    for first in _readings(_spread(a)):
        for second in _readings(_spread(b)):
            if len(first.names) != len(second.names) or not (first.is_sure or second.is_sure):
                continue
            written = _written(first.tokens, first.names)
            orders = [second.names]
            if first.can_swap and second.can_swap:
                orders = [*permutations(second.names)]
            for order in orders:
                yield written, _written(second.tokens, order)


def are_arbitrary(a: Tokens, b: Tokens) -> bool:
    """Whether constants may be any numbers: in `y = c_1x + c_2` they may be a line's, and given."""
    texts = {token.text for token in (*a, *b)}
    has_capital = any(token.kind == "letters" and "C" in token.text for token in (*a, *b))
    return has_capital or not texts.isdisjoint(_SOLUTIONS | {"\\frac", "/"})


def count_constants(tokens: Tokens) -> int:
    """Return how many constants stand in an answer in which they are called C_1, C_2, ..."""
    pairs = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return len({c.text for a, b, c in pairs if a.text + b.text == "C_"})


def _has_sure(tokens: Tokens) -> bool:
    """Whether a side may hold constants: a look that costs little, before all else."""
    is_law = _is_law([token.text for token in tokens[:5]])
    return is_law or any("C" in t.text or t.text[0] == "c" for t in tokens if t.text)


def _is_law(texts: Sequence[str]) -> bool:
    """Whether `f(x) =` begins an answer: what solves an equation for functions."""
    return texts[0] in ("f", "g", "h") and texts[1:5] in (
        ["(", "x", ")", "="],
        ["(", "n", ")", "="],
    )


def _spread(tokens: Tokens) -> Tokens:
    """Return tokens in which each letter of a product and each numbered constant is one."""
    letters: list[Token] = []
    for token in tokens:
        if token.kind == "letters" and not is_known(token.text):
            letters.extend(Token("letters", letter) for letter in token.text)
        else:
            letters.append(token)
    spread: list[Token] = []
    at = 0
    while at < len(letters):
        texts = [token.text for token in letters[at : at + 5]]
        bare = [text for text in texts if text not in ("{", "}")][:3]
        is_numbered = texts[0] in _NUMBERED and bare[1:2] == ["_"] and bare[2:][:1] != []
        if is_numbered and len(bare[2]) == 1 and bare[2].isdigit():
            spread.append(Token("constant", "".join(bare)))
            at += 5 if texts[2] == "{" else 3
        else:
            spread.append(letters[at])
            at += 1
    return spread


def _readings(tokens: Tokens) -> Iterator[_Reading]:
    texts = [token.text for token in tokens]
    if _VARIABLES.isdisjoint(texts) or not _NO_CONSTANTS.isdisjoint(texts):
        return
    numbered = tuple(sorted({token.text for token in tokens if token.kind == "constant"}))
    if numbered:
        heads = {name[0] for name in numbered}
        if len(heads) == 1 and heads.isdisjoint(texts) and _are_constants(texts, numbered):
            can_swap = _only_multiply(texts, numbered)
            yield _Reading(tokens, numbered, is_sure=True, can_swap=can_swap)
        return
    is_law = _is_law(texts[:5])
    for names in (*_SINGLE, *_SEVERAL, *("am" if is_law else "")):
        if names in ("A", "C") and "B" in texts:
            continue  # one of several
        is_solution = texts[0] in _UNKNOWNS and "=" in texts
        if len(names) == 1 and not (is_solution or _is_added(texts, names)):
            continue  # kx^2/2 is no antiderivative
        if set(names) <= set(texts) and _are_constants(texts, tuple(names)):
            is_sure = names == "C" or (is_law and names in ("c", "k"))
            yield _Reading(tokens, tuple(names), is_sure=is_sure, can_swap=False)


def _is_added(texts: Sequence[str], name: str) -> bool:
    """Whether a letter is a term of its own: `x^2 + C`."""
    before = ("", "+", "-", "=")
    after = ("", "+", "-", "=", "}", ")")
    beside = zip(["", *texts], texts, [*texts[1:], ""], strict=False)
    return any(text == name and x in before and y in after for x, text, y in beside)


def _are_constants(texts: Sequence[str], names: tuple[str, ...]) -> bool:
    """Whether names stand where a constant may: not before `=`, and neither raised nor applied."""
    depth = 0
    for at, text in enumerate(texts):
        depth += (text == "{") - (text == "}")
        if text not in names:
            continue
        after = texts[at + 1] if at + 1 < len(texts) else ""
        before = texts[at - 1] if at else "="
        if after in ("=", "_", "'", "^") or (at == 0 and after == "(") or len(names) > _MOST:
            return False
        if before in ("^", "_", "/") or (depth and before not in _BEFORE):
            return False  # a factor in an exponent or a fraction: RC in e^{-t/RC}
    return True


def _only_multiply(texts: Sequence[str], names: tuple[str, ...]) -> bool:
    """Whether each name stands once, and in no fraction, exponent or divisor."""
    if any(texts.count(name) != 1 for name in names) or "/" in texts:
        return False
    if names[0][0] != "C" and _SOLUTIONS.isdisjoint(texts):
        return False  # c_1x + c_2 may be a line whose numbers are given
    depth = 0
    for text in texts:
        depth += (text == "{") - (text == "}")
        if depth and text in names:
            return False
    return True


def _written(tokens: Tokens, names: Sequence[str]) -> Tokens:
    written: list[Token] = []
    for token in tokens:
        if token.text in names:
            number = str(names.index(token.text) + 1)
            written += [Token("letters", "C"), Token("sign", "_"), Token("number", number)]
        else:
            written.append(token)
    return written
