"""Ids by what a person types: which are found, and which are near enough to be suggested."""

from __future__ import annotations

import pytest

from gem._python.near_names import matches, near

IDS = [
    "eval:AIME24",
    "game:GuessTheNumber-v0",
    "game:Sokoban-v0-easy",
    "rg:sokoban",
    "ta:GuessWho-v0",
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("game", ["game:GuessTheNumber-v0", "game:Sokoban-v0-easy"]),
        ("GUESS", ["game:GuessTheNumber-v0", "ta:GuessWho-v0"]),
        ("game:*-EASY", ["game:Sokoban-v0-easy"]),
        ("eval:AIME2?", ["eval:AIME24"]),
        ("", IDS),
        ("*", IDS),
        ("nope", []),
        ("[", []),
    ],
)
def test_a_text_matches_ids_that_hold_it_and_a_pattern_those_it_fits(
    text: str, found: list[str]
) -> None:
    assert matches(text, IDS) == found


@pytest.mark.parametrize("id", ["nope", "gam", "game:nope", "", "x" * 10_000, "wh", ":"])
def test_what_is_like_no_name_has_nothing_near(id: str) -> None:
    assert near(id, IDS) == []


def test_a_namespace_alone_is_no_slip_of_a_name() -> None:
    assert near("game", ["eval:AIME24"]) == []


def test_the_name_itself_is_nearest_wherever_it_is_and_first_in_its_own_namespace() -> None:
    assert near("sokoban", IDS) == ["rg:sokoban", "game:Sokoban-v0-easy"]
    assert near("game:sokoban", IDS) == ["game:Sokoban-v0-easy", "rg:sokoban"]


def test_a_slip_is_near() -> None:
    assert near("game:GuesTheNumbr-v0", IDS) == ["game:GuessTheNumber-v0"]
    assert near("eval:AIM24", IDS) == ["eval:AIME24"]


def test_a_name_that_starts_alike_comes_before_one_that_holds_it() -> None:
    assert near("word", ["a:CrossWord", "b:Wordle"]) == ["b:Wordle", "a:CrossWord"]
