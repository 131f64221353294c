r"""Spell an answer as its task's scorer reads it: the number or the word that a sentence gives.

Takes time in proportion to the answer's length, and never raises. Knows nothing about what is right
but the known solution of tasks that are answered by one of a few words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gem_envs_reasoning.answers import unmarked

__all__ = ["respelled"]

_CHOICES = frozenset(
    [
        *("acre", "calendar_arithmetic", "color_cube_rotation", "course_schedule"),
        *("family_relationships", "game_of_life_halting", "isomorphic_strings", "mahjong_puzzle"),
        *("needle_haystack", "ransom_note", "syllogism", "zebra_puzzles"),
    ]
)
"""Tasks whose answer is a word of several that the question names: its case says nothing."""

_SIGNS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "prime_factorization": {"\u00d7": ("\\times", "\\cdot", "*")},
    "propositional_logic": {
        "↔": ("\\leftrightarrow", "\\iff"),
        "→": ("\\rightarrow", "\\to", "\\implies"),
        "\u2228": ("\\lor", "\\vee"),
        "∧": ("\\land", "\\wedge"),
        "¬": ("\\lnot", "\\neg"),
    },
}
"""How LaTeX, or a keyboard, writes the signs that a task asks for."""

_LEAD = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my)\s+)?(?:final\s+)?answer(?:\s+is\b:?|:)\s*"
    r"|([a-z])\s*=\s*",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"([+-]?(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+))(\.[0-9]+)?([eE][+-]?[0-9]{1,4}|/[0-9]+)?"
)
_FRACTION = re.compile(r"([+-]?)\\[dt]?frac\{([0-9]+)\}\{([0-9]+)\}")


def respelled(name: str, answer: str, solution: str | None, *, unknown: str | None = None) -> str:
    r"""Return the answer as its task's scorer reads it, or itself where no other spelling is known.

    `unknown` is the letter that the question asks for, where it names one: no other is its name.

    >>> respelled("lcm", r"The answer is **1{,}260**.", "7"), respelled("lcm", "12.0", "7")
    ('1260', '12')
    >>> respelled("dice", r"\frac{1}{6}", "1/6"), respelled("syllogism", "yes.", "Yes")
    ('1/6', 'Yes')
    >>> respelled("simple_equations", "m = 7", "7", unknown="m")
    '7'
    >>> respelled("spell_backward", "ecnatrops.", "ecnatrops")
    'ecnatrops.'
    """
    plain = unmarked(answer)
    if name in _SIGNS:
        return _with_signs(plain, _SIGNS[name])
    given = _without_sentence(plain, unknown)
    if name in _CHOICES and solution is not None and given.casefold() == solution.casefold():
        return solution
    return _as_number(given) or plain


def _with_signs(text: str, signs: Mapping[str, Sequence[str]]) -> str:
    for sign, spellings in signs.items():
        for spelling in spellings:
            end = r"(?![A-Za-z])" if spelling[-1].isalpha() else ""  # a command ends there
            text = re.sub(re.escape(spelling) + end, sign, text)
    return text


def _without_sentence(plain: str, unknown: str | None) -> str:
    """Return what a sentence gives as the answer, without its stop and the marks around it."""
    lead = _LEAD.match(plain)
    if lead is not None and unknown is not None and lead[1] not in (None, unknown):
        return plain
    given = plain[lead.end() :] if lead else plain
    # The stop stands behind the marks, `**7**.`, or within them, `**7.**`.
    return unmarked(given.removesuffix(".")).removesuffix(".")


def _as_number(text: str) -> str | None:
    """Write a number without thousands and a fraction of nought; None where it is no number."""
    text = text.replace("\u2212", "-")
    fraction = _FRACTION.fullmatch(text)
    if fraction is not None:
        return f"{fraction[1]}{fraction[2]}/{fraction[3]}"
    number = _NUMBER.fullmatch(text.replace("{,}", ",").replace("\\,", ","))
    if number is None:
        return None
    whole, decimals, rest = number.groups(default="")
    # Before an exponent they say that it is one: `3e9` may also be a number of base 16.
    has_decimals = decimals.strip(".0") != "" or rest != ""
    return f"{whole.replace(',', '')}{decimals if has_decimals else ''}{rest}"
