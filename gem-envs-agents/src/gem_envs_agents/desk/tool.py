"""Tools over a database: what an agent, or a user, may call. Knows no shop.

A tool is a function of a draft and its arguments. What it raises as `Refusal` is an error that the
caller reads, and then nothing was written: the draft is thrown away.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gem_envs_agents.desk.arguments import Schema, arguments_schema, problem
from gem_envs_agents.desk.database import Database, Draft

__all__ = [
    "Call",
    "Outcome",
    "Refusal",
    "Tool",
    "Tools",
    "by_name",
    "reading",
    "run",
    "text_parameter",
    "writing",
]


class Refusal(Exception):
    """A tool did not do what it was asked to. Its text is what the caller reads."""


class Call(NamedTuple):
    """A call of a tool, as a task's solution or an action names it."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Tool:
    """One tool. `function` takes a draft and the arguments by name, and returns JSON data.

    Without `writes` the draft is thrown away whatever happens, so that reading is free.
    """

    name: str
    description: str
    function: Callable[..., Any]
    parameters: Mapping[str, Schema]
    writes: bool = False
    needs_consent: bool = True
    """Of a tool that writes: whether the policy wants the user to agree first."""
    echoes: bool = False
    """Whether it answers with what its caller gave it, so that nothing is known by the answer."""

    def schema(self) -> dict[str, Any]:
        """Return the schema in the OpenAI form."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": arguments_schema(self.parameters),
        }
        return {"type": "function", "function": function}


Tools = Mapping[str, Tool]


class Outcome(NamedTuple):
    """What a call led to: the text that the caller reads, and the database after it."""

    text: str
    is_error: bool
    database: Database


def by_name(tools: Sequence[Tool]) -> Tools:
    """Return tools by their names."""
    return {tool.name: tool for tool in tools}


def text_parameter(description: str, *choices: str) -> Schema:
    """Return the schema of a string, or of one of some strings."""
    schema: dict[str, Any] = {"type": "string", "description": description}
    if choices:
        schema["enum"] = list(choices)
    return schema


def run(tools: Tools, database: Database, call: Call) -> Outcome:
    """Call a tool. No arguments raise; on an error the database is the one that was given."""
    tool = tools.get(call.name)
    if tool is None:
        names = ", ".join(tools)
        return _error(f"There is no tool {call.name!r:.60}. There are: {names}.", database)
    wrong = problem(tool.parameters, call.arguments)
    if wrong is not None:
        return _error(f"{tool.name} was not called: {wrong}.", database)
    draft = database.draft()
    try:
        result = tool.function(draft, **call.arguments)
    except Refusal as refusal:
        return _error(str(refusal), database)
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return Outcome(text, False, draft.done() if tool.writes else database)


def writing(draft: Draft, table: str, key: str) -> dict[str, Any]:
    """Return a row to write into. Raises Refusal where there is none."""
    try:
        return draft.edit(table, key)
    except KeyError:
        raise Refusal(f"There is no {key!r:.60} among the {table}.") from None


def reading(draft: Draft, table: str, key: str) -> dict[str, Any]:
    """Return a row to read. Raises Refusal where there is none."""
    row = draft.get(table, key)
    if row is None:
        raise Refusal(f"There is no {key!r:.60} among the {table}.")
    return row


def _error(text: str, database: Database) -> Outcome:
    return Outcome(f"Error: {text}", True, database)
