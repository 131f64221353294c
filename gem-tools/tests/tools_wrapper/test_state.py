"""What a snapshot, a fork and a record keep of calls, and of tools with a state of their own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

import gem
from gem import replay
from gem.errors import SnapshotError

from . import ledger
from .ledger import begun, called, made, results, search


class Notebook(gem.Tool):
    """Keeps lines for each episode."""

    name = "note"
    parameters = {"type": "object", "properties": {"line": {"type": "string"}}}  # noqa: RUF012
    keeps_sessions = True

    def __init__(self, *, can_fork: bool = False) -> None:
        self.can_fork = can_fork
        self.lines: dict[str, list[str]] = {}

    async def call(self, arguments: Mapping[str, Any], context: gem.ToolContext) -> gem.ToolResult:
        lines = self.lines.setdefault(context.session, [])
        lines.append(arguments["line"])
        return gem.ToolResult(context.call_id, " ".join(lines))

    def fork_session(self, session: str, twin: str) -> None:
        if not self.can_fork:
            super().fork_session(session, twin)
        self.lines[twin] = [*self.lines[session]]

    def end_session(self, session: str) -> None:
        del self.lines[session]


def test_a_snapshot_keeps_what_was_counted() -> None:
    env = begun(search, max_tool_uses=1)
    env.step(called(("search", {"query": "a"})))
    before = env.snapshot()
    other = begun(search, max_tool_uses=1)

    with pytest.raises(SnapshotError):
        other.restore(gem.make("demo:Ledger").snapshot())
    other.restore(before)
    step = other.step(called(("search", {"query": "b"})))

    assert results(step)[0][1]


def test_a_fork_counts_for_itself() -> None:
    env = begun(search, max_tool_uses=1)

    twin = env.fork()
    env.step(called(("search", {"query": "a"})))
    step = twin.step(called(("search", {"query": "b"})))

    assert results(step) == [("Nothing on b.", False)]


def test_a_tool_that_can_copies_its_session_with_the_episode() -> None:
    notebook = Notebook(can_fork=True)
    env = begun(notebook)
    env.step(called(("note", {"line": "one"})))

    twin = env.fork()
    env.step(called(("note", {"line": "two"})))
    step = twin.step(called(("note", {"line": "three"})))

    assert results(step) == [("one three", False)]
    twin.close()
    env.close()
    assert notebook.lines == {}


def test_a_tool_that_cannot_copy_its_session_says_so_and_nothing_changes() -> None:
    env = begun(Notebook())
    env.fork().close()
    env.step(called(("note", {"line": "one"})))

    with pytest.raises(SnapshotError, match="'note', which keeps a state of its own"):
        env.fork()
    with pytest.raises(SnapshotError, match="the tool 'note' keeps a state of its own"):
        env.snapshot()
    step = env.step(called(("note", {"line": "two"})))

    assert results(step) == [("one two", False)]
    env.close()


def test_a_session_ends_with_its_episode() -> None:
    notebook = Notebook()
    env = begun(notebook)
    env.step(called(("note", {"line": "one"})))

    env.reset()
    step = env.step(called(("note", {"line": "two"})))
    env.close()

    assert results(step) == [("two", False)]
    assert notebook.lines == {}


async def _asking(request: gem.Request) -> gem.Action | str:
    return called(("add", {"a": 1, "b": request.turn})) if request.turn < 2 else "end"


async def _all(episodes: Any) -> list[gem.Episode]:
    return [episode async for episode in episodes]


def test_an_episode_records_calls_and_results_and_replays_without_calling() -> None:
    layer = {"id": "tools", "tools": [f"{ledger.__name__}:add"], "max_tool_uses": 1}
    run = gem.rollout(_asking, "demo:Ledger", episodes=1, wrappers=[layer])
    [episode] = asyncio.run(_all(run))
    before = len(made)

    again = gem.Episode.from_json(episode.to_json())

    assert [turn.tool_calls[0].name for turn in again.turns[:2]] == ["add", "add"]
    assert [turn.tool_results[0].content[:8] for turn in again.turns[:2]] == ["1", "Not made"]
    assert (replay(again).state, len(made)) == ("same", before)
    assert json.loads(episode.to_json())["turns"][0]["info"]["tools"]["uses"] == 1
