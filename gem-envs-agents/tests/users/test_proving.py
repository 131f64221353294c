"""The prover finds nothing in a fair user, and every one of twenty faults that are planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gem_envs_agents.users.automaton import NOT_ASKED, STOP, YES, Reply, State, answer, begin
from gem_envs_agents.users.hearing import Heard
from gem_envs_agents.users.proving import Answer, Kind, prove
from gem_envs_agents.users.script import Script

from .user import ADA, KETTLE, LAMP, READ, STOCK


def test_nothing_is_found_in_a_fair_user() -> None:
    proof = prove(ADA)
    assert proof.faults == ()
    assert proof.is_complete
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
    found = [fault for fault in prove(script._replace(patience=1)).faults if fault.kind == "leak"]
    assert any(what in fault.what for fault in found)


def changed(name: str) -> Answer:
    """Return the automaton with one fault."""

    def faulty(script: Script, state: State, heard: Heard) -> tuple[State, Reply]:
        after, reply = answer(script, state, heard)
        return FAULTS[name][0](state, heard, after, reply)

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


def agrees_when(when: When) -> Change:
    """Say yes, and keep that it was said."""

    def fault(state: State, heard: Heard, after: State, reply: Reply) -> tuple[State, Reply]:
        if after.end or not (when(state, heard) and heard.proposes and not heard.asks):
            return after, reply
        whole = ADA.requests[state.closed].whole
        return after._replace(agreed=whole, patience=ADA.patience), Reply(YES)

    return fault


def holds(*names: str) -> When:
    return lambda state, heard: set(names) <= {*heard.names, *heard.verbs}


NOT_ASKED_FOR = "agrees to what it did not ask for"

FAULTS: dict[str, tuple[Change, Kind, str]] = {
    "says a secret when it is impatient": (
        says_more(lambda s, h: s.patience == 1, "There are 10."),
        "leak",
        "the secret '10'",
    ),
    "says who it is when something is proposed": (
        says_more(lambda s, h: h.proposes, "I am Ada Berg."),
        "leak",
        "says its name unasked",
    ),
    "says its payment to anybody who asks": (
        says_more(
            lambda s, h: "payment" in h.asks and not s.asked_who and s.closed == 0, "By my paypal."
        ),
        "leak",
        "says its private payment too early",
    ),
    "uses its device unasked": (
        uses_its_device,
        "leak",
        "uses a tool that it was not asked to use",
    ),
    "agrees to anything": (agrees_when(lambda s, h: True), "contradiction", NOT_ASKED_FOR),
    "agrees to a proposal of nothing": (
        agrees_when(lambda s, h: not h.verbs and not h.names),
        "contradiction",
        NOT_ASKED_FOR,
    ),
    "agrees whatever is done with it": (
        agrees_when(holds("#w1", "k1", "paypal", "give")),
        "contradiction",
        NOT_ASKED_FOR,
    ),
    "agrees to another thing done": (
        agrees_when(lambda s, h: h.names == ("#w1", "k1", "paypal") and h.verbs == ("return",)),
        "contradiction",
        NOT_ASKED_FOR,
    ),
    "agrees to an order beside": (
        agrees_when(holds("#w1", "k1", "paypal", "cancel")),
        "contradiction",
        NOT_ASKED_FOR,
    ),
    "agrees to the order of its next wish": (
        agrees_when(holds("#w2", "#w1", "cancel")),
        "contradiction",
        NOT_ASKED_FOR,
    ),
    "agrees without the order": (
        agrees_when(lambda s, h: h.names == ("k1", "paypal") and h.verbs == ("cancel",)),
        "contradiction",
        NOT_ASKED_FOR,
    ),
    "agrees without the item": (
        agrees_when(lambda s, h: h.names == ("#w1", "paypal") and h.verbs == ("cancel",)),
        "contradiction",
        NOT_ASKED_FOR,
    ),
    "agrees without the payment": (
        agrees_when(lambda s, h: h.names == ("#w1", "k1") and h.verbs == ("cancel",)),
        "contradiction",
        NOT_ASKED_FOR,
    ),
    "agrees to the second part with the first": (
        changes(lambda s, h: s.closed == 1 and h.names == ("#w2",) and bool(h.verbs), agreed=3),
        "contradiction",
        "agrees without saying so",
    ),
    "is content with one part of two": (
        changes(lambda s, h: s.closed == 1 and s.agreed == 1 and h.reports, closed=2),
        "contradiction",
        "done with what it never agreed to",
    ),
    "knows one item by its id alone": (
        replies(lambda s, h: "kettle" in h.names and not h.asks, NOT_ASKED),
        "contradiction",
        "turns down what it asked for",
    ),
    "disowns what it asked for": (
        replies(lambda s, h: h.names == ("#w2",) and not h.asks and s.closed == 1, NOT_ASKED),
        "contradiction",
        "has not asked for what it did",
    ),
    "is silent about what it did not ask for": (
        replies(lambda s, h: "give" in h.verbs and not h.asks, "Hm."),
        "contradiction",
        "does not say that it has not asked",
    ),
    "agrees and declines at once": (
        says_more(lambda s, h: h.proposes and not h.asks, "No."),
        "contradiction",
        "says yes and no",
    ),
    "turns down what it asked for": (
        replies(lambda s, h: h.proposes and not h.asks and s.closed == 0, "No."),
        "contradiction",
        "turns down what it asked for",
    ),
    "takes back what it agreed to": (
        changes(lambda s, h: s.agreed != 0, agreed=0),
        "contradiction",
        "takes back what it agreed to",
    ),
    "forgets what it agreed to": (
        changes(lambda s, h: h.proposes, agreed=0),
        "contradiction",
        "forgets what it says yes to",
    ),
    "agrees without a word": (
        changes(lambda s, h: bool(h.asks), agreed=1),
        "contradiction",
        "agrees without saying so",
    ),
    "says another email the second time": (
        replies(lambda s, h: h.asks == ("email",) and s.asked_who, "My email: eve@example.com."),
        "contradiction",
        "says another email",
    ),
    "does not know what it knows": (
        replies(
            lambda s, h: h.asks == ("order",) and s.closed == 0, "I don't know the order number."
        ),
        "contradiction",
        "does not know what it knows",
    ),
    "leaves out a wish": (
        changes(lambda s, h: h.reports and s.agreed != 0 and s.closed == 0, closed=2),
        "contradiction",
        "leaves out a request",
    ),
    "can never be satisfied": (never_ends, "dead end", "can never be satisfied"),
    "says the sign of the end and goes on": (
        replies(lambda s, h: h.refuses, STOP),
        "dead end",
        "its end and the sign of it do not go together",
    ),
    "says nothing": (replies(lambda s, h: h.asks == (), ""), "dead end", "says nothing"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_an_automaton_is_found(name: str) -> None:
    _, kind, what = FAULTS[name]
    found = prove(ADA._replace(patience=2), changed(name)).faults
    assert any((fault.kind, what in fault.what) == (kind, True) for fault in found), found


def test_a_proof_that_is_cut_off_is_an_error() -> None:
    proof = prove(ADA, most_states=20)
    assert not proof.is_complete
    assert [fault.kind for fault in proof.faults] == ["incomplete"]
    assert "more than 20 states" in proof.faults[0].what


def test_twenty_faults_are_planted() -> None:
    assert len(SCRIPTS) + len(FAULTS) >= 20


def test_words_before_anything_was_heard_are_looked_at() -> None:
    def eager(script: Script) -> tuple[State, Reply]:
        state, reply = begin(script)
        return state, Reply(f"{reply.text} {YES}")

    assert [fault.kind for fault in prove(ADA, begin=eager).faults] == ["contradiction"]
