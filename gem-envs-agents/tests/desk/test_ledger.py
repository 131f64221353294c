"""What is told has to be known, or to be one of a few guesses."""

from __future__ import annotations

import pytest

from gem_envs_agents.desk.ledger import (
    MOST_GUESSES,
    MOST_GUESSES_IN_A_MESSAGE,
    Decoys,
    Ledger,
    after_answer,
    after_call,
    after_message,
    after_words,
    untold,
)

POLICY = "A customer has 5 bags at most."
OUTPUTS = ("4", "camera")


def said(*messages: str, start: Ledger | None = None) -> list[str]:
    """Return what is left untold after some messages."""
    ledger = start or Ledger()
    for message in messages:
        ledger = after_message(ledger, message, OUTPUTS, POLICY)
    return untold(ledger, OUTPUTS)


KNOWS = after_words(Ledger(), "A Camera, 17 inches", OUTPUTS)


def test_a_sum_and_a_text_that_is_known_are_told() -> None:
    assert said("You can take 4 bags, and the dearest is the Camera.", start=KNOWS) == []


def test_a_text_that_nobody_said_is_not_known() -> None:
    assert said("It is the camera, the lamp or the kettle.") == ["4", "camera"]


def test_each_output_may_be_in_a_message_of_its_own() -> None:
    assert said("4.", "The camera.", start=KNOWS) == []


@pytest.mark.parametrize(
    "messages",
    [
        [" ".join(map(str, range(60)))],
        ["\n".join(f"{number}. thing" for number in range(1, 30))],
        ["\n".join(f"- {number}.0 bags" for number in range(30))],
        [f"Is it {number}?" for number in range(MOST_GUESSES + 2)],
        [" ".join(map(str, range(first, first + 5))) for first in range(0, 20, 5)],
        ["4", *(f"{number} {number + 1}" for number in range(10, 30, 2))],
        ["4", " ".join(map(str, range(100)))],
    ],
    ids=["ascending", "a list", "decimals", "one each", "five each", "first of all", "last"],
)
def test_who_recites_numbers_has_told_none(messages: list[str]) -> None:
    assert "4" in said(*messages)


def test_numbers_that_are_known_are_no_guesses() -> None:
    prices = " ".join(f"{number}.50" for number in range(20))
    known = after_words(Ledger(), prices, OUTPUTS)
    assert "4" not in said(f"They cost {prices}, of which you get 4.", start=known)
    assert "4" in said(f"They cost {prices}, of which you get 4.")


def test_what_the_rules_state_is_known() -> None:
    known = list(range(100, 100 + MOST_GUESSES_IN_A_MESSAGE - 1))
    assert "4" not in said(f"5 at most: 4, {' '.join(map(str, known))}")


def test_what_an_agent_put_into_a_call_is_known_by_no_answer() -> None:
    flood = " ".join(map(str, range(60)))
    written = after_call(Ledger(), {"address": flood}, f"Moved to {flood}.", OUTPUTS, POLICY)
    read = after_call(written, {"id": "#W1"}, f"It lies at {flood}.", OUTPUTS, POLICY)
    assert "4" in said(flood, start=read)
    named = after_call(Ledger(), {"address": "camera"}, "It is a camera.", OUTPUTS, POLICY)
    assert "camera" in said("A camera.", start=named)


def test_what_was_known_before_it_was_put_into_a_call_stays_known() -> None:
    passed = after_call(KNOWS, {"text": "camera 17"}, "ok", OUTPUTS, POLICY)
    assert said("4, a camera", start=passed) == []
    assert after_message(passed, "17", OUTPUTS, POLICY).guesses == ()


def test_a_flood_of_answers_fills_no_memory() -> None:
    ledger = Ledger()
    for number in range(30):
        words = " ".join(str(1_000 * number + each) for each in range(1_000))
        ledger = after_call(ledger, {"n": number}, words, OUTPUTS, POLICY)
        ledger = after_message(ledger, words, OUTPUTS, POLICY)
    assert len(str(tuple(ledger))) < 100_000


PRICES = Decoys.of(["59.90", "45.00"], ["20.00", "33.50", "12.00", "59.9"], ["59.90"])
SEEN = after_words(Ledger(), "59.90 45 20 33.5 12", ("59.90",))


def answered(*messages: str) -> bool:
    """Say whether the price of 59.90 is told, by one who has read every price."""
    ledger = SEEN
    for message in messages:
        ledger = after_answer(ledger, message, ("59.90",), POLICY, PRICES)
    return untold(ledger, ("59.90",)) == []


def test_what_is_right_is_no_decoy() -> None:
    assert Decoys(frozenset({"45"}), frozenset({"20", "33.5", "12"})) == PRICES


@pytest.mark.parametrize(
    "messages",
    [
        ["It was $59.90."],
        ["With the lamp of 20.00, which makes 79.90, it was 59.9."],
        ["I see two: 59.90 and 45.00. Which one?", "It was 59.90."],
        ["20, 33.50, 12 and 59.90: which do you mean?", "It was 59.90."],
        ["It was 59.90.", "There are others for 20, 33.50 and 12."],
    ],
)
def test_an_answer_is_one_price(messages: list[str]) -> None:
    assert answered(*messages)


@pytest.mark.parametrize(
    "messages",
    [
        ["It was 59.90 or 45.00."],
        ["Prices: 59.90, 20, 33.50, 12."],
        ["It was 59.90.", "No, it was 45.00."],
        ["It was 45.00."],
    ],
)
def test_who_says_every_price_has_answered_nothing(messages: list[str]) -> None:
    assert not answered(*messages)
