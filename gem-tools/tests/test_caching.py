"""Answers of pure tools: kept within bounds, and only where they are of use."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.errors import GemError
from gem_tools.caching import Answers

made: list[str] = []


@gem.tool(is_pure=True)
def look_up(word: str) -> str:
    made.append(word)
    if word == "":
        raise GemError("There is no such word.")
    return word.upper()


@gem.tool
def roll(word: str) -> str:
    made.append(word)
    return word


@pytest.fixture(autouse=True)
def _nothing_made(demo_guess: None) -> None:
    made.clear()


def asked(tool: gem.Tool, word: str) -> dict[str, Any]:
    """Call the tool in an episode of its own; return what info says of the call."""
    env = gem.make("demo:Guess", wrappers=[{"id": "tools", "tools": [tool]}])
    env.reset(seed=0)
    call = gem.ToolCall("c1", tool.name, {"word": word})
    step = env.step(gem.Action("", tool_calls=[call]))
    [result] = step.info["tool_results"]
    [said] = step.info["tools"]["calls"]
    return {**said, "content": result.content, "call_id": result.call_id}


def test_a_pure_tool_is_not_asked_the_same_twice_and_info_says_so() -> None:
    first = asked(look_up, "orrery")
    again = asked(look_up, "orrery")

    assert made == ["orrery"]
    assert "cached" not in first
    assert (again["cached"], again["content"], again["call_id"]) == (True, "ORRERY", "c1")


def test_others_are_asked_each_time() -> None:
    asked(roll, "die")
    asked(roll, "die")

    assert made == ["die", "die"]


def test_an_error_is_never_kept() -> None:
    asked(look_up, "")
    asked(look_up, "")

    assert made == ["", ""]


def test_another_version_of_a_tool_has_answers_of_its_own() -> None:
    tool = gem.tool(is_pure=True)(look_up.function)
    asked(tool, "tide")
    tool.version = "2"
    asked(tool, "tide")

    assert made == ["tide", "tide"]


def test_two_tools_share_no_answers() -> None:
    kept = Answers()
    twin = gem.tool(is_pure=True)(look_up.function)
    kept.put(look_up, {"word": "a"}, gem.ToolResult("c", "A"))

    assert kept.get(look_up, {"word": "a"}, "d") == gem.ToolResult("d", "A")
    assert kept.get(twin, {"word": "a"}, "d") is None


def test_the_number_of_answers_is_bounded_and_those_in_use_stay() -> None:
    kept = Answers(most_entries=3)
    for word in "abc":
        kept.put(look_up, {"word": word}, gem.ToolResult("", word))
    kept.get(look_up, {"word": "a"}, "")
    kept.put(look_up, {"word": "d"}, gem.ToolResult("", "d"))

    assert [kept.get(look_up, {"word": word}, "") is not None for word in "abcd"] == [
        True,
        False,
        True,
        True,
    ]


def test_their_bytes_are_bounded() -> None:
    kept = Answers(most_bytes=10_000)
    for number in range(100):
        kept.put(look_up, {"word": str(number)}, gem.ToolResult("", "x" * 1000))
    kept.put(look_up, {"word": "huge"}, gem.ToolResult("", "x" * 20_000))

    assert 0 < len(kept) < 10
    assert 0 < kept.size <= 10_000
    assert kept.get(look_up, {"word": "99"}, "") is not None
    assert kept.get(look_up, {"word": "huge"}, "") is None


def test_an_answer_that_is_put_again_counts_once() -> None:
    kept = Answers()
    kept.put(look_up, {"word": "a"}, gem.ToolResult("", "A"))
    size = kept.size
    kept.put(look_up, {"word": "a"}, gem.ToolResult("", "A"))

    assert (len(kept), kept.size) == (1, size)
