r"""Read answers in words: `\text{Evelyn}`, `(C)`, `east`, `4:30 p.m.`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.reading.kinds import kind_of_integers
from gem_envs_math.grading.reading.shapes import Clock, Words
from gem_envs_math.grading.text.names import is_known
from gem_envs_math.grading.text.tokens import Token

__all__ = [
    "INFINITIES",
    "REALS",
    "folded",
    "read_clock",
    "read_date",
    "read_words",
    "spelled",
    "trimmed",
]

_CLOCK = re.compile(
    r"([0-9]{1,2})(?::([0-9]{2}))? ?(?:([ap])(?:\. ?m\.?|m)|o ?' ?clock)?", re.IGNORECASE
)
_AS_RATIO = re.compile(r"[1-9][0-9]?:[1-9][0-9]")
_MONTHS = "january february march april may june july august september october november december"
_DATE = re.compile(
    rf"(?:(?:the )?(?P<day>[0-9]{{1,2}})(?: of)? (?P<month>{_MONTHS.replace(' ', '|')})"
    rf"|(?P<first>{_MONTHS.replace(' ', '|')}) (?:the )?(?P<second>[0-9]{{1,2}}))"
    rf"(?:(?:, ?| )(?P<year>[0-9]{{4}}))?",
    re.IGNORECASE,
)
_MONTH_NAMES = frozenset(_MONTHS.split())
_SYNONYMS = {
    "does not exist": (
        "dne",
        "undefined",
        "is undefined",
        "not defined",
        "is not defined",
        "doesn t exist",
        "it does not exist",
        "limit does not exist",
        "limit doesn t exist",
    ),
    "cannot be determined": (
        "can t be determined",
        "can not be determined",
        "cannot determine",
        "it cannot be determined",
        "it can t be determined",
        "it is impossible to determine",
        "cannot be determined from given information",
        "cannot be determined from the given information",
        "cannot be determined from the information given",
        "not enough information",
        "not enough information given",
        "there is not enough information",
        "insufficient information",
    ),
    "neither": ("neither even nor odd", "neither odd nor even"),
    "no solution": (
        "no solutions",
        "no real solution",
        "no real solutions",
        "no solution exists",
        "no solutions exist",
        "there is no solution",
        "there are no solutions",
        "empty set",
        "none",
    ),
    "diverges": (
        "divergent",
        "diverge",
        "it diverges",
        "is divergent",
        "series diverges",
        "integral diverges",
        "sequence diverges",
        "improper integral diverges",
    ),
    "converges": (
        "convergent",
        "converge",
        "it converges",
        "is convergent",
        "series converges",
        "integral converges",
        "sequence converges",
        "improper integral converges",
    ),
    "infinitely many": (
        "infinitely many solutions",
        "infinite solutions",
        "there are infinitely many",
        "infinite number of solutions",
        "there are infinitely many solutions",
    ),
    "reject h 0": ("reject null hypothesis", "reject the null hypothesis", "reject the null"),
    "fail to reject h 0": (
        "do not reject h 0",
        "fail to reject null hypothesis",
        "fail to reject the null hypothesis",
        "do not reject the null hypothesis",
        "fail to reject the null",
    ),
    "infinity": ("infinite", "positive infinity", "plus infinity"),
    "negative infinity": ("minus infinity",),
    "true": ("yes",),
    "false": ("no",),
}
_SAME = {word: meaning for meaning, words in _SYNONYMS.items() for word in words}
_ABOUT = frozenset(("approximately", "about", "roughly", "approx"))
_CHOSEN = re.compile(r"(?:option|choice|answer) ([a-j])")
INFINITIES = ("negative infinity", "infinity")
"""How the two infinities are called."""

REALS = "real numbers"
"""How all real numbers are called, in whatever words."""

_SUBJECT = re.compile(
    r"(?:it|they|(?:these )?(?:vectors|functions|sets|lines|events|matrix|series|sequence|function"
    r"|triangle|integral|set|system|statement|equation|graph)) (?:is|are) (?=.*[a-z]{3})"
)
_KIND = re.compile(
    r"(?:an? )?(?:(isosceles|equilateral|scalene|obtuse|acute|right) triangle|(odd|even) function)"
)
_DIRECTION = re.compile(
    r"(?:due |to the |towards? the |in the )?(north|south|east|west)(?:wards?)?(?: direction)?"
)
_SETS = re.compile(
    r"(?:(?:the )?set of )?(?:(?:for )?all |any |every )?(?:the )?"
    r"(real|integer|positive integer|negative integer|natural|rational|complex)s?"
    r"(?: numbers?| values?)?(?: [k-nx])?"
)
_KINDS = {"integer": "integers", "positive integer": "positive integers"}
_KINDS |= {"negative integer": "negative integers"}
_ARTICLES = ("the", "a", "an")
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_WORD_OR_SIGN = re.compile(
    r"[^\W_]+"
    r"|(?<![^\W_])-(?=\s*\.?[^\W_])"  # a minus; the hyphen of `foot-pound` has a word before it
    r"|(?:(?<=[0-9])|(?<![^\s(-]))\.(?=[0-9])|(?<=[0-9]),(?=\s*-?[0-9])"  # 3.5, .5, and 1, 2
    r"|[^\s.,!?'\w-]"
)
"""What counts among words: not the stops and hyphens of prose, but the signs of numbers."""


def trimmed(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return tokens without the stop that ends a sentence, and `approximately` before them."""
    if len(tokens) > 1 and tokens[0].kind in ("word", "letters") and tokens[0].text in _ABOUT:
        tokens = tokens[1:]
    while tokens and tokens[-1].text in (".", ",", ";", ":") and not _ends_half(tokens):
        tokens = tokens[:-1]
    return tokens


