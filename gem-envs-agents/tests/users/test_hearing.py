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


WORDS = {
    "name": "your name",
    "item": "which item",
    "order": "which order",
    "user_id": "your user id",
    "variant": "which variant",
    "flights": "which flight",
    "bags": "how many bags",
    "passengers": "which passengers",
}


@pytest.mark.parametrize("slot", SLOTS)
def test_every_slot_has_words_that_ask_for_it(slot: str) -> None:
    assert slot in hear(f"Please tell me {WORDS.get(slot, slot)}.").asks


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        ("Could you provide your reservation ID?", ("order",)),
        ("What dates would you like to travel?", ("flights",)),
        ("How many checked bags do you have?", ("bags",)),
        ("Do you want travel insurance?", ("insurance",)),
        ("Which cabin class do you prefer?", ("cabin",)),
    ],
)
def test_what_an_airline_asks_for_is_heard(message: str, asks: tuple[str, ...]) -> None:
    assert hear(message).asks == asks


@pytest.mark.parametrize(
    ("message", "verbs"),
    [
        ("I would cancel it.", ("cancel",)),
        ("I would call the whole order off.", ("cancel",)),
        ("I would send it back.", ("return",)),
        ("Your return flight stays, and I upgrade the cabin.", ("change",)),
        ("I will not cancel it, and I never would return it.", ()),
        ("It cannot be returned, so instead of cancelling it I exchange it.", ("exchange",)),
        ("I issue you a certificate.", ("compensate",)),
        ("I would give all your money to me.", ("give",)),
        ("I will give you a refund.", ()),
    ],
)
def test_what_is_proposed_is_heard_by_its_verbs(message: str, verbs: tuple[str, ...]) -> None:
    assert hear(f"{message} Shall I go ahead?").verbs == verbs


def test_ids_of_every_form_are_heard_in_a_proposal() -> None:
    proposal = (
        "Cancel #W12, the reservation XXXXXX and ZFA04Y, items 1151293680 and P1234K-0, the flight "
        "HAT136, by gift_card_77 or PayPal. PLEASE say yes. Shall I go ahead (yes/no)?"
    )
    assert hear(proposal).names == (
        "#w12",
        "1151293680",
        "gift_card_77",
        "hat136",
        "p1234k-0",
        "paypal",
        "xxxxxx",
        "zfa04y",
    )


def test_words_and_amounts_are_heard_where_they_are_listened_for() -> None:
    proposal = "A certificate of $1,050.00 for the Lamp. Shall I go ahead?"
    assert hear(proposal).names == ("certificate",)
    assert hear(proposal, {"lamp", "amp", "$50"}).names == ("$1050", "certificate", "lamp")


def test_what_proposes_nothing_names_nothing() -> None:
    heard = hear("I have cancelled #W1.", {"lamp"})
    assert (heard.verbs, heard.names) == ((), ())
