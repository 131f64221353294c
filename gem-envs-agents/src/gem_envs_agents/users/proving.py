"""Prove a scripted user: explore every dialogue that can be had with it, and look for faults.

What a user hears is one of finitely many things as far as it can tell them apart, and its state is
finite, so every dialogue of any length is a walk on a graph that is visited whole. Found are:

- **leak**: it says a secret, what is private before it was asked who it is, or who it is unasked;
- **contradiction**: it says two things about one fact, says that it does not know what it knows,
  agrees to what it did not ask for, turns down what it did, or takes back what it agreed to;
- **dead end**: a state from which it can never be satisfied, or an end without its sign.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from gem_envs_agents.users.automaton import NOT_KNOWN, STOP, YES, Reply, State, answer, begin
from gem_envs_agents.users.hearing import SLOTS, Heard
from gem_envs_agents.users.script import IDENTITY, Request, Script

__all__ = ["Answer", "Begin", "Fault", "Proof", "prove"]

Answer = Callable[[Script, State, Heard], "tuple[State, Reply]"]
Begin = Callable[[Script], "tuple[State, Reply]"]

_WRONG_NAME = "#not_of_this_request"
_MOST_STATES = 100_000


class Fault(NamedTuple):
    """One thing that a user does and must not: its kind, what it is, and where."""

    kind: Literal["leak", "contradiction", "dead end"]
    what: str
    state: State
    heard: Heard


class Proof(NamedTuple):
    """What a proof looked at, and the faults that it found (one of each kind and text)."""

    states: int
    transitions: int
    faults: tuple[Fault, ...]


def prove(script: Script, answer: Answer = answer, begin: Begin = begin) -> Proof:
    """Explore every dialogue with a user and return what is wrong with it."""
    first, opening = begin(script)
    faults: dict[tuple[str, str], Fault] = {}

    def add(found: Iterator[Fault]) -> None:
        for fault in found:
            faults.setdefault((fault.kind, fault.what), fault)

    add(_opening_faults(script, first, opening))
    waiting = [first]
    seen = {first}
    before: dict[State, set[State]] = {}
    transitions = 0
    while waiting and len(seen) < _MOST_STATES:
        state = waiting.pop()
        for heard in _alphabet(script, state):
            after, reply = answer(script, state, heard)
            transitions += 1
            add(_faults(script, state, heard, after, reply))
            if answer(script, state, heard) != (after, reply):
                add(_one("contradiction", "it answers the same differently", state, heard))
            before.setdefault(after, set()).add(state)
            if after not in seen:
                seen.add(after)
                if not after.end:
                    waiting.append(after)
    can_end = _can_reach(before, [state for state in seen if state.end == "satisfied"])
    for state in seen:
        if not state.end and state not in can_end:
            add(_one("dead end", "it can never be satisfied", state, Heard()))
    return Proof(len(seen), transitions, tuple(faults.values()))


def _one(
    kind: Literal["contradiction", "dead end"], what: str, state: State, heard: Heard
) -> Iterator[Fault]:
    yield Fault(kind, what, state, heard)


def _can_reach(before: dict[State, set[State]], ends: Sequence[State]) -> set[State]:
    reached = set(ends)
    waiting = list(ends)
    while waiting:
        for state in before.get(waiting.pop(), ()):
            if state not in reached:
                reached.add(state)
                waiting.append(state)
    return reached


def _alphabet(script: Script, state: State) -> Iterator[Heard]:
    """Yield what a user can hear in a state: every mixture of what makes a difference to it.

    Slots are asked for alone, in pairs, and all at once: each has an answer of its own, so a third
    beside two adds nothing that a pair does not show.
    """
    request = script.requests[state.closed]
    names = tuple(name.casefold() for name in sorted(request.names))
    devices = tuple(device.slot for device in request.devices)
    known = tuple(dict.fromkeys((*IDENTITY, *request.facts, *devices)))
    strange = tuple(slot for slot in SLOTS if slot not in known)[:1]
    slots = (*known, *strange)
    asks: list[tuple[str, ...]] = [(), tuple(SLOTS), *((slot,) for slot in slots)]
    asks += itertools.combinations(slots, 2)
    for asked in asks:
        for refuses in (False, True):
            yield Heard(asked, False, False, refuses)
            yield Heard(asked, False, True, refuses)
            yield Heard(asked, False, False, refuses, answers=True)
            yield Heard(asked, False, True, refuses, answers=True)
        for heard_names in {(), names, names[:1], (_WRONG_NAME,), (*names, _WRONG_NAME)}:
            yield Heard(asked, True, names=heard_names)
    yield Heard(proposes=True, reports=True, names=names, answers=True)
    yield Heard(transfers=True)


def _opening_faults(script: Script, state: State, opening: Reply) -> Iterator[Fault]:
    yield from _leaks(script, state, Heard(), opening.text)
    if STOP in opening.text:
        yield Fault("dead end", "it ends before it was heard", state, Heard())
    if _holds(opening.text, YES):
        yield Fault("contradiction", "it agrees before anything was proposed", state, Heard())


def _faults(
    script: Script, state: State, heard: Heard, after: State, reply: Reply
) -> Iterator[Fault]:
    request = script.requests[state.closed]
    yield from _leaks(script, state, heard, reply.text)
    yield from _answers(script, request, state, heard, reply)
    yield from _agreement(request, state, heard, after, reply)
    if bool(after.end) != (STOP in reply.text):
        yield Fault("dead end", "its end and the sign of it do not go together", state, heard)
    if not reply.text.strip():
        yield Fault("dead end", "it says nothing", state, heard)
    if after.end == "satisfied" and after.closed != len(script.requests):
        yield Fault("dead end", "it is satisfied with requests left", state, heard)
    if after.closed not in (state.closed, state.closed + 1):
        yield Fault("contradiction", "it leaves out a request, or takes one up again", state, heard)
    allowed = [device.call for device in request.devices if device.slot in heard.asks]
    if any(call not in allowed for call in reply.calls):
        yield Fault("leak", "it uses a tool that it was not asked to use", state, heard)


def _leaks(script: Script, state: State, heard: Heard, text: str) -> Iterator[Fault]:
    """Find secrets, and facts that were not asked for or come too early."""
    for secret in script.secret:
        if _holds(text, secret):
            yield Fault("leak", f"it says the secret {secret!r}", state, heard)
    for slot, value in script.identity.items():
        is_unasked = slot not in heard.asks and _holds(text, value)
        # A fact that is asked for may hold the same words: an address its zip code.
        if is_unasked and not _is_asked_for_otherwise(script, state, heard, value):
            yield Fault("leak", f"it says its {slot} unasked", state, heard)
    asked_who = state.asked_who or any(slot in IDENTITY for slot in heard.asks)
    for number, request in enumerate(script.requests):
        for slot in request.private:
            is_due = number == state.closed and slot in heard.asks and asked_who
            value = request.facts[slot]
            is_early = not is_due and _holds(text, value)
            if is_early and not _is_asked_for_otherwise(script, state, heard, value):
                yield Fault("leak", f"it says its private {slot} too early", state, heard)
        # After the last answer the next request may be worded, and none behind it.
        if number > state.closed + 1 and _holds(text, request.wording):
            yield Fault("leak", "it words a request before its turn", state, heard)


def _is_asked_for_otherwise(script: Script, state: State, heard: Heard, value: str) -> bool:
    request = script.requests[state.closed]
    sources = [script.identity.get(slot, "") for slot in heard.asks]
    sources += [request.facts.get(slot, "") for slot in heard.asks if slot not in request.private]
    asked_who = state.asked_who or any(slot in IDENTITY for slot in heard.asks)
    if asked_who:
        sources += [request.facts.get(slot, "") for slot in heard.asks]
    return any(_holds(source, value) for source in sources)


def _answers(
    script: Script, request: Request, state: State, heard: Heard, reply: Reply
) -> Iterator[Fault]:
    """Find questions that are answered wrongly, or not at all."""
    if heard.transfers:
        return
    asked_who = state.asked_who or any(slot in IDENTITY for slot in heard.asks)
    devices = {device.slot: device.report for device in request.devices}
    knows_all = True
    for slot in heard.asks:
        is_due = slot not in request.private or asked_who
        value = devices.get(slot) or script.identity.get(slot) or request.facts.get(slot)
        knows_all = knows_all and value is not None
        is_kept_back = value is not None and is_due and not _holds(reply.text, value)
        # The end of its patience is an answer too.
        if is_kept_back and STOP not in reply.text:
            yield Fault("contradiction", f"it keeps its {slot} back", state, heard)
    denies = NOT_KNOWN.casefold() in reply.text.casefold()
    if heard.asks and knows_all and denies:
        yield Fault("contradiction", "it does not know what it knows", state, heard)
    for slot, value in script.identity.items():
        if slot in heard.asks:
            yield from _others(script, slot, value, state, heard, reply.text)


def _others(
    script: Script, slot: str, value: str, state: State, heard: Heard, text: str
) -> Iterator[Fault]:
    """Find a second value beside the one that a fact has."""
    pattern = re.compile(rf"\bmy {slot.replace('_', ' ')}(?: code)?: ([^.]*)", re.IGNORECASE)
    for value_given in pattern.findall(text):
        if value_given.strip() not in value:
            yield Fault("contradiction", f"it says another {slot}", state, heard)


def _agreement(
    request: Request, state: State, heard: Heard, after: State, reply: Reply
) -> Iterator[Fault]:
    says_yes = _holds(reply.text, YES)
    names = {name.casefold() for name in request.names}
    is_right = heard.proposes and request.kind == "action" and set(heard.names) <= names
    if says_yes and not is_right:
        yield Fault("contradiction", "it agrees to what it did not ask for", state, heard)
    if is_right and not heard.transfers and not says_yes and not after.end:
        yield Fault("contradiction", "it turns down what it asked for", state, heard)
    if says_yes and re.search(r"\bNo\b", reply.text):
        yield Fault("contradiction", "it says yes and no", state, heard)
    if after.closed == state.closed and not after.end and state.agreed and not after.agreed:
        yield Fault("contradiction", "it takes back what it agreed to", state, heard)
    if after.closed == state.closed and after.agreed and not state.agreed and not says_yes:
        yield Fault("contradiction", "it agrees without saying so", state, heard)
    is_open = request.kind == "action" and not state.agreed and not heard.refuses
    if after.closed > state.closed and is_open:
        yield Fault("contradiction", "it is done with what it never agreed to", state, heard)
    if after.asked_who < state.asked_who:
        yield Fault("contradiction", "it forgets that it was asked who it is", state, heard)


@lru_cache(maxsize=10_000)  # a user says the same in most of its states
def _holds(text: str, part: str) -> bool:
    """Say whether a text holds another as whole words."""
    folded = part.casefold()
    # Most texts hold nothing of it: that costs no pattern.
    if not part or folded not in text.casefold():
        return False
    return re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", text.casefold()) is not None
