"""The tool itself, and what a call is told. Knows nothing about functions or schemas' making."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gem.content import ToolResult
from gem.errors import SnapshotError

__all__ = ["Tool", "ToolContext"]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What one call is told, beside its arguments.

    `timeout_s` is how long it may take from its beginning, None for no limit. `seed` is fixed by
    the episode and the call, None where the episode has no seed. `session` names the episode to
    a tool that keeps a state for each; it is the same for all calls of one, and no other's.
    """

    call_id: str = ""
    session: str = ""
    seed: int | None = None
    timeout_s: float | None = None


class Tool(ABC):
    """Something that a policy may call. Write `call`, and state the name and the schema.

    `parameters` is the JSON schema of the arguments, an object. One tool serves many episodes at
    once, on any event loop: `max_concurrent` bounds the calls that run at a time (on one loop),
    None for no bound. `timeout_s` is how long a call may take, `max_characters` how much of its
    answer is kept. `is_pure` says that equal arguments always give equal answers, as long as
    `version` is the same: they may then be answered from memory.

    For a plain function there is `gem.tool`.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = {"type": "object", "properties": {}}
    is_pure: bool = False
    version: str = ""
    max_concurrent: int | None = None
    timeout_s: float | None = 60.0
    max_characters: int = 20_000
    keeps_sessions: bool = False
    """Whether a call may depend on earlier calls of its `context.session`."""

    @abstractmethod
    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Answer one call. What it raises becomes an error that the policy reads.

        `arguments` are plain JSON data, and nothing has been checked against `parameters`.
        """

    def schema(self) -> dict[str, Any]:
        """Return the schema in the OpenAI form, as chat templates and servers take it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}

    def fork_session(self, session: str, twin: str) -> None:
        """Let `twin` go on from what `session` is now. Raises SnapshotError if it cannot."""
        if self.keeps_sessions:
            raise SnapshotError(
                f"A copy was asked for of an episode that has used the tool {self.name!r}, which "
                "keeps a state of its own for each episode and cannot copy it. Fork or save "
                "before its first call."
            )

    def end_session(self, session: str) -> None:  # noqa: B027 - most tools keep nothing
        """Free what is kept for an episode that is over, without waiting. From any thread."""

    async def aclose(self) -> None:  # noqa: B027 - most tools hold nothing
        """Free what the tool holds. Whoever made the tool calls it."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"
