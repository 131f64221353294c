from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_envs_games.textarena.answers import bracketed


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("[up]", "[up]"),
        ("I go [up].", "[up]"),
        ("\\boxed{up}", "[up]"),
        ("\\boxed{[1 2]}", "[1 2]"),
        ("[\\boxed{up}]", "[up]"),
        ("[up] or rather \\boxed{down}", "[down]"),
        ("\\boxed{up} or rather [down]", "[down]"),
        ("[up] [ ] \\boxed{}", "[up]"),
        ("[up] and then [", "[up]"),
        ("[1,\n 2]", "[1, 2]"),
        ("up", "[up]"),
        ("[up", "[up]"),
        ("", "[]"),
        ("[\u00b2 1]", "[? 1]"),
        (f"[up] [{'x' * 201}]", "[up]"),
    ],
)
def test_the_answer_that_begins_last_is_the_one(text: str, answer: str) -> None:
    assert bracketed(text) == answer


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_becomes_one_short_answer_in_ascii(text: str) -> None:
    answer = bracketed(text)

    assert answer.isascii()
    assert len(answer) <= 202
    assert answer[0] == "["
    assert answer[-1] == "]"
    assert not {"[", "]"} & set(answer[1:-1])


@given(st.text(alphabet="abc 123", min_size=1).filter(str.strip), st.text(alphabet="xyz. "))
def test_what_is_said_around_an_answer_does_not_matter(answer: str, talk: str) -> None:
    assert bracketed(f"{talk}[{answer}]{talk}") == bracketed(f"{talk}\\boxed{{{answer}}}{talk}")
