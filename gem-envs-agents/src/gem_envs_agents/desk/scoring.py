"""Score an episode: by the state of its databases and by what the agent said. No model judges.

Texts compare without case and commas, numbers by their value: 25 is 25.0, and 10 is not in 100.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from gem_envs_agents.desk.database import Database, canonical
from gem_envs_agents.desk.tool import Call, Tools, run

__all__ = ["Goal", "attempt", "communicates", "goal", "missing_outputs", "reaches"]

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")
_MOST_NUMBERS = 60
"""Numbers that a message may hold and still communicate one: a list of all numbers says nothing."""


class Goal(NamedTuple):
    """What a solution leaves behind: the state of the database, and what has to be tried.

    `attempts` are the writing calls of a solution that changes nothing, because the shop refuses
    every one of them. State alone cannot tell who made them from who did nothing.
    """

    state: str
    attempts: tuple[str, ...] = ()


def goal(tools: Tools, database: Database, actions: Sequence[Call]) -> Goal:
    """Return what a solution leads to. Calls that fail change nothing, as for an agent."""
    before = database.state()
    refused = []
    for action in actions:
        outcome = run(tools, database, action)
        tool = tools.get(action.name)
        if outcome.is_error and tool is not None and tool.writes:
            refused.append(attempt(action))
        database = outcome.database
    state = database.state()
    return Goal(state, tuple(refused) if state == before else ())


def attempt(call: Call) -> str:
    """Return a call as text that is equal for equal calls: 25 and 25.0 are one number."""
    return json.dumps([call.name, canonical(call.arguments)], sort_keys=True)


def reaches(wanted: Goal, database: Database, attempts: Collection[str]) -> bool:
    """Say whether a database is as a solution leaves it, and what has to be tried was tried."""
    return database.state() == wanted.state and set(wanted.attempts) <= set(attempts)


def missing_outputs(outputs: Sequence[str], messages: Sequence[str]) -> list[str]:
    """Return the outputs that no message communicates."""
    return [
        output
        for output in outputs
        if not any(communicates(message, output) for message in messages)
    ]


def communicates(message: str, output: str) -> bool:
    """Say whether a message says something.

    >>> communicates("It costs $1,093.340 in all.", "1093.34")
    True
    >>> communicates("There are 100 of them.", "10")
    False
    """
    text = _plain(message)
    wanted = _plain(output)
    if _NUMBER.fullmatch(wanted):
        numbers = _NUMBER.findall(text)
        return len(numbers) <= _MOST_NUMBERS and float(wanted) in map(float, numbers)
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text) is not None


def _plain(text: str) -> str:
    without_commas = re.sub(r"(?<=\d),(?=\d)", "", text.casefold())
    return " ".join(without_commas.replace(",", " ").split())
