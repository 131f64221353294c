r"""Write what no rule reads in one way: `\mathbb{Z}_{6}` and `\mathbb Z/6\mathbb Z` are one text.

Knows nothing about values: two texts that differ may still say the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["normal_form", "same_form"]

_BRACED = re.compile(
    r"(?<=[_^] )\{ ([0-9A-Za-z]+) \}|(?<=\\mathbb )\{ ([A-Za-z]) \}|(?<=\\sqrt )\{ ([0-9]) \}"
    r"|(?<=\\bar )\{ ([A-Za-z]) \}|(?<=dot )\{ ([A-Za-z]) \}|(?<=\\mathfrak )\{ ([A-Za-z]) \}"
)
_ONE = {"\\Z": "\\mathbb Z", "\\overline": "\\bar"}
_BAR = re.compile(r"(?: \\in \\mathbb R(?: \^ [23])?)? [|:] ")
_QUOTIENT = re.compile(r"\\mathbb Z / ([0-9]+|[a-z])(?: \\mathbb Z)?(?= |$)")
_CYCLIC = re.compile(r"\\mathbb Z(?: _ (?:[0-9]+|[a-z]))?")
_CYCLIC_LETTER = re.compile(r"^[CZ] (?=_ (?:[0-9]+|[a-z])$)")
_POWER = re.compile(r"(\\mathbb Z(?: _ (?:[0-9]+|[a-z]))?) \^ ([2-9])")
_PERMUTATIONS = re.compile(r"\\mathfrak (?=[SA] _ (?:[0-9]+|[a-z])(?: |$))")
_FINITE_FIELD = re.compile(
    r"(?:\\mathbb F _|GF) (?:[{(] )?([0-9]{1,4})(?: \^ (?:\{ )?([0-9])(?: \})?)?(?: [})])?"
)
_EXTENSION = re.compile(r"(\\mathbb Q) ([(\[]) (.+) [)\]]")
_ALGEBRAIC = re.compile(r"(?:\\sqrt|[-+*/{}^,i]|\[ [0-9] \]|[0-9]+| )+")
_NAMED = re.compile(r"^([A-Z]) = (?=\\mathbb|[SADC] _ )")


def same_form(a: Sequence[str], b: Sequence[str]) -> bool:
    r"""Whether two answers are spelled in one way, with the name on one of them left out.

    >>> same_form(["G", "=", "\\mathbb", "Z"], ["\\mathbb", "{", "Z", "}"])
    True
    """
    first = normal_form(a)
    second = normal_form(b)
    names = _NAMED.match(first), _NAMED.match(second)
    if (names[0] is None) != (names[1] is None):
        first, second = (_field(_group(_NAMED.sub("", text))) for text in (first, second))
    return first == second


def normal_form(texts: Sequence[str]) -> str:
    r"""Return the texts of an answer's tokens with what is merely spelled in one spelling.

    Braces around one token after `_`, `^`, `\mathbb` or `\sqrt` are left out. A product or a
    direct sum of cyclic groups has no order, and no more has a list of such.

    >>> normal_form(["\\mathbb", "{", "Z", "}", "/", "6", "\\mathbb", "{", "Z", "}"])
    '\\mathbb Z _ 6'
    """
    text = " ".join(_ONE.get(part, part) for part in texts)
    text = _BRACED.sub(lambda match: "".join(part or "" for part in match.groups()), text)
    if text.startswith("\\{"):
        text = _BAR.sub(" | ", text, count=1)
    text = _PERMUTATIONS.sub("", _QUOTIENT.sub(r"\\mathbb Z _ \1", text))
    groups = [_group(part) for part in re.split(r" (?:,|and) ", text)]
    if len(groups) > 1 and all(_is_group(group) for group in groups):
        return " , ".join(sorted(groups))
    return _field(_group(text))


def _group(text: str) -> str:
    """Return a product of cyclic groups in one order; any other text as it is."""
    factors = [_CYCLIC_LETTER.sub(r"\\mathbb Z ", part) for part in _factors(text)]
    powers = [_POWER.fullmatch(factor) for factor in factors]
    spread: list[str] = []
    for factor, power in zip(factors, powers, strict=True):
        spread.extend([factor] if power is None else [power[1]] * int(power[2]))
    is_group = all(_CYCLIC.fullmatch(factor) for factor in spread)
    return " * ".join(sorted(spread)) if is_group else text


def _factors(text: str) -> list[str]:
    return re.split(r" (?:\*|\\oplus) ", text)


def _is_group(text: str) -> bool:
    return all(_CYCLIC.fullmatch(factor) for factor in _factors(text))


def _field(text: str) -> str:
    r"""Return a finite field by its order, and what is adjoined to `\mathbb{Q}` in one order."""
    finite = _FINITE_FIELD.fullmatch(text)
    if finite:
        return f"\\mathbb F _ {int(finite[1]) ** int(finite[2] or 1)}"
    extension = _EXTENSION.fullmatch(text)
    if extension is None or not _ALGEBRAIC.fullmatch(extension[3]):
        return text
    return f"{extension[1]} ( {' , '.join(sorted(extension[3].split(' , ')))} )"
