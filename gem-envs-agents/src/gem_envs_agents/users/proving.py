"""Prove a scripted user: explore every dialogue that can be had with it, and look for faults.

What a user hears is one of finitely many things as far as it can tell them apart, and its state is
finite, so every dialogue of any length is a walk on a graph that is visited whole. Found are:

- **leak**: it says a secret, what is private before it was asked who it is, or who it is unasked;
- **contradiction**: it says two things about one fact, says that it does not know what it knows,
  agrees to what it did not ask for, turns down what it did, or takes back what it agreed to;
- **dead end**: a state from which it can never be satisfied, or an end without its sign;
- **incomplete**: there were more states than were looked at, so that nothing is proved.

Whether a proposal is right follows here from how it was put together, from the parts of a request:
whole, without one of what has to be named, or with something else. The automaton compares.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from gem_envs_agents.users.automaton import (
    NOT_ASKED,
    NOT_KNOWN,
    STOP,
    YES,
    Reply,
    State,
    answer,
    begin,
)
from gem_envs_agents.users.hearing import SLOTS, VERBS, Heard
from gem_envs_agents.users.script import IDENTITY, Part, Request, Script

__all__ = ["MOST_STATES", "Answer", "Begin", "Fault", "Kind", "Proof", "prove"]

Answer = Callable[[Script, State, Heard], "tuple[State, Reply]"]
Begin = Callable[[Script], "tuple[State, Reply]"]

_WRONG_NAME = "#not_of_this_request"
MOST_STATES = 100_000
"""States that a proof looks at, unless it is told otherwise."""

Kind = Literal["leak", "contradiction", "dead end", "incomplete"]


class Fault(NamedTuple):
    """One thing that a user does and must not: its kind, what it is, and where."""

    kind: Kind
    what: str
    state: State
    heard: Heard


class Proof(NamedTuple):
    """What a proof looked at, and the faults that it found (one of each kind and text).

    Where `is_complete` is False there is a fault of the kind "incomplete", and no other is missing
    by intent: states were left out.
    """

    states: int
    transitions: int
    faults: tuple[Fault, ...]
    is_complete: bool


class _Proposed(NamedTuple):
    """What is heard, and what is right: the parts of the request that it proposes, as bits.

    `is_strange` says that it holds what was not asked for; then no part is proposed rightly.
    """

    heard: Heard
    agreed: int = 0
    is_strange: bool = False


def prove(
    script: Script,
    answer: Answer = answer,
    begin: Begin = begin,
    *,
    most_states: int = MOST_STATES,
) -> Proof:
    """Explore every dialogue with a user and return what is wrong with it.

    A proof that meets more than `most_states` states stops, and has a fault that says so.
    """
    first, opening = begin(script)
    faults: dict[tuple[str, str], Fault] = {}

    def add(found: Iterator[Fault]) -> None:
        for fault in found:
            faults.setdefault((fault.kind, fault.what), fault)

    add(_opening_faults(script, first, opening))
    waiting = [first]
    seen = {first}
    before: dict[State, set[State]] = {}
    alphabets: dict[int, list[_Proposed]] = {}
    transitions = 0
    while waiting and len(seen) <= most_states:
        state = waiting.pop()
        if state.closed not in alphabets:
            alphabets[state.closed] = list(_alphabet(script, state.closed))
        for proposed in alphabets[state.closed]:
            after, reply = answer(script, state, proposed.heard)
            transitions += 1
            add(_faults(script, state, proposed, after, reply))
            if answer(script, state, proposed.heard) != (after, reply):
                what = "it answers the same differently"
                add(_one("contradiction", what, state, proposed.heard))
            before.setdefault(after, set()).add(state)
            if after not in seen:
                seen.add(after)
                if not after.end:
                    waiting.append(after)
    if waiting:
        what = f"it has more than {most_states} states, and not all were looked at"
        add(_one("incomplete", what, waiting[-1], Heard()))
        return Proof(len(seen), transitions, tuple(faults.values()), is_complete=False)
    can_end = _can_reach(before, [state for state in seen if state.end == "satisfied"])
    for state in seen:
        if not state.end and state not in can_end:
            add(_one("dead end", "it can never be satisfied", state, Heard()))
    return Proof(len(seen), transitions, tuple(faults.values()), is_complete=True)


def _one(kind: Kind, what: str, state: State, heard: Heard) -> Iterator[Fault]:
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


def _alphabet(script: Script, number: int) -> Iterator[_Proposed]:
    """Yield what a user can hear about a request: every mixture of what makes a difference to it.

    Slots are asked for alone, in pairs, and all at once: each has an answer of its own, so a third
    beside two adds nothing that a pair does not show. Beside questions one right proposal and two
    wrong ones stand for all, since an answer does not depend on how a proposal is right or wrong.
    """
    request = script.requests[number]
    devices = tuple(device.slot for device in request.devices)
    known = tuple(dict.fromkeys((*IDENTITY, *request.facts, *devices)))
    strange = tuple(slot for slot in SLOTS if slot not in known)[:1]
    slots = (*known, *strange)
    asks: list[tuple[str, ...]] = [(), tuple(SLOTS), *((slot,) for slot in slots)]
    asks += itertools.combinations(slots, 2)
    proposals = list(_proposals(script, number))
    some = [*proposals[:1], *proposals[-2:]]
    for asked in asks:
        for refuses in (False, True):
            yield _Proposed(Heard(asked, False, False, refuses))
            yield _Proposed(Heard(asked, False, True, refuses))
            yield _Proposed(Heard(asked, False, False, refuses, answers=True))
            yield _Proposed(Heard(asked, False, True, refuses, answers=True))
        for proposed in proposals if not asked else some:
            yield proposed._replace(heard=proposed.heard._replace(asks=asked))
    for proposed in proposals[:1]:
        yield proposed._replace(heard=proposed.heard._replace(reports=True, answers=True))
    yield _Proposed(Heard(transfers=True))


def _proposals(script: Script, number: int) -> Iterator[_Proposed]:
    """Yield proposals, put together from the parts of a request, the whole one first.

    The last two are wrong: one names what is strange, and one names nothing at all.
    """
    request = script.requests[number]
    every = [min(group) for part in request.parts for group in part.names]
    every_verb = [min(part.verbs) for part in request.parts]
    if request.parts:
        yield _proposed(every_verb, every, request.whole)
        yield _proposed(every_verb, [*every, *request.also], request.whole)
    for place, part in enumerate(request.parts):
        yield from _of_a_part(request, place, part)
    for verb in VERBS:
        if verb not in {each for part in request.parts for each in part.verbs}:
            yield _proposed([verb], every, 0, is_strange=True)
            yield _proposed([*every_verb, verb], every, 0, is_strange=True)
    others = [each for other in script.requests for each in other.parts if other != request]
    allowed = {*request.also}.union(*(group for part in request.parts for group in part.names))
    for other in others:
        for name in {min(group) for group in other.names} - allowed:
            # An amount or a plain word of another request is nothing that this one listens for.
            if name.startswith("#") or "_" in name:
                yield _proposed(every_verb, [*every, name], 0, is_strange=True)
    yield _proposed(every_verb, [*every, _WRONG_NAME], 0, is_strange=True)
    yield _proposed((), (), 0)


def _of_a_part(request: Request, place: int, part: Part) -> Iterator[_Proposed]:
    """Yield proposals of one part: in all words for it, and without one of what it has to name."""
    names = [min(group) for group in part.names]
    verb = min(part.verbs)
    for each in sorted(part.verbs):
        yield _proposed([each], names, _held(request, [each], names))
    yield _proposed((), names, 0)
    for number, group in enumerate(part.names):
        rest = [*names[:number], *names[number + 1 :]]
        for other in sorted(group):
            yield _proposed([verb], [*rest, other], _held(request, [verb], [*rest, other]))
        yield _proposed([verb], rest, _held(request, [verb], rest))


def _held(request: Request, verbs: Collection[str], names: Collection[str]) -> int:
    """Return the parts of which every group is named: what is proposed of one may be of two."""
    bits = 0
    for place, part in enumerate(request.parts):
        is_done = any(verb in part.verbs for verb in verbs)
        if is_done and not any(group.isdisjoint(names) for group in part.names):
            bits |= 1 << place
    return bits


def _proposed(
    verbs: Collection[str], names: Collection[str], agreed: int, *, is_strange: bool = False
) -> _Proposed:
    heard = Heard(proposes=True, names=tuple(sorted(set(names))), verbs=tuple(sorted(set(verbs))))
    return _Proposed(heard, agreed, is_strange)


def _opening_faults(script: Script, state: State, opening: Reply) -> Iterator[Fault]:
    yield from _leaks(script, state, Heard(), opening.text)
    if STOP in opening.text:
        yield Fault("dead end", "it ends before it was heard", state, Heard())
    if _holds(opening.text, YES):
        yield Fault("contradiction", "it agrees before anything was proposed", state, Heard())


def _faults(
    script: Script, state: State, proposed: _Proposed, after: State, reply: Reply
) -> Iterator[Fault]:
    request = script.requests[state.closed]
    heard = proposed.heard
    yield from _leaks(script, state, heard, reply.text)
    yield from _answers(script, request, state, heard, reply)
    yield from _agreement(request, state, proposed, after, reply)
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
    for secret in _secrets_in(text, script.secret):
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
    if heard.transfers or not heard.asks:
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
    if knows_all and denies:
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
    request: Request, state: State, proposed: _Proposed, after: State, reply: Reply
) -> Iterator[Fault]:
    heard = proposed.heard
    says_yes = _holds(reply.text, YES)
    is_action = request.kind == "action"
    if says_yes and not (is_action and proposed.agreed):
        yield Fault("contradiction", "it agrees to what it did not ask for", state, heard)
    if is_action and proposed.agreed and not says_yes and not after.end:
        yield Fault("contradiction", "it turns down what it asked for", state, heard)
    says_not_asked = _holds(reply.text, NOT_ASKED)
    if is_action and proposed.is_strange and not says_not_asked and not after.end:
        yield Fault("contradiction", "it does not say that it has not asked", state, heard)
    if says_not_asked and proposed.agreed:
        yield Fault("contradiction", "it says that it has not asked for what it did", state, heard)
    if says_yes and re.search(r"\bNo\b", _without_facts(request, heard, reply.text)):
        yield Fault("contradiction", "it says yes and no", state, heard)
    if after.closed == state.closed and not after.end:
        if state.agreed & ~after.agreed:
            yield Fault("contradiction", "it takes back what it agreed to", state, heard)
        if after.agreed & ~(state.agreed | proposed.agreed) or (
            after.agreed != state.agreed and not says_yes
        ):
            yield Fault("contradiction", "it agrees without saying so", state, heard)
        if says_yes and after.agreed != state.agreed | proposed.agreed:
            yield Fault("contradiction", "it forgets what it says yes to", state, heard)
    is_open = is_action and state.agreed != request.whole and not heard.refuses
    if after.closed > state.closed and is_open:
        yield Fault("contradiction", "it is done with what it never agreed to", state, heard)
    if after.asked_who < state.asked_who:
        yield Fault("contradiction", "it forgets that it was asked who it is", state, heard)


def _without_facts(request: Request, heard: Heard, text: str) -> str:
    """Return what is said beside the facts that were asked for: one may begin with a No."""
    for slot in heard.asks:
        text = text.replace(request.facts.get(slot, ""), "") if slot in request.facts else text
    return text


@lru_cache(maxsize=10_000)
def _secrets_in(text: str, secrets: frozenset[str]) -> tuple[str, ...]:
    return tuple(secret for secret in sorted(secrets) if _holds(text, secret))


@lru_cache(maxsize=10_000)  # a user says the same in most of its states
def _holds(text: str, part: str) -> bool:
    """Say whether a text holds another as whole words."""
    folded = part.casefold()
    # Most texts hold nothing of it: that costs no pattern.
    if not part or folded not in text.casefold():
        return False
    return re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", text.casefold()) is not None
