"""The scripted user: a finite automaton. Its answer depends on its state and what it hears alone.

- It says what it wants, one request at a time, and each of its facts when it is asked for it.
- What is private it says only to an agent that has asked who it is.
- It agrees to what it asked for: a proposal has to name what is done and with what, and nothing
  else. To any other it says that it has not asked for that.
- It goes on to the next request once this one is done, or answered, and ends the dialogue after the
  last. An agent that gets nowhere loses its patience, and it ends the dialogue then.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from gem_envs_agents.desk.tool import Call
from gem_envs_agents.users.hearing import ANY_AMOUNT, Heard
from gem_envs_agents.users.script import IDENTITY, Request, Script

__all__ = [
    "NOT_ASKED",
    "NOT_KNOWN",
    "STOP",
    "UNCLEAR",
    "YES",
    "End",
    "Reply",
    "State",
    "answer",
    "begin",
]

STOP = "###STOP###"
"""What a user says to end the dialogue. From anybody else it is text."""

NOT_KNOWN = "I don't know"
YES = "Yes, please go ahead."
NOT_ASKED = "No, I have not asked for that."
UNCLEAR = "No, please say exactly what you would do, and with what."
_REST = "That is not all of it."
_WHO = "You have not asked who I am yet."

End = Literal["", "satisfied", "gave up", "transferred"]


class State(NamedTuple):
    """Where a dialogue stands: plain data that can be compared and saved.

    `closed` counts the requests that are over; the one after them is the present one, and all
    before it were worded. `asked_who` says whether the agent has asked who the user is, `agreed`
    has a bit for each part of the present request that the user said yes to, `refused` says whether
    the agent has turned it down once.
    """

    closed: int = 0
    asked_who: bool = False
    agreed: int = 0
    refused: bool = False
    patience: int = 0
    end: End = ""


class Reply(NamedTuple):
    """What a user does: the calls of their own tools, then the text that the agent reads."""

    text: str
    calls: tuple[Call, ...] = ()


def begin(script: Script) -> tuple[State, Reply]:
    """Return the state and the first words of a user."""
    state = State(patience=script.patience)
    return state, Reply(f"{script.greeting} {script.requests[0].wording}".strip())


def answer(script: Script, state: State, heard: Heard) -> tuple[State, Reply]:
    """Return what a user does when it hears something. After the end it does nothing."""
    if state.end:
        return state, Reply("")
    if heard.transfers:
        return state._replace(end="transferred"), Reply(f"All right. {STOP}")
    if _is_over(script, state, heard):
        return _go_on(script, state, heard)
    request = script.requests[state.closed]
    state, parts, calls = _facts(script, state, heard)
    if heard.proposes and request.kind == "action":
        agreed = _agreed(request, heard)
        parts += [YES] if agreed else [_objection(request, heard), request.wording]
        if agreed:
            state = state._replace(agreed=state.agreed | agreed, patience=script.patience)
            return state, Reply(" ".join(parts), calls)
    if calls or _is_news(heard, request, parts):
        return state._replace(patience=script.patience), Reply(" ".join(parts), calls)
    if heard.refuses and not state.refused:
        state = state._replace(refused=True)
        return state, Reply(" ".join([*parts, "Please look at it again.", request.wording]))
    if heard.reports and state.agreed and not parts:
        parts = [_REST, request.wording]
    return _lose_patience(state, " ".join(parts) or request.wording)


def _agreed(request: Request, heard: Heard) -> int:
    """Return the parts of a request that are proposed, as bits; 0 where anything else is too."""
    if _is_strange(request, heard):
        return 0
    names = frozenset(heard.names)
    agreed = 0
    for number, part in enumerate(request.parts):
        if part.verbs.intersection(heard.verbs) and all(names & group for group in part.names):
            agreed |= 1 << number
    return agreed


def _is_strange(request: Request, heard: Heard) -> bool:
    """Say whether a proposal holds what was not asked for."""
    names = request.names
    strange = [name for name in heard.names if name not in names]
    if ANY_AMOUNT in names:
        strange = [name for name in strange if not name.startswith("$")]
    return bool(strange) or not request.verbs.issuperset(heard.verbs)


def _objection(request: Request, heard: Heard) -> str:
    """Return what is said to a proposal that is not agreed to."""
    return NOT_ASKED if _is_strange(request, heard) else UNCLEAR


def _is_news(heard: Heard, request: Request, parts: list[str]) -> bool:
    if not parts or _WHO in parts:
        return False
    return any(_fact_of(request, slot) in request.facts or slot in IDENTITY for slot in heard.asks)


def _fact_of(request: Request, slot: str) -> str:
    """Return the slot whose fact answers a question: of two orders, "which one" is an order."""
    return "order" if slot == "item" and "item" not in request.facts else slot


def _is_over(script: Script, state: State, heard: Heard) -> bool:
    """Say whether the present request is over by what is heard."""
    if heard.asks or heard.proposes:
        return False
    request = script.requests[state.closed]
    if heard.reports and request.parts and state.agreed == request.whole:
        # Also where it adds what cannot be done, such as to undo it.
        return True
    if heard.refuses:
        return state.refused
    return request.kind == "question" and heard.answers


def _go_on(script: Script, state: State, heard: Heard) -> tuple[State, Reply]:
    """Close the present request, and word the next or end the dialogue."""
    closed = state.closed + 1
    word = "I see." if heard.refuses else "Thank you."
    if closed == len(script.requests):
        state = state._replace(closed=closed, end="satisfied")
        return state, Reply(f"{word} {STOP}")
    state = State(closed, state.asked_who, patience=script.patience)
    return state, Reply(f"{word} {script.requests[closed].wording}")


def _facts(script: Script, state: State, heard: Heard) -> tuple[State, list[str], tuple[Call, ...]]:
    """Return what is said to each slot that is asked for, and the calls that it takes."""
    if not heard.asks:
        return state, [], ()
    request = script.requests[state.closed]
    devices = {device.slot: device for device in request.devices}
    parts = []
    calls = []
    # Asking who the user is counts before what is private, also within one message.
    asked_who = state.asked_who or any(slot in IDENTITY for slot in heard.asks)
    for slot in heard.asks:
        if slot in IDENTITY:
            parts.append(_sentence(slot, script.identity.get(slot)))
        elif slot in request.private and not asked_who:
            parts.append(_WHO)
        elif slot in devices:
            parts.append(devices[slot].report)
            calls.append(devices[slot].call)
        else:
            fact = _fact_of(request, slot)
            value = request.facts.get(fact)
            parts.append(_sentence(slot if value is None else fact, value))
    if asked_who != state.asked_who:
        state = state._replace(asked_who=asked_who)
    return state, _each_once(parts), tuple(calls)


def _each_once(parts: list[str]) -> list[str]:
    """Return what is said, without what another part of it says too."""
    once = list(dict.fromkeys(parts))
    return [part for part in once if not any(part != each and part in each for each in once)]


_SLOT_WORDS = {
    "email": "my email",
    "name": "my name",
    "zip": "my zip code",
    "user_id": "my user id",
    "order": "the order number",
    "item": "the item",
    "payment": "the payment",
    "address": "the address",
    "reason": "the reason",
    "variant": "the variant",
    "label": "the serial number",
    "restart": "how to restart it",
    "flights": "the flights",
    "cabin": "the cabin",
    "bags": "the bags",
    "passengers": "the passengers",
    "insurance": "the insurance",
}


def _sentence(slot: str, value: str | None) -> str:
    words = _SLOT_WORDS[slot]
    if value is None:
        return f"{NOT_KNOWN} {words}."
    if value.endswith((".", "!", "?")):
        # Words of its own, such as "I would like the cheapest.", are said as they are.
        return value
    return f"{words[0].upper()}{words[1:]}: {value}."


def _lose_patience(state: State, text: str) -> tuple[State, Reply]:
    if state.patience <= 1:
        return state._replace(patience=0, end="gave up"), Reply(f"That leads nowhere. {STOP}")
    return state._replace(patience=state.patience - 1), Reply(text)
