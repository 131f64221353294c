"""An episode with something in every field."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gem.content import Message, ToolCall, ToolResult
from gem.conversation import Usage
from gem.episode import Episode, Turn

TURN = Turn(
    observation="Guess.",
    action="\\boxed{7}\x00é",
    reward=0.5,
    terminated=False,
    truncated=False,
    suffix="Turn 1.",
    reward_parts={"hit": 0.5},
    info={"task": 3},
    tool_calls=(ToolCall("c1", "search", {"query": "x"}),),
    tool_results=(ToolResult("c1", "found", is_error=True),),
    step_s=0.25,
    policy_s=0.5,
    token_ids=(1, 2),
    logprobs=(-0.5, -0.25),
    mask=(1, 1),
    finish_reason="stop",
    usage=Usage(3, 2),
    reasoning="Seven is lucky.",
)
EPISODE = Episode(
    env_id="demo:Echo",
    env_kwargs={"max_turns": 3},
    wrappers=({"id": "concat", "kwargs": {}},),
    env_index=0,
    episode_index=4,
    repeat=1,
    seed=11,
    task=None,
    policy="random",
    turns=(TURN, replace(TURN, terminated=True)),
    final_observation="Right.",
    total_reward=1.0,
    terminated=True,
    truncated=False,
    stop_reason="terminated",
    error=None,
    success=True,
    versions={"gem-core": "0.1.0"},
    duration_s=1.5,
)


def changed(**fields: Any) -> Episode:
    return replace(EPISODE, **fields)


BARE = Turn("Go.", "b", 0.0, terminated=False, truncated=False)
RENEWED = replace(TURN, observation=(Message("user", "Again."),), new_sequence=True, seat=1)
REWRITTEN = changed(turns=(BARE, RENEWED, TURN), rewrites_history=True)
"""What `written.jsonl` holds, as it was written by the first version of the format."""
