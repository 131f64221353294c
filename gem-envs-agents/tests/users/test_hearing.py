from __future__ import annotations

import pytest

from gem_envs_agents.users.hearing import SLOTS, hear


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        ("What is your email?", ("email",)),
        ("Could you please provide your full name and zip code?", ("name", "zip")),
        ("Please confirm your email address.", ("email",)),
        ("Which order is it, and what is the reason?", ("order", "reason")),
        ("Please read me the serial number on the label.", ("label",)),
        ("I have found your order number and your address.", ()),
    ],
)
def test_what_is_asked_for_is_heard(message: str, asks: tuple[str, ...]) -> None:
    assert hear(message).asks == asks


@pytest.mark.parametrize(
    "message",
    [
        "I would refund it to your payment method. Shall I go ahead?",
        "The order #W1 would be cancelled. Do you agree?",
        "I'll send it to your address. Please confirm (yes/no).",
    ],
)
def test_a_proposal_is_no_question(message: str) -> None:
    assert hear(message).proposes
    assert hear(message).asks == ()


def test_that_it_is_done_that_it_cannot_be_done_and_a_transfer_are_heard() -> None:
    assert hear("Your order has been cancelled.").reports
    assert hear("I\u2019m sorry, I can\u2019t do that.").refuses
    assert hear("I will transfer you to a human agent.").transfers


@pytest.mark.parametrize(
    ("message", "is_answer"),
    [
        ("There are ten of them.", True),
        ("It was 40 dollars. Is there anything else I can do for you?", True),
        ("One moment, let me look that up.", False),
        ("Your order has been found. Do you mean the first or the second?", False),
        ("", False),
    ],
)
def test_an_answer_asks_for_nothing(message: str, is_answer: bool) -> None:
    assert hear(message).answers is is_answer


def test_an_offer_of_a_transfer_is_none() -> None:
    assert not hear("Would you like me to transfer you to a human agent?").transfers


def test_who_asks_for_the_identity_asks_for_what_says_it() -> None:
    assert hear("May I verify your identity first?").asks == ("email", "name")


def test_a_megabyte_is_heard_as_its_beginning() -> None:
    assert hear("a? " * 400_000) == hear("a? " * 2_000)
    assert hear("?" * 1_000_000).asks == ()


def test_every_slot_has_words_that_ask_for_it() -> None:
    for slot in SLOTS:
        words = {"name": "your name", "item": "which item", "order": "which order"}.get(slot, slot)
        words = {"user_id": "user id", "variant": "which variant"}.get(slot, words)
        assert slot in hear(f"Please tell me {words}.").asks