def _ends_half(tokens: Sequence[Token]) -> bool:
    return len(tokens) > 2 and tokens[-2].text.casefold() == "m" and tokens[-3].text == "."


def spelled(tokens: Sequence[Token]) -> str:
    """Return the tokens' text, with a space wherever there were spaces."""
    return "".join(f" {token.text}" if token.spaced else token.text for token in tokens).strip()


def read_clock(tokens: Sequence[Token]) -> Clock | None:
    """Return the time of day that tokens are: `4:30`, `9 a.m.`; None where they are none."""
    if not 1 < len(tokens) < 9 or not tokens[0].text.isdigit():
        return None
    text = spelled(tokens)
    match = _CLOCK.fullmatch(text)
    if match is None or (match[2] is None and match[3] is None):
        return None
    hour = int(match[1])
    minute = int(match[2] or 0)
    if hour > 24 or minute > 59:
        return None
    half = (match[3] or "").lower()
    return Clock(hour, minute, half, may_be_ratio=_AS_RATIO.fullmatch(text) is not None)


def read_date(tokens: Sequence[Token]) -> Words | None:
    """Return a day of a month in one order: `4 July` and `July 4`; None for another answer."""
    if not 1 < len(tokens) < 8 or not any(
        token.text.casefold() in _MONTH_NAMES for token in tokens
    ):
        return None
    match = _DATE.fullmatch(spelled(tokens))
    if match is None:
        return None
    month = match["month"] or match["first"]
    day = match["day"] or match["second"]
    return Words(f"{month} {int(day)} {match['year'] or ''}".strip().casefold(), is_plain=False)


def read_words(tokens: Sequence[Token], *, is_last: bool = False) -> Words | None:
    r"""Return the words that tokens are, None where they are not words alone.

    Before anything else was tried, words are letters only, and not one letter of mathematics;
    `is_last` is for what is no formula either: then numbers and stops may stand among them.
    """
    kinds = {token.kind for token in tokens}
    if not is_last and "number" in kinds:
        return None
    has_word = "word" in kinds
    letters = [token.text for token in tokens if token.kind in ("letters", "word")]
    if is_last:
        is_prose = has_word or any(len(text) > 3 for text in letters)
        return Words(folded(tokens), not has_word) if is_prose and "command" not in kinds else None
    inner = _without_brackets(tokens)
    is_choice = len(inner) == 1 and (has_word or len(inner) < len(tokens))
    if is_choice and inner[0].kind in ("letters", "word") and len(inner[0].text) == 1:
        return Words(inner[0].text.casefold(), is_plain=False)
    if not kinds <= {"letters", "word"} and not _is_sentence(tokens):
        return None
    if {"and", "or"} & set(letters) or any(map(is_known, letters)):
        return None
    if has_word or max(map(len, letters)) > 2:
        # Capitals stand for people, points or choices in an order, and are no product.
        return Words(folded(tokens), is_plain=not has_word and not spelled(tokens).isupper())
    return None


def _is_sentence(tokens: Sequence[Token]) -> bool:
    is_text = all(token.kind in ("letters", "word") or token.text in "-'.!?" for token in tokens)
    has_start = tokens[0].kind in ("letters", "word") and len(tokens[0].text) > 2
    return is_text and has_start


def _without_brackets(tokens: Sequence[Token]) -> Sequence[Token]:
    if len(tokens) > 2 and tokens[0].text == "(" and tokens[-1].text == ")":
        return tokens[1:-1]
    is_marked = len(tokens) == 2 and tokens[1].text == ")"  # A) stands before a choice
    return tokens[:1] if is_marked else tokens


def _described(text: str) -> str:
    """Return words without the subject and the noun that only carry what is said of them."""
    text = _SUBJECT.sub("", text, count=1) if _SUBJECT.match(text) else text
    kind = _KIND.fullmatch(text)
    if kind is not None:
        return kind[1] or kind[2]
    direction = _DIRECTION.fullmatch(text)
    if direction is not None:
        return direction[1]
    return kind_of_integers(text)


def folded(tokens: Sequence[Token]) -> str:
    """Return words in small letters, without articles, and one for all that say the same."""
    tokens = [token for token in tokens if token.text not in ("{", "}")]
    words = _WORD_OR_SIGN.findall(_THOUSANDS.sub("", spelled(tokens).casefold()))
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    text = _described(" ".join(words))
    match = _SETS.fullmatch(text)
    if match and text not in ("real", "integer", "natural", "rational", "complex"):
        return _KINDS.get(match[1], f"{match[1]} numbers")
    chosen = _CHOSEN.fullmatch(text)
    return chosen[1] if chosen else _SAME.get(text, text)
