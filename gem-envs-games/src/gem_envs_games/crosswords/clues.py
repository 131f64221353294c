"""Words for crosswords, each with two clues. Knows no crossword.

The words and clues in `clues.tsv` were written for this project: a line holds a word,
`easy` or `hard`, and its two clues, separated by tabs.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

__all__ = ["ClueList", "clue_list"]


class ClueList(NamedTuple):
    """The clues, by word and back. Words in capitals and in alphabetical order."""

    easy: tuple[str, ...]
    hard: tuple[str, ...]
    clues: dict[str, tuple[str, str]]
    words: dict[str, str]
    """The word that a clue is for; no clue is for two."""


@cache
def clue_list() -> ClueList:
    """Read the clues, once per process, which takes about a millisecond.

    >>> clue_list().clues["OWL"]
    ('Night bird that hoots', 'Bird with big round eyes, said to be wise')
    >>> clue_list().words["Night bird that hoots"]
    'OWL'
    """
    text = (files(__package__) / "clues.tsv").read_text(encoding="ascii")
    lines = [line.split("\t") for line in text.splitlines()]
    levels = {word.upper(): level for word, level, _, _ in lines}
    clues = {word.upper(): (one, other) for word, _, one, other in lines}
    return ClueList(
        easy=tuple(word for word, level in levels.items() if level == "easy"),
        hard=tuple(word for word, level in levels.items() if level == "hard"),
        clues=clues,
        words={clue: word for word, pair in clues.items() for clue in pair},
    )
