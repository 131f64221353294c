from __future__ import annotations

from gem_envs_agents.users.automaton import STOP, Reply, State, answer, begin
from gem_envs_agents.users.hearing import hear

from .user import ADA, READ


def talk(*messages: str) -> tuple[State, Reply]:
    """Say something to Ada, and return how she stands and what she says last."""
    state, reply = begin(ADA)
    for message in messages:
        state, reply = answer(ADA, state, hear(message))
    return state, reply


WHO = "What is your email?"
GO = "Shall I go ahead?"
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


def test_it_agrees_to_what_it_asked_for_alone() -> None:
    assert talk(f"I would cancel #W1. {GO}")[1].text.startswith("Yes")
    assert talk(f"I would cancel #W9. {GO}")[1].text.startswith("No")


def test_it_goes_on_when_it_is_told_that_it_is_done() -> None:
    state, reply = talk(GO, DONE)
    assert (state.closed, reply.text) == (1, "Thank you. My lamp does not work any more.")


def test_it_is_not_done_with_what_it_never_agreed_to() -> None:
    assert talk(DONE)[0].closed == 0


def test_it_uses_its_device_when_it_is_asked_to() -> None:
    reply = talk(GO, DONE, "Please read the label.")[1]
    assert reply == Reply("The label says SN77.", (READ,))


def test_it_ends_when_everything_is_done() -> None:
    state, reply = talk(GO, DONE, GO, DONE, DONE)
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
