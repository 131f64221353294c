r"""Read a plain number fast: what most answers are. Exact, in time linear in a short text."""

from __future__ import annotations

import re

__all__ = ["LONGEST_PLAIN", "plain"]

LONGEST_PLAIN = 100
"""Characters of a number that is read here; a longer one takes the way of every formula."""

_PLAIN = re.compile(
    r"""
    ([+-]?)                                           # 1: sign
    (?:\\?\$\ ?)?                                     # dollars are a unit, see units.py
    (?:
      ([0-9]{1,3}(?:(?:,|\{,\}|,\\!)[0-9]{3})+|[0-9]+)?  # 2: whole
      (?:\.([0-9]*))?                                 # 3: decimals
    | ([0-9]+)\ ?/\ ?([0-9]+)                         # 4/5
    | \\[dtc]?frac\ ?(?:\{([0-9]+)\}\{([0-9]+)\}|([0-9])\ ?([0-9]))
    )""",
    re.VERBOSE,
)
_SEPARATORS = str.maketrans("", "", ",{}\\!")


def plain(text: str) -> tuple[int, int] | None:
    r"""Return numerator and denominator (above 0, not reduced) of a plain number, or None.

    >>> plain("-1,234.5"), plain(r"\dfrac{1}{2}"), plain("2x")
    ((-12345, 10), (1, 2), None)
    """
    if len(text) > LONGEST_PLAIN:
        return None
    match = _PLAIN.fullmatch(text.strip())
    if match is None:
        return None
    sign, whole, decimals, *fractions = match.groups()
    if whole is None and not decimals:
        return _fraction(sign, [digits for digits in fractions if digits])
    if whole is not None and not whole.isdigit():
        whole = whole.translate(_SEPARATORS)
    size = int((whole or "") + (decimals or ""))
    return (-size if sign == "-" else size), 10 ** len(decimals or "")


def _fraction(sign: str, digits: list[str]) -> tuple[int, int] | None:
    if not digits or not int(digits[1]):
        return None
    over = int(digits[0])
    return (-over if sign == "-" else over), int(digits[1])
