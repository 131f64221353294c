from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_envs_qa.scoring import LONGEST, score


@pytest.mark.parametrize(
    ("answer", "accepted", "em", "f1"),
    [
        ("Paris", ["Paris"], 1.0, 1.0),
        ("the city of Paris", ["Paris"], 0.0, 0.5),
        ("Bell", ["Alexander Bell", "Bell"], 1.0, 1.0),
        ("Alexander", ["Alexander Bell", "Bell"], 0.0, 2 / 3),
        ("Graham Bell", ["Alexander Bell", "Bell"], 0.0, 2 / 3),
        ("Paris Paris", ["Paris"], 0.0, 2 / 3),
        ("London", ["Paris"], 0.0, 0.0),
        ("", ["Paris"], 0.0, 0.0),
        (" \n", ["!!!"], 0.0, 0.0),
        ("!!!", ["!!!"], 1.0, 1.0),
        ("yes", ["Yes."], 1.0, 1.0),
        ("yes it is", ["yes"], 0.0, 0.0),
        ("no", ["no one"], 0.0, 0.0),
        ("Paris", [], 0.0, 0.0),
    ],
)
def test_scores_are_the_best_over_all_accepted_answers(
    answer: str, accepted: list[str], em: float, f1: float
) -> None:
    assert score(answer, accepted) == pytest.approx((em, f1))


@given(st.lists(st.sampled_from(["the", "red", "Fox", "3.5", "élan", "!"]), max_size=8))
def test_f1_is_one_where_the_match_is_exact_and_symmetric_elsewhere(words: list[str]) -> None:
    answer = " ".join(words)
    other = "Fox red red"

    there = score(answer, [other])
    back = score(other, [answer])

    assert there.em <= there.f1
    assert there.f1 == pytest.approx(back.f1) or not answer


def test_listing_everything_does_not_pay() -> None:
    everything = " ".join(f"city{number}" for number in range(1000))

    assert score(f"{everything} Paris", ["Paris"]).f1 < 0.01


@pytest.mark.parametrize("length", [LONGEST, 200_000, 1_000_000])
@pytest.mark.parametrize(
    "piece", ["a", "the ", "1,", "-1", ".", "a\u0315\u0300", "\u0300\u0315", "\ufdfa", "\ud800"]
)
def test_a_huge_answer_is_wrong_and_costs_no_more_than_a_verdict_may(
    piece: str, length: int
) -> None:
    answer = piece * (length // len(piece))
    started = time.process_time()

    assert score(answer, ["Paris"]) == (0.0, 0.0)
    assert time.process_time() - started < 8  # mostly under 1; all of a million would take 16


def test_a_long_answer_is_right_up_to_the_limit_and_wrong_beyond() -> None:
    longest = "a1" * (LONGEST // 2)

    assert score(longest, [longest]).em == 1.0
    assert score(f"{longest}!", [longest]).em == 0.0
