from __future__ import annotations

from collections import Counter

import pytest

from gem_envs_games.crosswords.clues import clue_list

LISTED = clue_list()
CLUES = [(word, clue) for word, pair in LISTED.clues.items() for clue in pair]
ENDINGS = ("s", "es", "d", "ed", "ing", "er", "ers", "r", "ly", "y", "ies", "ier", "ily", "al")


def related(word: str) -> set[str]:
    """Return the word's plausible inflections, and words that it may be an inflection of."""
    stems = {word, word[:-1], word + word[-1]}
    shorter = {word[: -len(ending)] for ending in ENDINGS if word.endswith(ending)}
    return {stem + ending for stem in stems for ending in ENDINGS} | {
        stem for stem in shorter | {word[:-1]} if len(stem) > 2
    }


def test_there_are_three_hundred_words_and_many_of_each_kind() -> None:
    assert len(LISTED.easy) >= 200
    assert len(LISTED.hard) >= 120
    assert len(LISTED.clues) == len(LISTED.easy) + len(LISTED.hard)


def test_words_are_capital_letters_three_to_ten() -> None:
    assert all(word.isascii() and word.isalpha() and word.isupper() for word in LISTED.clues)
    assert {len(word) for word in LISTED.clues} == set(range(3, 11))


def test_no_clue_is_for_two_words_or_given_twice() -> None:
    assert Counter(clue for _, clue in CLUES).most_common(1)[0][1] == 1
    assert LISTED.words == {clue: word for word, clue in CLUES}


@pytest.mark.parametrize("level", ["easy", "hard"])
def test_words_stand_in_alphabetical_order(level: str) -> None:
    words = getattr(LISTED, level)

    assert list(words) == sorted(words)


def test_no_clue_contains_its_answer() -> None:
    assert [(word, clue) for word, clue in CLUES if word in clue.upper()] == []


def test_no_clue_contains_an_inflection_of_its_answer() -> None:
    words = {
        clue: set("".join(c if c.isalpha() else " " for c in clue).split()) for _, clue in CLUES
    }

    found = [
        (word, clue)
        for word, clue in CLUES
        if {clue_word.lower() for clue_word in words[clue]} & related(word.lower())
    ]

    assert found == []


def test_clues_are_short_lines_of_printable_text() -> None:
    assert [clue for _, clue in CLUES if not (clue.isprintable() and 3 < len(clue) <= 60)] == []
