"""One task of a customer service, ready to be played. Plain data that episodes share."""

from __future__ import annotations

from typing import NamedTuple

from gem_envs_agents.desk.database import Tables
from gem_envs_agents.desk.ledger import Decoys
from gem_envs_agents.desk.scoring import Goal
from gem_envs_agents.desk.tool import Call, Tools
from gem_envs_agents.users.script import Script

__all__ = ["Case", "Plan"]


class Plan(NamedTuple):
    """How a request of the user is done: the calls, what is said, and why it is turned down.

    `summary` is what the agent proposes before it writes. With `denial` the request is against the
    policy; the calls then need no consent.
    """

    calls: tuple[Call, ...]
    summary: str = ""
    outputs: tuple[str, ...] = ()
    denial: str = ""


class Case(NamedTuple):
    """A task: two databases with their tools, a user, and what is right at the end.

    `plans` has one plan for each request of `script`. `instruction` tells a user who is a model or
    a person what the script tells the automaton.
    """

    id: str
    policy: str
    tools: Tools
    tables: Tables
    user_tools: Tools
    user_tables: Tables
    script: Script
    instruction: str
    plans: tuple[Plan, ...]
    goal: Goal
    user_goal: Goal
    outputs: tuple[str, ...]
    assertions: tuple[str, ...] = ()  # what only a judge can grade
    decoys: Decoys | None = None  # with them a question is answered while it is open
