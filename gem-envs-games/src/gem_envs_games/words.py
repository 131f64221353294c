"""English words for the games, common and rare. Knows no game.

The lists are made from Debian's dictionaries by `tools/make_word_lists.py`; their licence stands
beside them in `word_lists/LICENSE.txt`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["LENGTHS", "by_length", "is_word", "words"]

LENGTHS = range(3, 11)


def words(length: int, *, common: bool) -> tuple[str, ...]:
    """Return the common words of this length, or the rarer ones, which hold none of these.

    Lower-case ASCII, in alphabetical order, none of them a slur, vulgar or sexual. There are
    words of 3 to 10 letters (`LENGTHS`), and none of another length. Read once per process,
    which takes some 10 ms.

    >>> words(3, common=True)[:3], words(3, common=False)[:3], words(2, common=True)
    (('ace', 'act', 'add'), ('adz', 'aft', 'aha'), ())
    """
    return by_length("common.txt" if common else "rare.txt").get(length, ())


@cache
def by_length(name: str) -> dict[int, tuple[str, ...]]:
    """Return the words of a file of `word_lists`, sorted by their length. Not to be changed."""
    text = (files("gem_envs_games") / "word_lists" / name).read_text(encoding="ascii")
    lists: dict[int, list[str]] = {length: [] for length in LENGTHS}
    for word in text.split():
        lists[len(word)].append(word)
    return {length: tuple(listed) for length, listed in lists.items()}


def is_word(text: str) -> bool:
    """Tell whether a text is a word of the lists, common or rare, in lower case.

    >>> is_word("mast"), is_word("Mast"), is_word("tsam")
    (True, False, False)
    """
    return text in _every_word()


@cache
def _every_word() -> frozenset[str]:
    return frozenset(
        word
        for common in (True, False)
        for length in LENGTHS
        for word in words(length, common=common)
    )
