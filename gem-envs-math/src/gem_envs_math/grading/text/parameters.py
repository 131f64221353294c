r"""Take the words off an answer that say what a letter is: `k\pi, k \in \mathbb{Z}`.

A letter for any integer is called k from then on: who writes n means the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.text.names import is_known
from gem_envs_math.grading.text.tokens import Token

__all__ = ["kind_of_letter", "without_integers"]

_LETTER = "([a-z])"
_SAYS_INTEGER = re.compile(
    rf"(?: (?:,|;|\(|for|where|with|any|all|every|some|and|\||:))+"
    rf"(?: {_LETTER} \\in (?:\\mathbb {{ Z }}|Z)"
    rf"| {_LETTER} (?:is )?(?:an |any )?integers?"
    rf"| integers? {_LETTER})(?: \))?"
)
_SAYS_CONSTANT = re.compile(
    rf"(?: (?:,|;|\(|for|where|with|any|all|some|and))+"
    rf"(?: {_LETTER} \\in \\mathbb {{ R }}"
    rf"| {_LETTER} is (?:an? )?(?:any |arbitrary )?(?:real )?(?:constant|number)"
    rf"| (?:arbitrary )?(?:real )?(?:constants?|numbers?|reals?) {_LETTER})(?: \))?",
    re.IGNORECASE,
)
_SAYS_INDEX = re.compile(
    r"(?: (?:,|;|\(|for|where|with|any|all|every|and))+ ([nkmij]) "
    r"(?:>= 1|\\in (?:\\mathbb \{ [NZ] \}|[NZ])(?: [_^] (?:\{ )?[*+](?: \})?)?)(?: \))?"
)
"""What is said of the number of a term: `n \\in \\mathbb{N}^*`, `n \\ge 1`."""

_SAYS_ALL = re.compile(
    rf"(?: ,)?(?: for| \\forall)?(?: (?:all|any|every|each))?(?: (?:real|numbers?))* {_LETTER}"
    rf"(?: \\in \\mathbb {{ [RZNQ] }})?"
)
_INEQUALITIES = frozenset(("<", ">", "<=", ">="))
_NAME = "k"
_SIGNS = frozenset(("\\in", "\\mathbb", "integer", "integers", "constant", "real", "for"))
_LONGEST = 16  # tokens


def without_integers(tokens: Sequence[Token]) -> Sequence[Token]:
    r"""Return tokens without the condition at their end, and the letter as k.

    >>> from gem_envs_math.grading.text.spelling import tokens_of
    >>> answer = tokens_of(r"x = n\pi, n \in \mathbb{Z}")
    >>> [token.text for token in without_integers(answer)]
    ['x', '=', 'k', '\\pi']
    """
    texts = [token.text for token in tokens]
    if texts[1:2] in (["_"], ["("]) or ("n" in texts and "=" not in texts):
        tokens = _without_index(tokens, texts)
        texts = texts[: len(tokens)]
    if _SIGNS.isdisjoint(texts) or not _INEQUALITIES.isdisjoint(texts):
        return tokens  # integers between bounds are no interval
    for start in range(max(1, len(texts) - _LONGEST), len(texts)):
        ending = " " + " ".join(texts[start:])
        found = _SAYS_INTEGER.fullmatch(ending)
        if found is not None:
            return _renamed(tokens[:start], found[1] or found[2] or found[3]) or tokens
        found = _SAYS_ALL.fullmatch(ending) if "for" in ending or "\\in" in ending else None
        if found is not None and texts[1:5] == ["(", found[1], ")", "="]:
            return tokens[:start]  # f(x) = ... for all x
        found = _SAYS_CONSTANT.fullmatch(ending)
        if found is not None:
            letter = found[1] or found[2] or found[3]
            is_there = any(letter in token.text for token in tokens[:start] if _is_product(token))
            name = texts[: texts.index("=")] if "=" in texts[:start] else []
            is_whole = letter in "nm" or (letter == _NAME and "\\pi" in texts)  # by custom
            return tokens[:start] if is_there and letter not in name and not is_whole else tokens
    return tokens


def kind_of_letter(tokens: Sequence[Token]) -> str:
    r"""Return "Z" or "R" where the end of an answer says that a letter is such a number; else "".

    >>> from gem_envs_math.grading.text.spelling import tokens_of
    >>> kind_of_letter(tokens_of(r"x = k\pi, k \in \mathbb{R}"))
    'R'
    """
    texts = [token.text for token in tokens]
    if _SIGNS.isdisjoint(texts):
        return ""
    for start in range(max(1, len(texts) - _LONGEST), len(texts)):
        ending = " " + " ".join(texts[start:])
        for kind, says in (("Z", _SAYS_INTEGER), ("R", _SAYS_CONSTANT)):
            if says.fullmatch(ending) is not None:
                return kind
    return ""


def _without_index(tokens: Sequence[Token], texts: list[str]) -> Sequence[Token]:
    r"""Return `a_n = 2n` of `a_n = 2n, n \\in \\mathbb{N}^*`: a term's number is such a number.

    A term without its name is known by the letter n alone, and must not be one of the angles.
    """
    for start in range(max(1, len(texts) - _LONGEST), len(texts)):
        found = _SAYS_INDEX.fullmatch(" " + " ".join(texts[start:]))
        if found is None:
            continue
        named = (["_", found[1]], ["_", "{", found[1], "}"], ["(", found[1], ")"])
        is_term = any(texts[1 : 1 + len(name)] == name for name in named)
        is_integer = "Z" in texts[start:] and not {"*", "+"} & set(texts[start:])
        is_bare = "=" not in texts and found[1] == "n" and "\\pi" not in texts
        if is_term or (is_bare and not is_integer and ">=" not in texts):
            return tokens[:start]
    return tokens


def _renamed(tokens: Sequence[Token], letter: str) -> Sequence[Token]:
    """Return tokens with a letter called k; [] where it is not there, or another k is."""
    letters = "".join(token.text for token in tokens if _is_product(token))
    if letter not in letters or (letter != _NAME and _NAME in letters):
        return []
    return [
        token._replace(text=token.text.replace(letter, _NAME)) if _is_product(token) else token
        for token in tokens
    ]


def _is_product(token: Token) -> bool:
    return token.kind == "letters" and not is_known(token.text)
