"""What a scripted user knows and wants. Plain data; how it behaves is in `automaton`.

A slot is something that an agent may ask for. Facts of a person say who they are ("email", "name",
"zip", "user_id"), facts of a request say what it is about ("order", "payment", "address").
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from gem_envs_agents.desk.tool import Call

__all__ = ["IDENTITY", "Device", "Kind", "Part", "Request", "Script", "listens_for"]

IDENTITY = ("email", "name", "zip", "user_id")
"""The slots that say who a person is."""

Kind = Literal["action", "question"]
"""An action has to be proposed and agreed to; a question has to be answered."""


class Device(NamedTuple):
    """A step that the user takes with a tool of their own, once the agent asks for it.

    `slot` is what the agent's words have to ask for, `report` what the user says afterwards.
    """

    slot: str
    call: Call
    report: str


class Part(NamedTuple):
    """One change that a request asks for, and what a proposal has to name before it is agreed to.

    `verbs` are kinds of what is done (`hearing.VERBS`), one of which is named. Of each group in
    `names` at least one is: an order by its number, an item by its id or its name. All are in lower
    case.
    """

    verbs: frozenset[str]
    names: tuple[frozenset[str], ...]


class Request(NamedTuple):
    """One thing that a user wants.

    `wording` is said unasked; `facts` are said when they are asked for, by slot. Those in
    `private` are said to nobody who has not asked who the user is. An action has `parts`, which may
    be proposed together or one by one; a right proposal may mention what is in `also`, and a
    proposal that names anything else is turned down.
    """

    kind: Kind
    wording: str
    facts: Mapping[str, str]
    private: frozenset[str] = frozenset()
    parts: tuple[Part, ...] = ()
    also: frozenset[str] = frozenset()
    devices: tuple[Device, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """What a right proposal may name."""
        return _names_of(self.parts, self.also)

    @property
    def verbs(self) -> frozenset[str]:
        """What a right proposal may do."""
        return _verbs_of(self.parts)

    @property
    def whole(self) -> int:
        """The parts as bits, all of them set."""
        return (1 << len(self.parts)) - 1


@lru_cache(maxsize=1_000)  # a proof asks for them with every proposal
def _names_of(parts: tuple[Part, ...], also: frozenset[str]) -> frozenset[str]:
    return also.union(*(group for part in parts for group in part.names))


@lru_cache(maxsize=1_000)
def _verbs_of(parts: tuple[Part, ...]) -> frozenset[str]:
    return frozenset().union(*(part.verbs for part in parts))


class Script(NamedTuple):
    """A user: who they are, what they want in this order, and what they never say.

    `secret` are texts that the agent has to find out by its tools: results, ids, prices.
    """

    greeting: str
    identity: Mapping[str, str]
    requests: tuple[Request, ...]
    secret: frozenset[str] = frozenset()
    patience: int = 4


def listens_for(script: Script, number: int) -> frozenset[str]:
    """Return the words that a user listens for in a proposal while a request is open."""
    # After the last one is closed nothing is proposed any more.
    return script.requests[min(number, len(script.requests) - 1)].names
