r"""Read which of several options an answer means. Knows nothing about questions.

An answer means an option in one of four ways, tried in this order:

1. its letter, in either case: `B`, `b`, `(B)`, `B.`, `B)`, `B:`, `option B`;
2. its text, as it stands but for case and the white space beside marks, so that `3x+2` is `3x + 2`
   and `1 2` not `12`; or else in the
   form of `normalising` with its articles: case and punctuation do not count, but where marks
   alone tell options apart, as `(0, 1)` and `[0, 1]`, they do;
3. another word for its text: yes is true, no is false, uncertain is unknown, and, as some data
   sets label them, entailment is true and "not entailment" is false;
4. its letter and its text: `B) False`. The two must agree.

Marks around the whole of it (`**B**`, `[B]`, `"B"`, `\text{B}`, `\(B\)`) are left out before a
letter is read, and so is what nobody sees.
Whatever else stands in an answer makes it mean none of them, and so do over 2,000 characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_qa.normalising import bare_form, without_latex, without_unseen

__all__ = ["LETTERS", "are_distinct", "lettered", "meant", "unlettered"]

_LONGEST = 2_000
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

# Without regard to case [A-Za-z] would match four letters more, such as the sign of the Kelvin.
_LETTER = re.compile(r"(?i:option\s+)?\(?([A-Za-z])\s*[).:]{0,2}")
_LETTER_AND_TEXT = re.compile(r"(?i:option\s+)?\(?([A-Za-z])[).:]{1,2}\s*(\S.*)", re.DOTALL)
# Bold in a formula tells one thing from another, but not at the letter of an option: the first of
# an answer, behind marks and what is put around it.
_BOLD_LETTER = re.compile(
    r"((?:[ *_`\"'$\[]|\\[a-z]{1,8} ?\{){0,10}(?i:option\s+)?\(?)"
    r"\\(?:mathbf|boldsymbol)\s{0,8}\{(\(?[A-Za-z][).:]{0,2})\}"
)
# Between two letters or two digits it parts words or numbers.
_SPACE_AT_MARKS = re.compile(r"(?!(?<=[^\W\d_]) [^\W\d_])(?!(?<=\d) \d) ")
_DELIMITERS = re.compile(r"\\[()\[\]]")
_AROUND = " *_`\"'$"
_MARKS = f"{_AROUND}[]"
"""What may stand around a letter, or around a letter and its text."""
_SAME = {
    "yes": "true",
    "no": "false",
    "uncertain": "unknown",
    "entailment": "true",
    "not entailment": "false",
    "notentailment": "false",
}


def lettered(options: Sequence[str]) -> str:
    r"""Lay options out, a letter before each.

    >>> lettered(["True", "False"])
    'A) True\nB) False'
    """
    return "\n".join(f"{letter}) {text}" for letter, text in zip(LETTERS, options, strict=False))


def unlettered(options: Sequence[str]) -> tuple[str, ...]:
    """Return the options without their letters, where each one begins with its own.

    >>> unlettered(["A) True", "B) False"]), unlettered(["A) True", "False"])
    (('True', 'False'), ('A) True', 'False'))
    """
    parts = [_LETTER_AND_TEXT.fullmatch(option.strip()) for option in options]
    texts = tuple(
        part[2].strip()
        for part, letter in zip(parts, LETTERS, strict=False)
        if part is not None and part[1] == letter
    )
    return texts if len(texts) == len(options) else tuple(option.strip() for option in options)


def are_distinct(options: Sequence[str]) -> bool:
    """Say whether no answer can mean two of these options, by its text or a letter.

    >>> are_distinct(["x > 0", "x < 0"]), are_distinct(["Bonn", "bonn."]), are_distinct(["B", "A"])
    (True, False, False)
    """
    # An option that would be read as a letter has to be the one at that letter.
    letters = [_LETTER.fullmatch(_with_plain_letter(option).strip(_MARKS)) for option in options]
    others = [
        read is not None and read[1].upper() != letter
        for read, letter in zip(letters, LETTERS, strict=False)
    ]
    forms = {(bare_form(option), _with_marks(option)) for option in options}
    return len(forms) == len(options) and not any(others)


def meant(answer: str, options: Sequence[str]) -> int | None:
    """Return the place, from 0, of the option that an answer means; None for none of them.

    >>> options = ["True", "False"]
    >>> [meant(each, options) for each in ("b", "no", "(B) False.", "A) False", "C")]
    [1, 1, 1, None, None]
    """
    if len(answer.strip()) > _LONGEST:
        return None
    text = _unwrapped(answer)
    if not text:
        return None
    with_letter = _with_plain_letter(answer)
    unmarked = with_letter.strip(_MARKS)
    if letter := _LETTER.fullmatch(unmarked):
        return _placed(letter[1], options)
    named = _named(text, options)
    # With its brackets first: the one at its end may be the option's own.
    both = _LETTER_AND_TEXT.fullmatch(with_letter.strip(_AROUND))
    both = both or _LETTER_AND_TEXT.fullmatch(unmarked)
    if named is None and both is not None:
        place = _placed(both[1], options)
        return place if place is not None and place == _named(both[2], options) else None
    return named


def _placed(letter: str, options: Sequence[str]) -> int | None:
    place = LETTERS.index(letter.upper())
    return place if place < len(options) else None


def _named(text: str, options: Sequence[str]) -> int | None:
    written = _with_marks(text)
    alike = [place for place, option in enumerate(options) if _with_marks(option) == written]
    # Before its form, in which the marks of `3x+2` are lost: it would be the option `3x2`.
    if written and len(alike) == 1:
        return alike[0]
    named = bare_form(text)
    forms = [bare_form(option) for option in options]
    if named not in forms:  # a word of the options' own goes before another word for it
        named = _SAME.get(named, named)
        forms = [_SAME.get(form, form) for form in forms]
    places = [place for place, form in enumerate(forms) if form == named]
    if len(places) > 1:
        places = [place for place in places if place in alike]
    return places[0] if len(places) == 1 else None


def _with_marks(text: str) -> str:
    """Return a text as it stands, but for case, space at marks and what is put around it."""
    spaced = " ".join(_unwrapped(text).casefold().split())
    return _SPACE_AT_MARKS.sub("", spaced).strip(f"{_AROUND}.")


def _with_plain_letter(text: str) -> str:
    """Return an unwrapped text that begins with no bold letter, as a letter is read."""
    text = _unwrapped(text)
    bold = _BOLD_LETTER.match(text)
    if bold is None:
        return text
    # Unwrapped once more: what stands around a command is left while that is there.
    return _unwrapped(f"{bold[1]}{bold[2]}{text[bold.end() :]}")


def _unwrapped(text: str) -> str:
    """Return what is seen of a text, without what LaTeX puts around it and its formulas."""
    return _DELIMITERS.sub("", without_latex(without_unseen(text))).strip()
