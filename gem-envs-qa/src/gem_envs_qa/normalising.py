r"""Bring an answer into the form in which answers are compared. Knows nothing about scores.

The form is SQuAD's (arXiv 1606.05250): lower case, no punctuation, no articles, single spaces.
What SQuAD leaves open or gets wrong is settled like this, in this order:

1. Unicode: NFKC, then case folding. `Ｂonn`, `BONN` and `Bonn` are one answer, and so are the two
   ways to write `é`. Accents count: `Beyonce` is not `Beyoncé`.
2. Numbers: a comma before three digits, as in `1,000`, is dropped. A point between two digits stays
   or at the beginning of a number (`3.5` is not `35`, which SQuAD makes it), and so does a minus
   that begins one. Any other mark between two digits separates them: `2-1` is not `21`.
3. Punctuation of any script is dropped, and currency signs and the signs of ASCII (`$+<=>^|~`):
   `U.S.` is `us`, `rock'n'roll` is `rocknroll`, `€5` is `5`.
4. The words `a`, `an` and `the` are dropped; `vitamin A` is then `vitamin`, as in SQuAD.
5. Where nothing is left (`The The`, `!!!`), the answer is compared as it is after step 1, with
   single spaces.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["LONGEST", "normal_form"]

LONGEST = 2_000
"""Characters of the longest answer that is compared; what is longer is wrong.

Unicode's normal forms take time in the square of a run of combining marks.
"""

_ARTICLES = frozenset({"a", "an", "the"})
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[^\w\s.](?=\d)")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")  # noqa: RUF001 - these are meant
_SIGNS = frozenset("$+<=>^`|~")
# The one mark that stands for itself: a point within, or a minus before, a number.
_OTHER = re.compile(r"(?P<kept>(?:(?<=\d)|(?<!\w))\.(?=\d)|(?<![\w.])-(?=\.?\d))|[\W_]")


def normal_form(answer: str) -> str:
    """Return the form in which an answer is compared. For at most `LONGEST` characters.

    >>> normal_form("The  U.S. Senate!"), normal_form("$1,000.50"), normal_form("The The")
    ('us senate', '1000.50', 'the the')
    """
    folded = unicodedata.normalize("NFKC", answer).casefold()
    plain = unicodedata.normalize("NFKC", folded).translate(_DASHES)
    separated = _BETWEEN_DIGITS.sub(" ", _THOUSANDS.sub("", plain))
    words = [word for word in _OTHER.sub(_mark, separated).split() if word not in _ARTICLES]
    return " ".join(words or plain.split())


def _mark(found: re.Match[str]) -> str:
    mark = found.group()
    is_dropped = unicodedata.category(mark)[0] == "P" or _is_sign(mark)
    return mark if found["kept"] or not is_dropped else ""


def _is_sign(mark: str) -> bool:
    return mark in _SIGNS or unicodedata.category(mark) == "Sc"
