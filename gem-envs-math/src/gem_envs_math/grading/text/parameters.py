r"""Take the words off an answer that say what a letter is: `k\pi, k \in \mathbb{Z}`.

A letter for any integer is called k from then on: who writes n means the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.text.names import is_known
from gem_envs_math.grading.text.tokens import Token

__all__ = ["kind_of_letter", "natural_letter", "without_integers"]

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
_TWO_LETTERS = f"{_LETTER} (?:,|and|, and) {_LETTER}"
_SAYS_CONSTANTS = re.compile(
    rf"(?: (?:,|;|\(|for|where|with|any|all|some|and))+"
    rf"(?: {_TWO_LETTERS} \\in \\mathbb {{ R }}"
    rf"| {_TWO_LETTERS} are (?:any |arbitrary )?(?:real )?(?:constants|numbers|reals)"
    rf"| (?:arbitrary )?(?:real )?(?:constants|numbers|reals) {_TWO_LETTERS})(?: \))?"
)
_NATURAL = "positive integer|non ?- ?negative integer|nonnegative integer|natural number"
_NATURAL_SIGNS = frozenset((">", ">=", "\\in", "integer", "integers", "number", "numbers"))
_SAYS_NATURAL = re.compile(
    rf"(?: (?:,|;|\(|for|where|with|any|all|every|some|and|\||:))+"
    rf"(?: (?P<in>[a-z]) \\in \\mathbb {{ (?P<set>[NZ]) }}"
    rf"(?: [_^] (?:{{ )?(?P<mark>[*+]|>= 0|>= 1)(?: }})?)?"
    rf"|(?: an?)?(?: integers?)? (?P<above>[a-z]) (?P<sign>>=|>) (?P<low>[01])"
    rf"| (?P<is>[a-z]) (?:is |are )?(?:an? |any )?(?P<kind>{_NATURAL})s?"
    rf"|(?: an?)? (?P<some>{_NATURAL})s? (?P<of>[a-z]))(?: \))?"
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
_SIGNS = frozenset(
    ("\\in", "\\mathbb", "integer", "integers", "constant", "constants", "real", "for")
)
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
        match = _SAYS_INTEGER.fullmatch(ending)
        if match is not None:
            return _renamed(tokens[:start], match[1] or match[2] or match[3]) or tokens
        match = _SAYS_ALL.fullmatch(ending) if "for" in ending or "\\in" in ending else None
        if match is not None and texts[1:5] == ["(", match[1], ")", "="]:
            return tokens[:start]  # f(x) = ... for all x
        match = _SAYS_CONSTANTS.fullmatch(ending) or _SAYS_CONSTANT.fullmatch(ending)
        if match is not None:
            letters = {letter for letter in match.groups() if letter}
            return tokens[:start] if _are_constants(letters, tokens[:start]) else tokens
    return tokens


def _are_constants(letters: set[str], tokens: Sequence[Token]) -> bool:
    """Whether letters stand in an answer, and may be any real numbers there."""
    texts = [token.text for token in tokens]
    name = texts[: texts.index("=")] if "=" in texts else []
    products = "".join(token.text for token in tokens if _is_product(token))
    # By custom n is an integer, and so is k beside pi or in the value of an n.
    whole = {"n", "m", _NAME} if "\\pi" in texts or name == ["n"] else {"n", "m"}
    return letters <= set(products) - set(name) - whole


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


def natural_letter(tokens: Sequence[Token]) -> tuple[Sequence[Token], str, int] | None:
    r"""Return tokens before `k \\ge 0`, the letter, and the least number that it may be.

    None where the end of an answer says no such thing of a letter before it.
    """
    texts = [token.text.casefold() if token.kind == "word" else token.text for token in tokens]
    if _NATURAL_SIGNS.isdisjoint(texts):
        return None
    for start in range(max(1, len(texts) - _LONGEST), len(texts)):
        match = _SAYS_NATURAL.fullmatch(" " + " ".join(texts[start:]))
        if match is None:
            continue
        letter = match["in"] or match["above"] or match["is"] or match["of"]
        if match["in"]:
            if match["set"] == "Z" and not match["mark"]:
                return None
            least = _least_of_mark(match["mark"])
        elif match["above"]:
            least = int(match["low"]) + (match["sign"] == ">")
        else:
            least = _least_of(match["kind"] or match["some"])
        return tokens[:start], letter, least
    return None


def _least_of_mark(mark: str | None) -> int:
    r"""Return the same of a mark at the set, such as `*` or `\ge 0`; None for no mark."""
    if mark is None:
        return -1
    return 0 if mark == ">= 0" else 1


def _least_of(words: str) -> int:
    """Return the least number that words allow, -1 where it may be 0 or 1: `natural`."""
    if "positive" in words:
        return 1
    return -1 if "natural" in words else 0


def _without_index(tokens: Sequence[Token], texts: list[str]) -> Sequence[Token]:
    r"""Return `a_n = 2n` of `a_n = 2n, n \\in \\mathbb{N}^*`: a term's number is such a number.

    A term without its name is known by the letter n alone, and must not be one of the angles.
    """
    for start in range(max(1, len(texts) - _LONGEST), len(texts)):
        match = _SAYS_INDEX.fullmatch(" " + " ".join(texts[start:]))
        if match is None:
            continue
        named = (["_", match[1]], ["_", "{", match[1], "}"], ["(", match[1], ")"])
        is_term = any(texts[1 : 1 + len(name)] == name for name in named)
        is_integer = "Z" in texts[start:] and not {"*", "+"} & set(texts[start:])
        is_bare = "=" not in texts and match[1] == "n" and "\\pi" not in texts
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
