r"""Read the letter of a choice with what it stands for: `\text{(E) } 42`, `(E) 42`, `E) 42`.

Knows nothing about what a meaning is.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.reading.environments import RELATIONS
from gem_envs_math.grading.reading.items import LETTERS
from gem_envs_math.grading.text.tokens import Token

__all__ = ["read_lettered"]

Tokens = Sequence[Token]

_BRACKETED = 3  # tokens that mark the choice (E); E) and E. have two
_SUMMARIES = frozenset(("none", "all", "both", "neither"))
"""Words that begin what a choice stands for, and never a remark on it: `(E) none of these`."""


def read_lettered(tokens: Tokens) -> tuple[str, Tokens] | None:
    """Return the letter of a choice and its meaning, None for any other answer.

    A letter in mathematics is one only before a number or `none of these`: else it is a factor.
    Raises Unread where a second choice follows.
    """
    marks = _marks(tokens)
    if not marks:
        return None
    letter = tokens[marks - 2]
    meaning = tokens[marks:]
    is_in_text = letter.kind == "word" and marks == _BRACKETED
    if not is_in_text and not _is_meaning(meaning):
        return None
    holds_choice = _is_choice_in_text(meaning) if is_in_text else _holds_choice(meaning)
    if holds_choice or _is_other_letter(meaning, letter.text):
        raise Unread("two choices without a sign between them")
    return letter.text.casefold(), meaning


def _marks(tokens: Tokens) -> int:
    """Return how many tokens mark a choice: three of `(E)`, two of `E)` and `E.`, else none."""
    texts = [token.text for token in tokens[:3]]
    if len(tokens) > 3 and texts[0] == "(" and texts[1] in LETTERS and texts[2] == ")":
        return _BRACKETED
    return 2 if len(tokens) > 2 and texts[0] in LETTERS and texts[1] in (")", ".") else 0


def _is_meaning(tokens: Tokens) -> bool:
    first = tokens[0]
    is_start = first.kind == "number" or first.text == "$" or first.text.casefold() in _SUMMARIES
    return is_start and first.spaced


def _is_choice_in_text(tokens: Tokens) -> bool:
    return _marks(tokens) == _BRACKETED and tokens[1].kind == "word"


def _holds_choice(tokens: Tokens) -> bool:
    return any(_marks(tokens[at : at + 4]) for at in range(len(tokens)))


def _is_other_letter(tokens: Tokens, letter: str) -> bool:
    r"""Whether tokens are the letter of another choice: `\text{(A) C}` chooses both."""
    letters = [token.text for token in tokens if token.kind in ("letters", "word")]
    is_one = len(letters) == 1 and letters[0].upper() in LETTERS
    has_more = any(token.kind == "number" or token.text in RELATIONS for token in tokens)
    return is_one and not has_more and letters[0].upper() != letter
