"""Make a scripted user of a published task, from its own facts.

The published user is a paragraph for a model to act out. The scripted one wants what the solution
does, one request for each call that writes, and where the task has outputs, or writes nothing, what
the paragraph asks for. What it knows is what the paragraph says: asked for more, it says what it
prefers in the paragraph's words, or that it does not know. The other details of the solution are
its secrets, for the agent to find out, and so are outputs that the paragraph does not say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gem_envs_agents.desk.case import Plan
from gem_envs_agents.desk.database import Record, Tables
from gem_envs_agents.desk.scoring import communicates
from gem_envs_agents.desk.tool import Call, Tools
from gem_envs_agents.tau.lookups import lookups
from gem_envs_agents.tau.paragraph import ABOUT, Paragraph
from gem_envs_agents.tau.reading import Task
from gem_envs_agents.tau.wishes import Wish, wish
from gem_envs_agents.users.automaton import NOT_ASKED, NOT_KNOWN, UNCLEAR, YES
from gem_envs_agents.users.hearing import SLOTS
from gem_envs_agents.users.script import IDENTITY, Request, Script

__all__ = ["Scripted", "scripted"]

_PRIVATE = ("payment", "address")
_GREETING = "Hello."
_VAGUE = "I have a question about my account. Can you tell me the details?"
_PLACES = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class Scripted(NamedTuple):
    """A user, how each request is done, and what the user cannot say although it is needed.

    `unknown` are slots of the requests; "identity" stands for a paragraph that does not say who
    its user is, who then says what the shop has on file.
    """

    script: Script
    plans: tuple[Plan, ...]
    unknown: frozenset[str]


class _Errand(NamedTuple):
    """Calls that write one after another and are one wish, as the paragraph puts it."""

    wishes: tuple[Wish, ...]
    calls: tuple[Call, ...]


def scripted(task: Task, tools: Tools, tables: Tables) -> Scripted:
    """Return the user of a task, and how each of its requests is done."""
    user_id = task.user_id or _user_of(task, tables)
    identity, is_known = _identity(task, user_id, tables)
    outputs = [each for each in task.outputs if not communicates(task.instruction, each)]
    on_file = _on_file(user_id, tables).values()
    paragraph = Paragraph(task.instruction, [*identity.values(), *on_file, *outputs])
    errands, calls = _errands(task, tools, tables, paragraph)
    requests = [_request(errand, outputs) for errand in errands]
    plans = [
        Plan(errand.calls, " ".join(each.summary for each in errand.wishes)) for errand in errands
    ]
    if task.outputs or not requests:
        why = Paragraph(task.reason, [*identity.values(), *on_file, *outputs])
        if task.outputs:
            words = why.asking() or paragraph.asking() or _VAGUE
        else:
            words = why.wanting() or paragraph.wanting() or _VAGUE
        requests.append(Request("question", words, _asked_about(paragraph, outputs)))
        calls += lookups(task.outputs, task.actions, user_id, tools, tables)
        plans.append(Plan(tuple(calls), outputs=task.outputs))
    elif calls:
        plans[-1] = plans[-1]._replace(calls=(*plans[-1].calls, *calls))
    requests = [_with_private(request, requests) for request in _told_apart(requests)]
    wishes = [each for errand in errands for each in errand.wishes]
    secret = {*outputs, *(detail for each in wishes for detail in each.unsaid)}
    unknown = {slot for each in wishes for slot in each.unknown}
    if not is_known:
        unknown.add("identity")
    secret = {each for each in secret if not _is_phrase(each)}
    script = Script(_GREETING, identity, tuple(requests), frozenset(secret))
    return Scripted(script, tuple(plans), frozenset(unknown))


def _errands(
    task: Task, tools: Tools, tables: Tables, paragraph: Paragraph
) -> tuple[list[_Errand], list[Call]]:
    """Return what the user wants of the solution, in its order, and the calls after the last write.

    Writes that follow one another and that the paragraph does not tell apart are one errand: who
    wants all orders cancelled wants them in any order, and all at once.
    """
    errands: list[_Errand] = []
    calls: list[Call] = []
    for action in task.actions:
        calls.append(action)
        if action.name not in tools or not tools[action.name].writes:
            continue
        wanted = wish(action, tables, paragraph)
        last = errands[-1] if errands else None
        if last is not None and _is_of_one_kind(last, wanted, action):
            errands[-1] = _Errand((*last.wishes, wanted), (*last.calls, *calls))
        else:
            errands.append(_Errand((wanted,), tuple(calls)))
        calls = []
    return errands, calls


def _is_of_one_kind(errand: _Errand, wanted: Wish, action: Call) -> bool:
    before = errand.wishes[-1]
    is_alike = errand.calls[-1].name == action.name and before.wording == wanted.wording
    return is_alike and before.facts == wanted.facts and len(errand.wishes) < _MOST_TOGETHER


_MOST_TOGETHER = 5  # wishes in one errand: a proof looks at every set of those agreed to


def _request(errand: _Errand, outputs: Sequence[str]) -> Request:
    """Return an errand as a request, without what holds an output."""
    first = errand.wishes[0]
    facts = {
        slot: value
        for slot, value in first.facts.items()
        if not any(communicates(value, output) for output in outputs)
    }
    is_silent = not any(communicates(first.wording, output) for output in outputs)
    return Request(
        "action",
        first.wording if is_silent else _VAGUE,
        facts,
        parts=tuple(each.part for each in errand.wishes),
        also=frozenset().union(*(each.also for each in errand.wishes)),
    )


def _asked_about(paragraph: Paragraph, outputs: Sequence[str]) -> Mapping[str, str]:
    """Return what a user who has a question can say of it, by slot."""
    facts = {slot: paragraph.about(slot) for slot in ABOUT}
    return {
        slot: value
        for slot, value in facts.items()
        if value and not any(communicates(value, output) for output in outputs)
    }


def _told_apart(requests: list[Request]) -> list[Request]:
    """Number the requests whose words came before, so that none is taken for another.

    What was said as a fact came before, too.
    """
    apart: list[Request] = []
    used: set[str] = set()
    for number, request in enumerate(requests):
        wording = request.wording
        facts = [value for each in requests[:number] for value in each.facts.values()]
        if any(wording in value for value in facts):
            wording = f"One more thing: {wording}"
        if wording in used:
            place = _PLACES[number - 1] if number <= len(_PLACES) else "next"
            wording = f"This is another wish, the {place}: {wording}"
        used.add(wording)
        apart.append(request._replace(wording=wording))
    return apart


def _with_private(request: Request, requests: list[Request]) -> Request:
    """Mark what is private, unless a wording or another fact says it."""
    said = [each.wording for each in requests]
    said += [
        value for each in requests for slot, value in each.facts.items() if slot not in _PRIVATE
    ]
    spoken = " ".join(said).casefold()
    private = frozenset(
        slot
        for slot, value in request.facts.items()
        if slot in _PRIVATE and value.casefold() not in spoken
    )
    return request._replace(private=private)


def _is_phrase(detail: str) -> bool:
    """Say whether a detail is of the words that every user says, and so tells nothing."""
    return re.search(rf"(?<!\w){re.escape(detail.casefold())}(?!\w)", _PHRASES) is not None


_PHRASES = " ".join(
    (_GREETING, _VAGUE, NOT_ASKED, UNCLEAR, YES, NOT_KNOWN, "Thank you. I see. All right.")
).casefold()


def _on_file(user_id: str, tables: Tables) -> Mapping[str, str]:
    """Return what a shop has on file of who a user is."""
    user: Record = tables["users"].get(user_id, {})
    name = user.get("name", {})
    facts = {
        "email": user.get("email", ""),
        "name": f"{name.get('first_name', '')} {name.get('last_name', '')}".strip(),
        "zip": user.get("address", {}).get("zip", ""),
        "user_id": user_id,
    }
    return {slot: value for slot, value in facts.items() if value}


def _identity(task: Task, user_id: str, tables: Tables) -> tuple[Mapping[str, str], bool]:
    """Return what the user knows of who they are, and whether the paragraph says it.

    The corrected tasks write apart what the user knows and what not.
    """
    facts = _on_file(user_id, tables)
    text = (task.known or task.instruction).casefold()
    forgotten = [slot for slot in IDENTITY if _FORGETS[slot].search(task.unknown)]
    known = {
        slot: value
        for slot, value in facts.items()
        if value.casefold() in text and slot not in forgotten
    }
    if known:
        return known, True
    # The tables know nobody of the name in a few paragraphs: the first of what they know it is.
    on_file = {slot: facts[slot] for slot in ("name", "zip") if slot in facts}
    # Who is in no table knows nothing: an empty id would be a part of every sentence.
    return on_file or ({"user_id": user_id} if user_id else {}), False


_FORGETS = {slot: re.compile(SLOTS[slot], re.IGNORECASE) for slot in IDENTITY}


def _user_of(task: Task, tables: Tables) -> str:
    """Return the user of a corrected task, which names none: whom its calls are about."""
    for _, arguments in task.actions:
        if "user_id" in arguments:
            return str(arguments["user_id"])
        order = tables.get("orders", {}).get(arguments.get("order_id", ""))
        if order is not None:
            return str(order["user_id"])
    # Two customers may have one name: the one of whom the paragraph says more.
    text = task.instruction.casefold()
    best = ("", 0)
    for user_id, user in tables["users"].items():
        name = f"{user['name']['first_name']} {user['name']['last_name']}".casefold()
        if name in text or user_id.casefold() in text:
            facts = (user.get("email", ""), user.get("address", {}).get("zip", ""), user_id)
            score = 1 + sum(fact.casefold() in text for fact in facts if fact)
            best = max(best, (user_id, score), key=lambda each: each[1])
    return best[0]
