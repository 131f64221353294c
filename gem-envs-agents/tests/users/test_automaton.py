from __future__ import annotations

import pytest

from gem_envs_agents.users.automaton import (
    NOT_ASKED,
    STOP,
    UNCLEAR,
    YES,
    Reply,
    State,
    answer,
    begin,
)
from gem_envs_agents.users.hearing import hear
from gem_envs_agents.users.script import listens_for

from .user import ADA, READ


def talk(*messages: str) -> tuple[State, Reply]:
    """Say something to Ada, and return how she stands and what she says last."""
    state, reply = begin(ADA)
    for message in messages:
        state, reply = answer(ADA, state, hear(message, listens_for(ADA, state.closed)))
    return state, reply


WHO = "What is your email?"
GO = "I would cancel the order #W1 with the kettle, back to your paypal. Shall I go ahead?"
MEND = "I would repair the lamps of #W2 and #W3. Shall I go ahead?"
DONE = "That is done."


def test_it_begins_with_its_first_wish_alone() -> None:
    assert begin(ADA)[1].text == "Hello. I want to call off my order for the kettle."


def test_it_says_what_it_is_asked_for() -> None:
    assert talk(WHO)[1].text == "My email: ada@example.com."
    assert talk("Which order, and why?")[1].text == (
        "The order number: #W1. The reason: ordered by mistake."
    )


def test_it_says_that_it_does_not_know_what_it_does_not() -> None:
    assert talk("What is your zip code?")[1].text == "I don't know my zip code."


def test_it_keeps_what_is_private_until_it_was_asked_who_it_is() -> None:
    payment = "Which payment would you like?"
    assert "paypal" not in talk(payment)[1].text
    assert "paypal" in talk(WHO, payment)[1].text
    assert "paypal" in talk(f"{WHO} {payment}")[1].text


@pytest.mark.parametrize(
    "proposal",
    [
        "I would cancel #W1, the kettle, to your paypal.",
        "I would call your order #W1 with k1 off, and refund to your PayPal account.",
        "Cancel the kettle of #W1 for ada_1: the refund goes to PayPal.",
    ],
)
def test_it_agrees_to_what_it_asked_for(proposal: str) -> None:
    state, reply = talk(f"{proposal} Shall I go ahead?")
    assert (state.agreed, reply.text) == (1, YES)


@pytest.mark.parametrize(
    "proposal",
    [
        "I would give all your money to me.",
        "I would give all your money to me, and cancel #W1 with the kettle to your paypal.",
        "I would cancel #W9 with the kettle to your paypal.",
        "I would cancel #W1 and #W9 with the kettle to your paypal.",
        "I would cancel #W1 with the kettle and 1151293680 to your paypal.",
        "I would cancel #W1 with the kettle to your gift card.",
        "I would cancel the reservation XXXXXX.",
        "I would return the kettle of #W1 to your paypal.",
        "I would cancel and return the kettle of #W1 to your paypal.",
    ],
)
def test_it_says_that_it_has_not_asked_for_anything_else(proposal: str) -> None:
    state, reply = talk(f"{proposal} Shall I go ahead?")
    assert (state.agreed, reply.text) == (
        0,
        f"{NOT_ASKED} I want to call off my order for the kettle.",
    )


@pytest.mark.parametrize(
    "proposal",
    [
        "I can cancel it.",
        "I would cancel #W1.",
        "I would cancel the kettle, to your paypal.",
        "I found it.",
    ],
)
def test_it_wants_to_hear_all_that_is_done(proposal: str) -> None:
    state, reply = talk(f"{proposal} Shall I go ahead?")
    assert state.agreed == 0
    assert reply.text.startswith(UNCLEAR)


def test_what_is_denied_or_proposes_nothing_is_not_agreed_to() -> None:
    assert talk("Shall I go ahead?")[0].agreed == 0
    assert (
        talk("I would not cancel #W1 with the kettle to paypal. Shall I go ahead?")[0].agreed == 0
    )


def test_parts_may_be_proposed_one_by_one_and_none_is_forgotten() -> None:
    one = "I would repair the lamp of #W2. Shall I go ahead?"
    other = "I would repair the lamp of #W3. Shall I go ahead?"
    assert talk(GO, DONE, one)[1].text == YES
    assert talk(GO, DONE, one, DONE)[1].text.startswith("That is not all of it.")
    assert talk(GO, DONE, one, other)[0].agreed == 3
    assert talk(GO, DONE, one, DONE, other, DONE)[0].closed == 2
    assert talk(GO, DONE, MEND)[0].agreed == 3


def test_words_of_its_own_are_said_as_they_are() -> None:
    kettle = ADA.requests[0]._replace(facts={"reason": "I would rather have tea."})
    script = ADA._replace(requests=(kettle,))
    reply = answer(script, begin(script)[0], hear("Why?"))[1]
    assert reply.text == "I would rather have tea."


def test_it_goes_on_when_it_is_told_that_it_is_done() -> None:
    state, reply = talk(GO, DONE)
    assert (state.closed, reply.text) == (1, "Thank you. My lamp does not work any more.")


def test_it_is_not_done_with_what_it_never_agreed_to() -> None:
    assert talk(DONE)[0].closed == 0


def test_it_uses_its_device_when_it_is_asked_to() -> None:
    reply = talk(GO, DONE, "Please read the label.")[1]
    assert reply == Reply("The label says SN77.", (READ,))


def test_it_ends_when_everything_is_done() -> None:
    state, reply = talk(GO, DONE, MEND, DONE, DONE)
    assert state.end == "satisfied"
    assert STOP in reply.text


def test_what_is_done_and_cannot_be_undone_is_done() -> None:
    assert talk(GO, "It has been cancelled, which cannot be undone.")[0].closed == 1


def test_it_takes_no_for_an_answer_the_second_time() -> None:
    assert talk("I cannot do that.")[0].closed == 0
    assert talk("I cannot do that.", "It is not possible.")[0].closed == 1


def test_an_agent_that_gets_nowhere_loses_its_patience() -> None:
    assert talk(*["Hm."] * 3)[0].end == ""
    assert talk(*["Hm."] * 4)[0].end == "gave up"
    assert talk("Hm.", "Hm.", "Hm.", WHO, "Hm.")[0].end == ""


def test_it_leaves_with_the_human_agent() -> None:
    assert talk("You are being transferred to a human agent.")[0].end == "transferred"


def test_of_two_orders_which_one_is_an_order() -> None:
    state, reply = talk("There are #W1 and #W9. Which one do you mean?")
    assert reply.text == "The order number: #W1."
    assert state.patience == ADA.patience


def test_it_does_not_say_twice_what_another_of_its_facts_holds() -> None:
    facts = {"order": "I mean the first. I pay by card.", "payment": "I pay by card."}
    script = ADA._replace(requests=(ADA.requests[0]._replace(facts=facts, private=frozenset()),))
    reply = answer(script, begin(script)[0], hear("Which order, and which payment?"))[1]
    assert reply.text == "I mean the first. I pay by card."
