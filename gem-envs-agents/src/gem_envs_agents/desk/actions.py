"""Read what an agent, or a user, does: calls of tools, or words for the other side."""

from __future__ import annotations

import json
from typing import NamedTuple

from gem.content import Action
from gem.parsing import Hermes, Malformed, OpenAI, ParsedCall, outside_thought
from gem_envs_agents.desk.reasoning import with_think_tags
from gem_envs_agents.desk.tool import Call

__all__ = ["MOST_AT_ONCE", "Move", "read_move", "write_call"]

MOST_AT_ONCE = 4
"""Calls that one action makes; those after them are not made."""


class Move(NamedTuple):
    """One action: its calls, or its text without what was only thought.

    `is_beside` says that the calls came beside the text, so that each has a result of its own.
    """

    calls: tuple[ParsedCall | Malformed, ...]
    is_beside: bool
    text: str


def read_move(action: str) -> Move:
    """Return what an action does. It costs linear time, and no text raises.

    >>> read_move("<think>Is it she?</think> What is your name?").text
    'What is your name?'
    """
    is_beside = isinstance(action, Action) and bool(action.tool_calls)
    # The one place where text passes to the other side: what is marked as thought stays here.
    marked = with_think_tags(str(action))
    found = OpenAI().parse(action).found if is_beside else Hermes().parse(marked).found
    text = " ".join(marked[start:end] for start, end in outside_thought(marked))
    return Move(tuple(found), is_beside, text.strip())


def write_call(call: Call) -> str:
    """Write a call into a text, as Hermes and Qwen models do."""
    body = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
    return f"<tool_call>\n{body}\n</tool_call>"
