r"""Read a model's answer: the last `\boxed{...}` that a game understands. Always linear time.

Knows nothing about any game's rules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

__all__ = [
    "integers",
    "move_reader",
    "one_integer",
    "read_boxed",
    "read_boxed_text",
    "reader",
]

T = TypeVar("T")

_OPEN = "\\boxed{"
_LONGEST = 1000  # also keeps int(), quadratic in the digits, from huge numbers
_SHORT = 100  # an answer without its reasoning
_TEXT = ("\\text", "\\math")
_SEPARATORS = str.maketrans(",;()[]", "      ")


def read_boxed(text: str, read: Callable[[list[str]], T | None]) -> T | None:
    r"""Return what `read` makes of the words in the last box for which it is not None.

    White space, commas, semicolons, parentheses and square brackets separate words, and LaTeX's
    `\text{...}` inside is undone. A box of more than 1,000 characters is passed over. Never
    raises on any text.

    >>> read_boxed(r"Not \boxed{7}, rather \boxed{ (25) }. See \boxed{above}.", one_integer)
    25
    """
    return read_boxed_text(text, lambda inside: read(_words(inside)))


def read_boxed_text(text: str, read: Callable[[str], T | None]) -> T | None:
    r"""Return what `read` makes of all that stands in the last box for which it is not None.

    As `read_boxed`, where the answer is one text and no list of words.

    >>> read_boxed_text(r"\boxed{Mercury (planet)} or \boxed{}", lambda inside: inside or None)
    'Mercury (planet)'
    """
    return _read_last(text, _OPEN, "}", read)


def _read_last(text: str, opening: str, closing: str, read: Callable[[str], T | None]) -> T | None:
    end = text.rfind(closing) + 1  # what opens after that never closes
    while (start := text.rfind(opening, 0, end)) >= 0:
        first = start + len(opening)
        close = text.find(closing, first, min(end, first + _LONGEST + 1))
        if close >= 0:
            answer = read(text[first:close])
            if answer is not None:
                return answer
        end = start  # no box reaches into the next one, so no character is read twice
    return None


def _words(inside: str) -> list[str]:
    command, _, marked_up = inside.rpartition("{")  # a box ends at its first }
    command = command.strip()
    is_text = command.startswith(_TEXT) and command[1:].isalpha()
    plain = marked_up if is_text or not command else inside  # and not the 2 of 10^{2}
    return plain.translate(_SEPARATORS).split()


def reader(read: Callable[[list[str]], T | None]) -> Callable[[str], T | None]:
    r"""Return `read_boxed` for this `read`; the last 4,096 short answers are remembered.

    What `read` returns must depend on the words alone, and never change.

    >>> number = reader(one_integer)
    >>> number(r"\boxed{7}"), number("seven")
    (7, None)
    """
    return _remembering(lambda text: read_boxed(text, read))


def move_reader(read: Callable[[list[str]], T | None]) -> Callable[[str], T | None]:
    r"""Return `reader(read)` that takes square brackets as well, where no box can be read.

    >>> number = move_reader(one_integer)
    >>> number("I take [4]."), number(r"Rather \boxed{5} than [4]."), number("4")
    (4, 5, None)
    """

    def read_last(text: str) -> T | None:
        answer = read_boxed(text, read)
        if answer is None:
            return _read_last(text, "[", "]", lambda inside: read(_words(inside)))
        return answer

    return _remembering(read_last)


def _remembering(read_last: Callable[[str], T | None]) -> Callable[[str], T | None]:
    remembered = lru_cache(4096)(read_last)
    return lambda text: remembered(text) if len(text) <= _SHORT else read_last(text)


def one_integer(words: list[str]) -> int | None:
    """Return the only word as a number, None if it is not one. ASCII digits, one sign at most."""
    return int(words[0]) if len(words) == 1 and _is_integer(words[0]) else None


def integers(words: list[str]) -> tuple[int, ...] | None:
    """Return the words as numbers, None if there are none or one is not a number.

    >>> integers(["1", "-2"]), integers(["1", "two"]), integers([])
    ((1, -2), None, None)
    """
    digits = "".join(words)
    if (digits.isdigit() and digits.isascii()) or (digits and all(map(_is_integer, words))):
        return tuple(map(int, words))
    return None


def _is_integer(word: str) -> bool:
    digits = word[1:] if word[0] in "+-" else word
    return digits.isdigit() and digits.isascii()  # int() takes "1_0" and other scripts' digits
