"""The prover finds nothing in a fair user, and every one of twenty faults that are planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gem_envs_agents.users.automaton import STOP, YES, Reply, State, answer, begin
from gem_envs_agents.users.hearing import Heard
from gem_envs_agents.users.proving import Answer, prove
from gem_envs_agents.users.script import Script

from .user import ADA, KETTLE, LAMP, READ, STOCK


def test_nothing_is_found_in_a_fair_user() -> None:
    proof = prove(ADA)
    assert proof.faults == ()
    assert proof.states > 100
    assert proof.transitions > 5_000


def first(**changes: Any) -> Script:
    return ADA._replace(requests=(KETTLE._replace(**changes), LAMP, STOCK))


SCRIPTS = {
    "a secret in its first words": (first(wording="How is it that you have 10 kettles?"), "secret"),
    "a secret in a fact": (first(facts={**KETTLE.facts, "order": "10"}), "secret"),
    "a secret in what its device tells": (
        ADA._replace(secret=frozenset({"SN77"})),
        "secret",
    ),
    "what is private in its wish": (
        first(wording="Refund my paypal, and call the kettle off."),
        "private payment",
    ),
    "its email in its greeting": (ADA._replace(greeting="I am ada@example.com."), "email unasked"),
    "its second wish but one at once": (
        first(wording="Call off the kettle. How many kettles do you have?"),
        "before its turn",
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_leak_in_a_script_is_found(name: str) -> None:
    script, what = SCRIPTS[name]
    assert any(
        fault.kind == "leak" and what in fault.what
        for fault in prove(script._replace(patience=1)).faults
    )


def changed(name: str) -> Answer:
    """Return the automaton with one fault."""

    def faulty(script: Script, state: State, heard: Heard) -> tuple[State, Reply]:
        after, reply = answer(script, state, heard)
        return FAULTS[name](state, heard, after, reply)

    return faulty


When = Callable[[State, Heard], bool]
Change = Callable[[State, Heard, State, Reply], "tuple[State, Reply]"]


def says_more(when: When, more: str) -> Change:
    def fault(state: State, heard: Heard, after: State, reply: Reply) -> tuple[State, Reply]:
        if not when(state, heard):
            return after, reply
        return after, reply._replace(text=f"{more} {reply.text}")

    return fault


def changes(when: When, **fields: Any) -> Change:
    def fault(state: State, heard: Heard, after: State, reply: Reply) -> tuple[State, Reply]:
        return (after._replace(**fields) if when(state, heard) else after), reply

    return fault


def replies(when: When, text: str) -> Change:
    def fault(state: State, heard: Heard, after: State, reply: Reply) -> tuple[State, Reply]:
        return after, (Reply(text) if when(state, heard) else reply)

    return fault


def uses_its_device(state: State, heard: Heard, after: State, reply: Reply) -> tuple[State, Reply]:
    return after, reply._replace(calls=(READ,))


def never_ends(state: State, heard: Heard, after: State, reply: Reply) -> tuple[State, Reply]:
    if after.end == "satisfied":
        return state, Reply("One more moment.")
    return after, reply


FAULTS: dict[str, Change] = {
    "says a secret when it is impatient": says_more(lambda s, h: s.patience == 1, "There are 10."),
    "says who it is when something is proposed": says_more(
        lambda s, h: h.proposes, "I am Ada Berg."
    ),
    "says its payment to anybody who asks": says_more(
        lambda s, h: "payment" in h.asks and not s.asked_who and s.closed == 0, "By my paypal."
    ),
    "uses its device unasked": uses_its_device,
    "agrees to anything": replies(lambda s, h: h.proposes and not h.asks and not s.agreed, YES),
    "agrees and declines at once": says_more(lambda s, h: h.proposes and not h.asks, "No."),
    "turns down what it asked for": replies(
        lambda s, h: h.proposes and not h.asks and s.closed == 0, "No."
    ),
    "takes back what it agreed to": changes(lambda s, h: s.agreed, agreed=False),
    "agrees without a word": changes(lambda s, h: bool(h.asks), agreed=True),
    "says another email the second time": replies(
        lambda s, h: h.asks == ("email",) and s.asked_who, "My email: eve@example.com."
    ),
    "does not know what it knows": replies(
        lambda s, h: h.asks == ("order",) and s.closed == 0, "I don't know the order number."
    ),
    "leaves out a wish": changes(lambda s, h: h.reports and s.agreed, closed=2),
    "can never be satisfied": never_ends,
    "says the sign of the end and goes on": replies(lambda s, h: h.refuses, STOP),
    "says nothing": replies(lambda s, h: h.asks == (), ""),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_an_automaton_is_found(name: str) -> None:
    assert prove(ADA._replace(patience=2), changed(name)).faults != ()


def test_twenty_faults_are_planted() -> None:
    assert len(SCRIPTS) + len(FAULTS) >= 20


def test_words_before_anything_was_heard_are_looked_at() -> None:
    def eager(script: Script) -> tuple[State, Reply]:
        state, reply = begin(script)
        return state, Reply(f"{reply.text} {YES}")

    assert [fault.kind for fault in prove(ADA, begin=eager).faults] == ["contradiction"]
