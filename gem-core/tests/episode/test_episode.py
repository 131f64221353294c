"""Episodes as records: what is written is what is read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from gem.content import ImagePart, Message, TextPart, ToolCall
from gem.episode import Episode, plain_info

from .records import EPISODE, TURN, changed


def test_an_episode_survives_json() -> None:
    assert Episode.from_json(EPISODE.to_json()) == EPISODE


def test_a_line_is_ascii_and_has_no_newline() -> None:
    line = changed(final_observation="é\n\u2028\ud800").to_json()
    assert line.isascii()
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize(
    "observation",
    [
        None,
        "text",
        Message("tool", "result", call_id="c1"),
        (Message("user", "a"), Message("tool", (TextPart("b"),), call_id="c")),
        (TextPart("look"), ImagePart(b"\x89PNG", "image/png")),
    ],
)
def test_every_kind_of_observation_survives_json(observation: Any) -> None:
    episode = changed(final_observation=observation)
    assert Episode.from_json(episode.to_json()).final_observation == observation


@pytest.mark.parametrize(
    "difference",
    [
        {"seed": 12},
        {"env_kwargs": {"max_turns": 4}},
        {"wrappers": ()},
        {"turns": (TURN,)},
        {"turns": (replace(TURN, reward=0.25), replace(TURN, terminated=True))},
        {"turns": (replace(TURN, suffix=None), replace(TURN, terminated=True))},
        {"final_observation": "Wrong."},
        {"success": False},
        {"stop_reason": "truncated"},
    ],
)
def test_a_fingerprint_tells_what_must_reproduce_apart(difference: dict[str, Any]) -> None:
    assert changed(**difference).fingerprint() != EPISODE.fingerprint()


def test_a_fingerprint_leaves_out_what_need_not_reproduce() -> None:
    turns = tuple(
        replace(turn, step_s=9.0, policy_s=9.0, usage=None, reasoning=None)
        for turn in EPISODE.turns
    )
    other = changed(
        turns=turns,
        duration_s=9.0,
        versions={},
        policy="other",
        env_index=5,
        episode_index=5,
        repeat=5,
        error="text",
    )
    assert other.fingerprint() == EPISODE.fingerprint()


def test_a_fingerprint_survives_json() -> None:
    assert Episode.from_json(EPISODE.to_json()).fingerprint() == EPISODE.fingerprint()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        "nonsense",
        EPISODE.to_json().replace('"format":1', '"format":2'),
        EPISODE.to_json().replace('"terminated",', '"bored",'),
        EPISODE.to_json().replace('"turns":[', '"turns":[7,'),
        "[" * 100_000,
    ],
)
def test_other_text_is_not_an_episode(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Episode.from_json(text)


def test_only_the_turn_that_failed_was_not_played() -> None:
    failed = changed(stop_reason="env_error", success=None)
    assert failed.is_error
    assert failed.played_turns == EPISODE.turns[:-1]
    assert changed(stop_reason="policy_error").played_turns == EPISODE.turns
    assert not EPISODE.is_error


def test_info_is_recorded_as_json_and_what_cannot_be_as_its_type() -> None:
    info = {
        "suffix": "apart",
        "reward_parts": {"apart": 1.0},
        "ok": (1, 2),
        "nan": float("nan"),
        "thing": object(),
        "text": "t",
    }
    assert plain_info(info) == {
        "ok": [1, 2],
        "nan": {"$opaque": "builtins.float"},
        "thing": {"$opaque": "builtins.object"},
        "text": "t",
    }


TALK = (
    replace(TURN, observation="Guess.", suffix="Turn 1.", action="7", tool_calls=()),
    replace(TURN, observation="Lower.", suffix=None, action="3", tool_calls=()),
)


def test_an_episode_gives_its_chat_messages() -> None:
    assert changed(turns=TALK).messages() == [
        {"role": "user", "content": "Guess.\nTurn 1."},
        {"role": "assistant", "content": "7"},
        {"role": "user", "content": "Lower."},
        {"role": "assistant", "content": "3"},
    ]


def test_messages_end_with_the_last_answer_that_was_taken() -> None:
    failed = changed(turns=TALK, stop_reason="env_error", error="boom", success=None)
    assert [message["content"] for message in failed.messages()] == ["Guess.\nTurn 1.", "7"]


def test_of_prompts_that_replace_each_other_the_last_one_counts() -> None:
    rewritten = changed(turns=TALK, rewrites_history=True)
    assert [message["content"] for message in rewritten.messages()] == ["Lower.", "3"]
    assert Episode.from_json(rewritten.to_json()) == rewritten


def test_a_record_of_an_earlier_version_is_read() -> None:
    plain = json.loads(EPISODE.to_json())
    assert "rewrites_history" not in plain
    assert Episode.from_json(json.dumps(plain)).rewrites_history is False


def test_calls_of_tools_and_what_they_answered_are_messages() -> None:
    call = ToolCall("c1", "search", {"query": "gem"})
    result = Message("tool", "found", call_id="c1")
    turns = (
        replace(TURN, observation="Ask.", suffix=None, action="", tool_calls=(call,)),
        replace(TURN, observation=[result], suffix=None, action="Done.", tool_calls=()),
    )
    function = {"name": "search", "arguments": {"query": "gem"}}
    assert changed(turns=turns).messages()[1:3] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"type": "function", "id": "c1", "function": function}],
        },
        {"role": "tool", "content": "found", "tool_call_id": "c1"},
    ]
