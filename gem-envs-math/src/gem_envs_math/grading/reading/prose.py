r"""Compare answers in prose: words with formulas among them, of which every one counts.

`It is the plane $y=17$` is prose, and so is `\text{All points } (x,y) \text{ with } x>0`. Knows
nothing about how two formulas are compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from gem_envs_math.grading.limits import ITEMS
from gem_envs_math.grading.text.names import is_known
from gem_envs_math.grading.verdict import Verdict

__all__ = ["Prose", "judge_prose", "read_prose"]

_HOW = "prose"
_DOLLARS = re.compile(r"(?<!\\)\$\$?([^$]+?)(?<!\\)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_TEXT = re.compile(r"\\(?:text(?:bf|it|rm|normal|up)?|mbox)\s*\{([^{}]*)\}")
_TEXT_OPENS = re.compile(r"\\(?:text(?:bf|it|rm|normal|up)?|mbox)\s*\{")
_STOPS = re.compile(r"[.,:;!?](?=\s|$)")
_WORD_OR_SIGN = re.compile(r"[^\W\d_]+|\S")
_VERBS = frozenset(("is", "are"))
_NOUNS = frozenset(
    (
        *("plane", "line", "circle", "curve", "ellipse", "hyperbola", "parabola", "sphere"),
        *("point", "interval", "set", "equation", "function", "number", "matrix", "vector"),
    )
)
_CARRIERS = _NOUNS | _VERBS
_CARRIERS |= {"the", "a", "an", "it", "this", "that", "answer", "result", "solution", "value"}
_CARRIERS |= {"final", "so", "thus", "hence", "therefore", "we", "get", "have"}
"""Words that say nothing beyond their one formula. "not", "except", "multiple of" say more."""


Compare = Callable[[str, str], Verdict | None]


class Prose(NamedTuple):
    """A text's words, folded, around its formulas: one more group of words than formulas."""

    words: tuple[str, ...]
    formulas: tuple[str, ...]


def read_prose(text: str, *, is_read: bool) -> Prose | None:
    r"""Return the words and the formulas of a text in LaTeX, None where it is no prose.

    `is_read` says that a rule reads the text, so that what is in `\text{}` is a unit, a name or a
    label: then only `$` or `\(` make it prose.

    >>> read_prose(r"It is the plane $y=17$.", is_read=False)
    Prose(words=('it is the plane', ''), formulas=('y=17',))
    """
    if "$" not in text and "\\(" not in text and is_read:
        return None
    text = _unwrapped(text.strip())
    words, formulas = _between_dollars(text)
    if not formulas and not is_read:
        words, formulas = _outside_text(text)
    if not 0 < len(formulas) <= ITEMS:
        return None
    folded = tuple(map(_folded, words))
    is_prose = _starts_sentence(folded[0]) or not _VERBS.isdisjoint(" ".join(folded).split())
    return Prose(folded, tuple(formulas)) if is_prose else None


def _unwrapped(text: str) -> str:
    r"""Return what stands in a `\text{}` that holds the whole text and formulas in `$`."""
    match = _TEXT_OPENS.match(text)
    if match is None or "$" not in text:
        return text
    depth = 0
    for at in range(match.end() - 1, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return text[match.end() : at] if at == len(text) - 1 else text
    return text


def _between_dollars(text: str) -> tuple[list[str], list[str]]:
    words: list[str] = []
    formulas: list[str] = []
    end = 0
    for match in _DOLLARS.finditer(text):
        words.append(text[end : match.start()])
        formulas.append((match[1] or match[2] or match[3]).strip())
        end = match.end()
    return [*words, text[end:]], formulas


def _outside_text(text: str) -> tuple[list[str], list[str]]:
    words = [""]
    formulas: list[str] = []
    end = 0
    for match in _TEXT.finditer(text):
        _add_formula(text[end : match.start()], words, formulas)
        words[-1] += f" {match[1]}"
        end = match.end()
    _add_formula(text[end:], words, formulas)
    return words, formulas


def _add_formula(text: str, words: list[str], formulas: list[str]) -> None:
    if any(char.isalnum() for char in text):
        formulas.append(text.strip(" ,.;:~"))
        words.append("")
    else:
        words[-1] += text


def _folded(words: str) -> str:
    # A sign that is no stop is kept: the answer in "It is -$5$" is not 5.
    words = _TEXT_OPENS.sub(" ", words)  # of `\text{$\Omega$}` nothing but the formula is left
    return " ".join(_WORD_OR_SIGN.findall(_STOPS.sub(" ", words.casefold())))


def _starts_sentence(words: str) -> bool:
    long = [word for word in words.split() if len(word) > 1 and word.isalpha()]
    if len(long) > 1:
        return True
    return len(long) == 1 and len(long[0]) > 2 and not is_known(long[0]) and "=" not in words


def judge_prose(a: Prose | str, b: Prose | str, compare: Compare) -> Verdict | None:
    """Return the verdict on two answers, at least one of them prose; None if `compare` has none.

    Formulas are compared in their order, beside equal words. Prose that only carries its one
    formula is that formula. Whether other prose says what a formula says is not decided.
    """
    if isinstance(a, Prose) and isinstance(b, Prose):
        if a.words == b.words:
            return _in_order(a, b, compare)
        if not _nouns(a) or not _nouns(b) or _nouns(a) == _nouns(b):
            first = _alone(a)
            second = _alone(b)
            if first is not None and second is not None:
                return compare(first, second)
        return Verdict("wrong", _HOW)
    first = _alone(a)
    second = _alone(b)
    if first is not None and second is not None:
        # Elsewhere 0 may answer `x=0`; it is not the plane that x=0 is.
        has_name_lost = ("=" in first) != ("=" in second)
        is_described = any(isinstance(side, Prose) and _nouns(side) for side in (a, b))
        if has_name_lost and is_described:
            return Verdict("wrong", _HOW)
        return compare(first, second)
    formulas = [side.formulas if isinstance(side, Prose) else (side,) for side in (a, b)]
    if len(formulas[0]) != len(formulas[1]):
        return Verdict("wrong", _HOW)
    verdict = compare(formulas[0][0], formulas[1][0])
    is_right = verdict is not None and verdict.outcome == "right"
    return Verdict("undecided", _HOW) if is_right else verdict


def _in_order(a: Prose, b: Prose, compare: Compare) -> Verdict | None:
    verdicts = [compare(x, y) for x, y in zip(a.formulas, b.formulas, strict=True)]
    outcomes = {verdict.outcome if verdict else None for verdict in verdicts}
    if outcomes == {"right"}:
        return Verdict("right", _HOW)
    if not outcomes.isdisjoint(("wrong", "unreadable")):
        return Verdict("wrong", _HOW)
    return Verdict("undecided", _HOW) if "undecided" in outcomes else None


def _nouns(a: Prose) -> frozenset[str]:
    return _NOUNS.intersection(" ".join(a.words).split())


def _alone(side: Prose | str) -> str | None:
    """Return the one formula of what says nothing else, None for other prose."""
    if isinstance(side, str):
        return side
    is_carrier = _CARRIERS.issuperset(" ".join(side.words).split())
    return side.formulas[0] if len(side.formulas) == 1 and is_carrier else None
