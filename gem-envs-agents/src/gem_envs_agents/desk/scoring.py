"""Score an episode: by the state of its databases and by what the agent said. No model judges.

Texts compare without case and commas, numbers by their value: 25 is 25.0, and 10 is not in 100.
What counts as told is in `ledger`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from gem_envs_agents.desk.database import Database, canonical
from gem_envs_agents.desk.tool import Call, Tools, run

__all__ = [
    "Goal",
    "attempt",
    "communicates",
    "goal",
    "is_number",
    "numbers_in",
    "numbers_within",
    "reaches",
]

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")
_THOUSANDS = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?!\d)")
# A currency beside a number is no part of it. Other letters are: "SN116" is an id.
_CURRENCY = re.compile(r"\b(?:usd|eur|gbp)(?=-?\d)|(?<=\d)(?:usd|eur|gbp)\b")
_ANY_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LISTED = re.compile(r"^[ \t]*(\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)


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


def communicates(message: str, output: str) -> bool:
    """Say whether a message says something.

    >>> communicates("It costs $1,093.340 in all.", "1093.34")
    True
    >>> communicates("There are 100 of them.", "10")
    False
    """
    wanted = _plain(output)
    if _NUMBER.fullmatch(wanted):
        return float(wanted) in map(float, numbers_in(message))
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", _plain(message)) is not None


def is_number(output: str) -> bool:
    """Say whether an output is a number, which may be written in several ways."""
    return _NUMBER.fullmatch(_plain(output)) is not None


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text as they are written, without the commas.

    The numbers that lines of a list begin with, from 1 on, are none.

    >>> numbers_in("1. Two bags, 1,024.50 in all, or USD7")
    ['1024.50', '7']
    """
    return _NUMBER.findall(_CURRENCY.sub(" ", _items(text)))


def numbers_within(text: str) -> list[str]:
    """Return the numbers of a text, also those that letters stand beside.

    An id holds such a number too: this is for what may not be said, and makes nothing told.

    >>> numbers_within("x116.56 or 45.10,100.00"), numbers_in("x116.56 or 45.10,100.00")
    (['116.56', '45.10', '100.00'], ['45.10', '100.00'])
    """
    return _ANY_NUMBER.findall(_items(text))


def _items(text: str) -> str:
    """Return a text in its plain form, without the numbers that lines of a list begin with."""
    return _plain(_LISTED.sub(_without_markers(text), text))


def _without_markers(text: str) -> Callable[[re.Match[str]], str]:
    markers = {int(number) for number in _LISTED.findall(text)}

    def shortened(match: re.Match[str]) -> str:
        number = int(match[1])
        # "4. More than that cannot be had." begins no list.
        return "" if number == 1 or number - 1 in markers else match[0]

    return shortened


def _plain(text: str) -> str:
    # Commas in front of each three digits of a whole number are within it; any other parts two:
    # "10,20" is not 1020, and "45.10,100.00" not 45.10100.
    without_commas = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text.casefold())
    return " ".join(without_commas.replace(",", " ").split())
