"""Make a scripted user of a published task, from its own facts.

The published user is a paragraph for a model to act out. The scripted one wants what the solution
does, one request for each call that writes, in the shop's words; and where the task has outputs,
or writes nothing, what the paragraph asks for, in its words. It knows who it is as far as the
paragraph says so. It never says an id of an item or a payment, nor an output that the paragraph
does not say itself: these are for the agent to find out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gem_envs_agents.desk.case import Plan
from gem_envs_agents.desk.database import Record, Tables
from gem_envs_agents.desk.scoring import communicates
from gem_envs_agents.desk.tool import Call, Tools
from gem_envs_agents.tau.lookups import lookups
from gem_envs_agents.tau.reading import Task
from gem_envs_agents.tau.wishes import Wish, wish
from gem_envs_agents.users.script import Request, Script

__all__ = ["scripted"]

_PRIVATE = ("payment", "address")
_GREETING = "Hello."
_VAGUE = "I have a question about my account. Can you tell me the details?"
_ASKING = re.compile(
    r"\b(?:know|how|total|price|cost|tell|what|which|save|saved|refund|tracking|check|ask)\b",
    re.IGNORECASE,
)
_PERSONS = (
    (r"\byou are\b", "I am"),
    (r"\byou're\b", "I am"),
    (r"\byou have\b", "I have"),
    (r"\byourself\b", "myself"),
    (r"\byours\b", "mine"),
    (r"\byour\b", "my"),
    (r"\byou\b", "I"),
)


def scripted(task: Task, tools: Tools, tables: Tables) -> tuple[Script, tuple[Plan, ...]]:
    """Return the user of a task, and how each of its requests is done."""
    identity = _identity(task, tables)
    secret = frozenset(
        output for output in task.outputs if not communicates(task.instruction, output)
    )
    requests = []
    plans = []
    calls: list[Call] = []
    for action in task.actions:
        calls.append(action)
        if action.name in tools and tools[action.name].writes:
            wanted = wish(action, tables)
            requests.append(_request(wanted, task, secret))
            plans.append(Plan(tuple(calls), wanted.summary))
            calls = []
    if task.outputs or not requests:
        words = _question(task, {*identity.values(), *secret})
        requests.append(Request("question", words, {}))
        user_id = task.user_id or _user_of(task, tables)
        calls += lookups(task.outputs, task.actions, user_id, tools, tables)
        plans.append(Plan(tuple(calls), outputs=task.outputs))
    elif calls:
        plans[-1] = plans[-1]._replace(calls=(*plans[-1].calls, *calls))
    requests = _told_apart(requests)
    requests = [_with_private(request, requests) for request in requests]
    return Script(_GREETING, identity, tuple(requests), secret), tuple(plans)


def _request(wanted: Wish, task: Task, secret: frozenset[str]) -> Request:
    """Return a wish as a request, without what the user cannot know."""
    facts = {}
    for slot, value in wanted.facts.items():
        is_secret = any(communicates(value, each) for each in secret)
        is_unknown = slot == "order" and value.casefold() not in task.instruction.casefold()
        if not is_secret and not is_unknown:
            facts[slot] = value
    candidates = (wanted.wording, wanted.vague_wording, wanted.plain_wording)
    silent = [
        words for words in candidates if not any(communicates(words, each) for each in secret)
    ]
    wording = silent[0] if silent else _VAGUE
    return Request("action", wording, facts, names=wanted.names)


def _told_apart(requests: list[Request]) -> list[Request]:
    """Number the requests whose words came before, so that none is taken for another."""
    apart: list[Request] = []
    used: set[str] = set()
    for number, request in enumerate(requests, 1):
        wording = request.wording
        if wording in used:
            wording = f"Wish number {number}: {wording}"
        used.add(wording)
        apart.append(request._replace(wording=wording))
    return apart


def _with_private(request: Request, requests: list[Request]) -> Request:
    """Mark what is private, unless a wording says it."""
    wordings = " ".join(each.wording for each in requests).casefold()
    private = frozenset(
        slot
        for slot, value in request.facts.items()
        if slot in _PRIVATE and value.casefold() not in wordings
    )
    return request._replace(private=private)


def _identity(task: Task, tables: Tables) -> Mapping[str, str]:
    """Return what the user knows of who they are: what the paragraph says."""
    user_id = task.user_id or _user_of(task, tables)
    user: Record = tables["users"].get(user_id, {})
    name = user.get("name", {})
    facts = {
        "email": user.get("email", ""),
        "name": f"{name.get('first_name', '')} {name.get('last_name', '')}".strip(),
        "zip": user.get("address", {}).get("zip", ""),
        "user_id": user_id,
    }
    text = task.instruction.casefold()
    known = {slot: value for slot, value in facts.items() if value and value.casefold() in text}
    if known:
        return known
    # The tables know nobody of the name in a few paragraphs: the first of what they know it is.
    return {slot: facts[slot] for slot in ("name", "zip") if facts[slot]} or {"user_id": user_id}


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
        if name in text:
            facts = (user.get("email", ""), user.get("address", {}).get("zip", ""), user_id)
            score = 1 + sum(fact.casefold() in text for fact in facts if fact)
            best = max(best, (user_id, score), key=lambda each: each[1])
    return best[0]


def _question(task: Task, unsaid: set[str]) -> str:
    """Return what the paragraph asks, as its user would say it."""
    sentences = [
        sentence
        for sentence in _sentences(task.reason or task.instruction)
        if not any(_holds(sentence, each) for each in unsaid)
    ]
    asking = [sentence for sentence in sentences if _ASKING.search(sentence)]
    chosen = (asking or sentences)[:2]
    return " ".join(map(_in_first_person, chosen)) or _VAGUE


def _holds(sentence: str, text: str) -> bool:
    return text.casefold() in sentence.casefold() or communicates(sentence, text)


def _sentences(text: str) -> Iterator[str]:
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        # What begins with "if" is what the user does later, and not what they call for.
        if sentence.strip() and not re.match(r"if\b", sentence, re.IGNORECASE):
            yield sentence.strip()


def _in_first_person(sentence: str) -> str:
    for pattern, word in _PERSONS:
        sentence = re.sub(pattern, word, sentence, flags=re.IGNORECASE)
    return sentence[:1].upper() + sentence[1:]
