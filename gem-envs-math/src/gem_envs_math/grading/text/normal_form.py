r"""Write what no rule reads in one way: `\mathbb{Z}_{6}` and `\mathbb Z/6\mathbb Z` are one text.

Knows nothing about values: two texts that differ may still say the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["normal_form"]

_BRACED = re.compile(
    r"(?<=[_^] )\{ ([0-9A-Za-z]+) \}|(?<=\\mathbb )\{ ([A-Za-z]) \}|(?<=\\sqrt )\{ ([0-9]) \}"
    r"|(?<=\\bar )\{ ([A-Za-z]) \}|(?<=dot )\{ ([A-Za-z]) \}"
)
_ONE = {"\\Z": "\\mathbb Z", "\\overline": "\\bar"}
_BAR = re.compile(r"(?: \\in \\mathbb R(?: \^ [23])?)? [|:] ")
_QUOTIENT = re.compile(r"\\mathbb Z / ([0-9]+|[a-z])(?: \\mathbb Z)?(?= |$)")
_CYCLIC = re.compile(r"\\mathbb Z(?: _ (?:[0-9]+|[a-z]))?")
_POWER = re.compile(r"(\\mathbb Z(?: _ (?:[0-9]+|[a-z]))?) \^ ([2-9])")


def normal_form(texts: Sequence[str]) -> str:
    r"""Return the texts of an answer's tokens with what is merely spelled in one spelling.

    Braces around one token after `_`, `^`, `\mathbb` or `\sqrt` are left out. A product or a
    direct sum of cyclic groups has no order.

    >>> normal_form(["\\mathbb", "{", "Z", "}", "/", "6", "\\mathbb", "{", "Z", "}"])
    '\\mathbb Z _ 6'
    """
    text = " ".join(_ONE.get(part, part) for part in texts)
    text = _BRACED.sub(lambda found: "".join(part or "" for part in found.groups()), text)
    if text.startswith("\\{"):
        text = _BAR.sub(" | ", text, count=1)
    text = _QUOTIENT.sub(r"\\mathbb Z _ \1", text)
    factors = re.split(r" (?:\*|\\oplus) ", text)
    powers = [_POWER.fullmatch(factor) for factor in factors]
    spread = []
    for factor, power in zip(factors, powers, strict=True):
        spread.extend([factor] if power is None else [power[1]] * int(power[2]))
    is_group = all(_CYCLIC.fullmatch(factor) for factor in spread)
    return " * ".join(sorted(spread)) if is_group else text
