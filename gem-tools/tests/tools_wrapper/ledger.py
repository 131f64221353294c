"""An environment that keeps its moves, tools to call in it, and what came of a step."""

from __future__ import annotations

from typing import Any

import gem
from gem import Step

made: list[str] = []


@gem.tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    made.append(f"{a}+{b}")
    return a + b


@gem.tool
async def search(query: str) -> str:
    """Search."""
    made.append(query)
    return f"Nothing on {query}."


@gem.tool
def fail(why: str) -> None:
    raise ValueError(why)


class Ledger(gem.Env):
    """Takes any action but "end" for a move; `moves` is what reached it."""

    reward_range = (0.0, 1.0)

    def __init__(self, max_turns: int = 5) -> None:
        self.max_turns: int = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.moves: list[str] = []
        return "Begin.", {"suffix": "Your move."}

    def step(self, action: str) -> gem.Step:
        self.moves.append(str(action))
        done = action == "end"
        return gem.Step("Moved.", float(done), done, self.turn + 1 >= self.max_turns, {})


class Desk(gem.Env):
    """Has a tool of its own, which it answers itself."""

    tools = (search.schema(),)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "", {}

    def step(self, action: str) -> Step:
        return Step("looked up", 0.0, False, False, {})


def begun(*tools: Any, **options: Any) -> gem.Env:
    layer = {"id": "tools", "tools": list(tools), **options}
    env = gem.make("demo:Ledger", wrappers=[layer])
    env.reset(seed=0)
    return env


def called(*calls: tuple[str, Any]) -> gem.Action:
    return gem.Action(
        "I look.",
        tool_calls=[gem.ToolCall(f"c{n}", *call) for n, call in enumerate(calls)],
    )


def moves(env: gem.Env) -> Any:
    return env.unwrapped.moves  # type: ignore[attr-defined]


def results(step: Step) -> list[tuple[str, bool]]:
    return [(result.content, result.is_error) for result in step.info["tool_results"]]
