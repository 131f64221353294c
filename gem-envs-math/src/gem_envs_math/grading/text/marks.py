r"""Take away the marks around a whole answer: `**6**`, `` `6` ``, `6 \checkmark`.

Knows nothing about mathematics but how a negative number is called: `negative 5`.
"""

from __future__ import annotations

import re

__all__ = ["without_marks"]

_MARKED = re.compile(r"\*\*([^*]+)\*\*|`([^`]+)`")
_ENDS = ("\\checkmark", "\\blacksquare", "\\qed", "✓", "✔", "✅", "∎", "■")
_SPACES = ("~", "\\ ", "\\,", "\\;", "\\:", "\\quad", "\\qquad")
_NEGATIVE = re.compile(
    r"(?:\\(?:text|mathrm)\{ ?)?(?:negative|minus)(?: ?\} ?| +)"
    r"((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*|/[0-9]+)?|\\[dt]?frac\{[0-9]+\}\{[0-9]+\})"
    r"( ?\})?",
    re.IGNORECASE,
)
"""Words before a bare number: before more than that, `minus x+1` or `minus 5,3`, they have two
meanings."""


def without_marks(text: str) -> str:
    r"""Return a text without what marks all of it as bold, as code, as checked or as the end.

    >>> without_marks(r"**6**"), without_marks(r"6 \checkmark"), without_marks(r"\checkmark")
    ('6', '6', '\\checkmark')
    >>> without_marks(r"\text{negative } 5"), without_marks("minus 5+x")
    ('-5', 'minus 5+x')
    """
    marked = _MARKED.fullmatch(text)
    if marked is not None:
        text = (marked[1] or marked[2]).strip()
    unended = _without_end(text)
    negative = _NEGATIVE.fullmatch(unended)
    if negative is not None and unended.count("{") == unended.count("}"):
        return f"-{negative[1].replace(',', '')}"  # which part thousands, and no list
    return unended


def _without_end(text: str) -> str:
    end = next((end for end in _ENDS if text.endswith(end)), None)
    if end is None:
        return text
    left = text.removesuffix(end).rstrip()
    while any(map(left.endswith, _SPACES)):
        space = next(space for space in _SPACES if left.endswith(space))
        left = left.removesuffix(space).rstrip()
    return left or text
