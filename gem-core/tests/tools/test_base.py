from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

import gem
from gem.errors import SnapshotError


class Echo(gem.Tool):
    name = "echo"
    description = "Say it again."
    parameters = {"type": "object", "properties": {"text": {"type": "string"}}}  # noqa: RUF012

    async def call(self, arguments: Mapping[str, Any], context: gem.ToolContext) -> gem.ToolResult:
        return gem.ToolResult(context.call_id, arguments["text"])


class Notebook(Echo):
    name = "notebook"
    keeps_sessions = True


def test_the_schema_has_the_openai_form() -> None:
    assert Echo().schema() == {
        "type": "function",
        "function": {
            "name": "echo",
            "description": "Say it again.",
            "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
        },
    }


def test_a_tool_without_call_cannot_be_made() -> None:
    class Mute(gem.Tool):
        name = "mute"

    with pytest.raises(TypeError, match="abstract"):
        Mute()  # type: ignore[abstract]


def test_a_tool_shows_its_name() -> None:
    assert repr(Echo()) == "<Echo echo>"


def test_a_tool_that_keeps_nothing_lets_an_episode_be_copied() -> None:
    Echo().fork_session("1", "2")


def test_a_tool_that_keeps_sessions_says_that_it_cannot_copy_one() -> None:
    with pytest.raises(SnapshotError, match="'notebook', which keeps a state of its own"):
        Notebook().fork_session("1", "2")


def test_there_is_nothing_to_free_unless_a_tool_says_so() -> None:
    Echo().end_session("1")
    asyncio.run(Echo().aclose())


def test_what_meta_says_does_not_make_two_results_differ() -> None:
    assert gem.ToolResult("1", "text", meta={"cut": 3}) == gem.ToolResult("1", "text")
