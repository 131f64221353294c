"""What a scripted user knows and wants. Plain data; how it behaves is in `automaton`.

A slot is something that an agent may ask for. Facts of a person say who they are ("email", "name",
"zip", "user_id"), facts of a request say what it is about ("order", "payment", "address").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from gem_envs_agents.desk.tool import Call

__all__ = ["IDENTITY", "Device", "Kind", "Request", "Script"]

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


class Request(NamedTuple):
    """One thing that a user wants.

    `wording` is said unasked; `facts` are said when they are asked for, by slot. Those in
    `private` are said to nobody who has not asked who the user is. `names` are the ids, such as
    order numbers, that a right proposal may mention: a proposal with another is turned down.
    """

    kind: Kind
    wording: str
    facts: Mapping[str, str]
    private: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    devices: tuple[Device, ...] = ()


class Script(NamedTuple):
    """A user: who they are, what they want in this order, and what they never say.

    `secret` are texts that the agent has to find out by its tools: results, ids, prices.
    """

    greeting: str
    identity: Mapping[str, str]
    requests: tuple[Request, ...]
    secret: frozenset[str] = frozenset()
    patience: int = 4
