r"""Bring an answer into the form in which answers are compared. Knows nothing about scores.

The form is SQuAD's (arXiv 1606.05250): lower case, no punctuation, no articles, single spaces.
What SQuAD leaves open or gets wrong is settled like this, in this order:

1. Unicode: NFKC, then case folding. `BONN`, `Bonn` and the same in full width are one answer, and
   so are the two ways to write `é`. Accents count: `Beyonce` is not `Beyoncé`. Before that, what
   nobody sees is dropped: soft hyphens, marks of direction, variants of emoji, joiners but
   those of emoji; and so is what LaTeX puts around words: `\text{Bonn}` is `Bonn`, `1{,}000` is
   `1,000`.
2. Numbers: a comma before three digits, as in `1,000`, is dropped. A point between two digits stays
   or at the beginning of a number (`3.5` is not `35`, which SQuAD makes it), and so does a minus
   that begins one, also before a currency sign (`-$5` is not `5`). Any other marks between two
   digits, and a point among them, separate them: `2-1` is not `21`, `$5-$10` is not `510`, nor
   `5.-6` `56`. So do raised and lowered digits and fractions in one character: `10²` is not
   `102`, nor `2½` `21/2`.
3. Punctuation of any script is dropped, and currency signs and the signs of ASCII (`$+<=>^|~`):
   `U.S.` is `us`, `rock'n'roll` is `rocknroll`, `€5` is `5`. The letters that Unicode has for an
   apostrophe and an okina are apostrophes: most people write `Hawai'i` with a quote.
4. The words `a`, `an` and `the` are dropped; `vitamin A` is then `vitamin`, as in SQuAD.
5. A step that would leave nothing is left out: `The The` keeps its articles, `!!!` its marks.
"""

from __future__ import annotations

import functools
import re
import unicodedata

__all__ = ["bare_form", "normal_form", "without_latex", "without_unseen"]

# Unicode's normal forms take time in the square of a run of combining marks, so a long text is
# brought into them piece by piece; no real answer is as long as a piece.
_PIECE = 1000
_SHORT = 200  # characters; the forms of such are kept, for the options of a row are read often
_ARTICLES = frozenset({"a", "an", "the"})
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CURRENCY = "[$¢-¥₠-₿]?"
# A point alone stays. A minus behind a mark that parts two numbers, as in `(5,-6)`, is left, with
# the currency sign beside it, as in `(5,-$6)`: it begins a number.
_BETWEEN_DIGITS = re.compile(
    r"(?<=\d)(?!\.\d)(?:[^\w\s]|_)+?"
    rf"(?=(?:(?<!\.)\.)?\d|(?<=[,;:/|(\[{{^=-]){_CURRENCY}-{_CURRENCY}\.?\d)"
)
# NFKC writes these as common digits, which would run into those before them.
_BEFORE_RAISED = re.compile(r"(?<=\d)(?=[²³¹⁰⁴-⁹⁺⁻₀-₉₊₋¼-¾⅐-⅞↉])")
# Tags of emoji are not among them: they tell the flag of England from that of Wales.
# A joiner between two emoji is seen: it makes one family of three persons.
_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    rf"\ufe0e\ufe0f\ufeff]|(?<![{_EMOJI}\ufe0f])\u200d|\u200d(?![{_EMOJI}])"
)
# Commands that say how letters look, or put a box around them. Bold letters of formulas are not
# among them: `\mathbf{F}`, a vector, is not `F`, nor is `\mathbb{R}` `R`.
_LOOKS = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt)?|emph|math(?:it|rm|sf|tt)|[hm]box|boxed|fbox)"
    r"\s{0,8}\{([^{}]*)\}"
)
_DEEPEST = 4  # of these commands within each other
_LATEX_SPACE = re.compile(r"\\[,;: ]")
_LATEX_NOTHING = re.compile(r"\\!|(?<=\d)\{(?=,\}\d)|(?<=\d\{,)\}(?=\d)")
_WRITTEN_AS = {
    **dict.fromkeys(map(ord, "‐‑‒–—−"), "-"),  # noqa: RUF001 - these are meant
    **dict.fromkeys(map(ord, "\u02bb\u02bc"), "'"),
}
_SIGNS = frozenset("$+<=>^`|~")
# The one mark that stands for itself: a point within, or a minus before, a number.
_OTHER = re.compile(rf"(?P<kept>(?:(?<=\d)|(?<!\w))\.(?=\d)|(?<![\w.])-(?={_CURRENCY}\.?\d))|[\W_]")


def normal_form(answer: str) -> str:
    """Return the form in which an answer is compared. Its time is linear in the length.

    >>> normal_form("The  U.S. Senate!"), normal_form("$1,000.50"), normal_form("The The")
    ('us senate', '1000.50', 'the the')
    """
    with_articles = bare_form(answer)
    words = [word for word in with_articles.split() if word not in _ARTICLES]
    return " ".join(words) or with_articles


def bare_form(answer: str) -> str:
    """Return the form with its articles.

    >>> bare_form("A)  The  U.S. Senate!")
    'a the us senate'
    """
    return (_kept_form if len(answer) <= _SHORT else _form)(answer)


def without_unseen(text: str) -> str:
    """Return a text without the characters that nobody sees, such as a space without width."""
    return _UNSEEN.sub("", text)


def without_latex(text: str) -> str:
    r"""Return a text without the commands and spaces of LaTeX that say only how it looks.

    >>> without_latex(r"\boxed{\textbf{B}}"), without_latex(r"1{,}000\,\text{km}")
    ('B', '1,000 km')
    """
    if "\\" not in text and "{" not in text:
        return text
    for _ in range(_DEEPEST):
        text = _LOOKS.sub(r"\1", text)
    return _LATEX_SPACE.sub(" ", _LATEX_NOTHING.sub("", text))


def _form(answer: str) -> str:
    # First of all: between two digits, say, it would hide from the patterns that they adjoin.
    seen = without_unseen(answer)
    said = without_latex(seen)
    apart = _BEFORE_RAISED.sub(" ", said if said.strip() else answer)
    plain = _composed(_composed(apart).casefold()).translate(_WRITTEN_AS)
    separated = _BETWEEN_DIGITS.sub(" ", _THOUSANDS.sub("", plain))
    return " ".join((_OTHER.sub(_mark, separated).strip() or plain).split())


_kept_form = functools.lru_cache(maxsize=8192)(_form)


def _composed(text: str) -> str:
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)


def _mark(match: re.Match[str]) -> str:
    mark = match.group()
    is_dropped = unicodedata.category(mark)[0] == "P" or _is_sign(mark)
    return mark if match["kept"] or not is_dropped else ""


def _is_sign(mark: str) -> bool:
    return mark in _SIGNS or unicodedata.category(mark) == "Sc"
