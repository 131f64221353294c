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


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        ("I see two orders with a kettle, #A1 and #A2. Which one do you mean?", ("item",)),
        ("Could you tell me which of your orders you mean?", ("order",)),
        ("Please confirm the order number.", ("order",)),
        ("Please confirm the new delivery address.", ("address",)),
        ("Have you tried restarting it?", ("restart",)),
        ("Could you turn it off and then on again?", ("restart",)),
        ("Please unplug it and plug it back in.", ("restart",)),
        ("What's the name on the account?", ("name",)),
        ("Could you provide the new options you would like?", ("variant",)),
        ("Which card should I use?", ("payment",)),
        ("Where would you like the refund to go?", ("payment",)),
        ("Where would you like it sent?", ("address",)),
        ("I need some facts. Could you provide:\n- Your email\n- Your zip code", ("email", "zip")),
        (
            "We can find you by your name and zip code. Could you provide those details?",
            ("name", "zip"),
        ),
        ("What would you like me to do with it?", ()),
    ],
)
def test_what_models_ask_for_is_heard(message: str, asks: tuple[str, ...]) -> None:
    heard = hear(message)
    assert heard.asks == asks
    assert not heard.proposes


@pytest.mark.parametrize(
    ("message", "verbs"),
    [
        ("I will return the lamp. Please confirm if everything is correct.", ("return",)),
        ("Cancel #W1 (reason: change of plans). Is this correct?", ("cancel",)),
        ("Shall I move forward with cancelling #W1?", ("cancel",)),
        ("Please give me your confirmation to cancel #W1 (yes/no).", ("cancel",)),
        ("I would cancel #W1, and you get $40 back. Do you agree?", ("cancel",)),
        ("It is within the return window. Shall I exchange the lamp?", ("exchange",)),
        ("I exchange it; we tell you how to return the old one. Is that okay?", ("exchange",)),
        ("It does not switch on, so I would repair it. Do you approve?", ("repair",)),
        ("For the flight cancellation: proceed with issuing a $50 certificate?", ("compensate",)),
        ("Would you like to cancel the order #W1?", ("cancel",)),
        ('I would cancel #W1. Reply "yes" to proceed.', ("cancel",)),
        ("Do I have your permission to cancel #W1?", ("cancel",)),
        ("Could you confirm that you want me to cancel #W1?", ("cancel",)),
    ],
)
def test_what_models_propose_is_heard_without_what_they_say_beside_it(
    message: str, verbs: tuple[str, ...]
) -> None:
    heard = hear(message)
    assert heard.proposes
    assert heard.verbs == verbs


def test_a_proposal_may_ask_for_something_too() -> None:
    heard = hear("Shall I cancel #W1, and which payment method would you like?")
    assert (heard.proposes, heard.asks) == (True, ("payment",))


def test_who_asks_first_and_would_do_it_later_proposes_nothing() -> None:
    heard = hear("Please tell me which order to cancel, and I'll proceed with it.")
    assert (heard.proposes, heard.asks) == (False, ("order",))


def test_what_is_ruled_out_is_not_named_unless_it_is_listened_for() -> None:
    message = "IFOYYZ cannot be cancelled. Shall I cancel NQNU5R?"
    assert hear(message).names == ("nqnu5r",)
    assert hear(message, {"ifoyyz"}).names == ("ifoyyz", "nqnu5r")


@pytest.mark.parametrize(
    "addition",
    [
        "which can no longer be undone",
        "which can no longer be changed",
        "as they do not accept them later",
        "as we do not accept them later",
        "whose card was declined",
    ],
)
def test_what_a_proposal_adds_to_what_it_holds_rules_nothing_out(addition: str) -> None:
    message = (
        f"I would cancel the order #A12345 and the order #A99999, {addition}. Shall I go ahead?"
    )
    assert hear(message, {"#a12345"}).names == ("#a12345", "#a99999")


@pytest.mark.parametrize(
    "message", ["I have cancelled your order.", "We've just submitted the return."]
)
def test_what_was_done_is_heard_in_the_active_voice(message: str) -> None:
    assert hear(message).reports


@pytest.mark.parametrize(
    "message",
    [
        "I'm sorry, but the return window has closed.",
        "That color is sold out.",
        "This order is not eligible for it.",
        "Since it was delivered, it can no longer be cancelled.",
        "That won't be possible, as it is not delivered yet.",
        "We do not accept returns after 30 days.",
        "We don\u2019t allow that.",
        "Your request has been declined.",
    ],
)
def test_a_refusal_is_heard_by_its_reason(message: str) -> None:
    assert hear(message).refuses


@pytest.mark.parametrize(
    "message",
    [
        "Do you accept this change?",
        "We allow that within 30 days.",
        "The order has been cancelled.",
        "You can decline.",
        "I turned the device down.",
        "I have turned down the volume.",
        "Your card was declined at first.",
        "If you do not accept this, tell me.",
    ],
)
def test_what_turns_nothing_down_is_no_refusal(message: str) -> None:
    assert not hear(message).refuses


@pytest.mark.parametrize(
    "message",
    [
        "I can transfer you to a human agent if you like.",
        "I cannot transfer you to a human agent.",
        "I could transfer you to a human agent.",
    ],
)
def test_who_might_transfer_a_user_does_not(message: str) -> None:
    assert not hear(message).transfers
