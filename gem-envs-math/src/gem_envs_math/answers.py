r"""Read the number in a `\boxed{}` and compare it, exactly. Knows nothing about environments.

The rules, all of them. A number is written in ASCII digits, with

- one sign at most, and after it one `$` at most (`\$` as well): `-$5`; or `$...$` around it all;
- commas between groups of three digits, or none (`{,}`, `\,` and `,\!` count as commas);
- a decimal part, even an empty one: `18.`, `18.0`, `.5`; an exponent of one or two digits: `1.8e1`;
- or, instead of both, a fraction of whole numbers: `a/b`, `\frac{a}{b}`, `\dfrac`, `\tfrac`;
- `%` or `\%` after it, which changes nothing: `50%` equals `50`, and not `0.5`.

Anything else is not a number: words, units ("18 thousand" is not 18), sums, lists, mixed
numbers, infinities. Every function is linear in the length of its text and raises on no text.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal

from gem.parsing import boxed, last_boxed

__all__ = ["LONGEST", "Verdict", "boxed", "grade", "last_boxed", "read_number"]

Verdict = Literal["right", "wrong", "unreadable"]

LONGEST = 200
"""Characters of the longest number that is read; what is longer is not a number."""

_COMMA = r"(?:,\\!|,|\{,\}|\\,)"
_WHOLE = rf"(?:[0-9]{{1,3}}(?:{_COMMA}[0-9]{{3}})+|[0-9]+)"
_DECIMAL = rf"(?P<whole>{_WHOLE})?(?P<tail>(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{{1,2}})?)"
_RATIO = r"(?P<over>[0-9]+)\s*/\s*(?P<under>[0-9]+)"
_PART = r"\{\s*([+-]?[0-9]+)\s*\}"
_FRAC = rf"\\[dt]?frac\s*{_PART}\s*{_PART}"
_NUMBER = re.compile(rf"(?P<sign>[+-]?)\s*(?:\\?\$)?\s*(?:{_RATIO}|{_FRAC}|{_DECIMAL})\s*(?:\\?%)?")
_SEPARATORS = str.maketrans("", "", ",{}\\!")


def read_number(text: str) -> Fraction | None:
    r"""Return the number that a text is, exactly, or None if it is not one (see the module).

    >>> read_number(r"\$1,234.50"), read_number(r"-\frac{1}{2}"), read_number("18 or 20")
    (Fraction(2469, 2), Fraction(-1, 2), None)
    """
    if len(text) > LONGEST:
        return None
    match = _NUMBER.fullmatch(_without_math_mode(text.strip().replace("\N{MINUS SIGN}", "-")))
    if match is None:
        return None
    size = _size(match)
    return -size if size is not None and match["sign"] == "-" else size


def _without_math_mode(text: str) -> str:
    is_inside = len(text) > 2 and text[0] == text[-1] == "$"
    return text[1:-1].strip() if is_inside else text


def _size(match: re.Match[str]) -> Fraction | None:
    over = match["over"] or match[4]
    under = match["under"] or match[5]
    if over is not None:
        return Fraction(int(over), int(under)) if int(under) else None
    whole = (match["whole"] or "").translate(_SEPARATORS)
    tail = match["tail"]
    has_digits = whole or (tail[:1] == "." and tail[1:2].isdigit())
    return Fraction(whole + tail) if has_digits else None


def grade(action: str, gold: Fraction) -> Verdict:
    r"""Compare the number in the last balanced `\boxed{}` of an action with the gold answer.

    "unreadable" is an action without a box, or with something in it that is not a number.

    >>> grade(r"So it is \boxed{18.0}.", Fraction(18)), grade("18", Fraction(18))
    ('right', 'unreadable')
    """
    inside = last_boxed(action)
    number = None if inside is None else read_number(inside)
    if number is None:
        return "unreadable"
    return "right" if number == gold else "wrong"
