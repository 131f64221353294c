"""Episodes to export, written down here: hostile ones among them."""

from __future__ import annotations

from typing import Any

from gem import Episode, ImagePart, Message, TextPart, ToolCall, ToolResult, Turn
from gem.conversation import Usage
from gem.episode import plain_info
from gem_eval.finding import example_episode, example_turn

PNG = b"\x89PNG\r\n\x1a\n no picture, but bytes"
HOSTILE = "NUL \x00, half a pair \ud800, </script><b>, \u202e turned, \x1b[2J, 終"
READABLE = HOSTILE.replace("\ud800", "\ufffd")
"""The same, as UTF-8 can hold it."""
HOSTILE_NAME = HOSTILE.replace("\x00", "")
READABLE_NAME = READABLE.replace("\x00", "")
"""A name of an argument: older readers of Arrow end a name at a NUL."""


def turn(action: str = "7", observation: Any = "Guess.", reward: float = 0.0, **more: Any) -> Turn:
    """Return a turn that goes on, unless it is told otherwise."""
    return example_turn(action, observation, reward=reward, **more)


def episode(*turns: Turn, **more: Any) -> Episode:
    """Return an episode of tiny:Guess, solved unless it is told otherwise."""
    given: dict[str, Any] = {
        "env_id": "tiny:Guess",
        "seed": 1,
        "policy": "good",
        "final_observation": "Found.",
        "total_reward": 1.0,
        "success": True,
        "versions": {"gem-core": "0.1.0"},
        "duration_s": 0.5,
    }
    return example_episode(*(turns or (turn(reward=1.0),)), **{**given, **more})


def failed(*turns: Turn, **more: Any) -> Episode:
    """Return an episode that was played to its end and not solved."""
    return episode(*turns, **{"success": False, "total_reward": 0.0, "policy": "bad", **more})


def broken(**more: Any) -> Episode:
    """Return an episode that its policy's server ended."""
    given = {"stop_reason": "policy_error", "error": "the server is gone", "success": None}
    return episode(**{**given, "total_reward": 0.0, "terminated": False, **more})


def with_image() -> Turn:
    """Return a turn whose observation has an image between two texts."""
    return turn("a cat", (TextPart("What is"), ImagePart(PNG), TextPart("this?")), 1.0)


def with_tools() -> tuple[Turn, Turn]:
    """Return two turns: a call of a tool, and an answer after what the tool said."""
    call = ToolCall("call-1", "add", {"a": 2, "b": [3]})
    result = ToolResult("call-1", "5")
    first = turn("", "Add 2 and 3.", tool_calls=(call,), tool_results=(result,))
    return first, turn("It is 5.", (Message("tool", "5", call_id="call-1"),), 1.0)


def with_tokens() -> tuple[Turn, Turn]:
    """Return two turns with token ids, of which the second follows the first."""
    first = turn(
        "a",
        token_ids=(1, 2, 3),
        mask=(0, 0, 1),
        logprobs=(0.0, 0.0, -0.5),
        usage=Usage(2, 1),
        finish_reason="stop",
        reasoning="I think.",
    )
    second = turn(
        "b",
        "Lower.",
        1.0,
        token_ids=(4, 5, 6),
        mask=(0, 1, 1),
        logprobs=(0.0, -0.1, -0.2),
        usage=Usage(4, 2),
        finish_reason="length",
    )
    return first, second


def hostile() -> Episode:
    """Return an episode whose every text is hostile, and one of them huge."""
    call = ToolCall("call-1", HOSTILE, {HOSTILE_NAME: HOSTILE})
    info = plain_info({HOSTILE: HOSTILE, "deep": 10**3000})
    return episode(
        turn(HOSTILE, HOSTILE, suffix=HOSTILE, info=info, tool_calls=(call,), reasoning=HOSTILE),
        turn("x" * 10_000_000, HOSTILE, 1.0, tool_results=(ToolResult("call-1", HOSTILE),)),
        final_observation=HOSTILE,
        env_kwargs={"word": HOSTILE},
    )
