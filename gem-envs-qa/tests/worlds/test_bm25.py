from __future__ import annotations

import pytest

from gem_envs_qa.worlds.bm25 import Index

TEXTS = [
    "The tide clock of Osk.",
    "A clockwork orrery, made in Osk.",
    "Osk Osk Osk",
    "Nothing of that.",
]


def test_rare_words_and_many_of_them_come_first() -> None:
    index = Index(TEXTS)

    assert index.search("orrery", k=3) == [1]
    assert index.search("Osk", k=3)[0] == 2
    assert index.search("tide in OSK?", k=3)[0] == 0


@pytest.mark.parametrize(
    "query", ["", " ", "the of", "zzz", "\x00", "\ud800", "()[]*\\", "?" * 10**6]
)
def test_a_query_without_a_known_word_finds_nothing(query: str) -> None:
    assert Index(TEXTS).search(query, k=3) == []


@pytest.mark.parametrize("query", ["Osk " * 10**6, "osk" + " x" * 10**6])
def test_a_huge_query_is_cut(query: str) -> None:
    assert Index(TEXTS).search(query, k=1) == [2]


def test_equal_matches_come_in_the_order_of_the_texts() -> None:
    assert Index(["same", "same", "same"]).search("same", k=2) == [0, 1]


def test_an_index_may_be_empty() -> None:
    assert Index([]).search("anything", k=3) == []
