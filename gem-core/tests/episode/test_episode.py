"""Episodes as records: what is written is what is read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gem.content import ImagePart, Message, TextPart, ToolCall
from gem.episode import Episode, is_success
from gem.specs import EnvSpec

from .records import BARE, EPISODE, RENEWED, REWRITTEN, TURN, changed


def test_an_episode_survives_json() -> None:
    assert Episode.from_json(EPISODE.to_json()) == EPISODE


def test_a_record_is_written_and_read_as_by_the_first_version() -> None:
    line = Path(__file__).with_name("written.jsonl").read_text("ascii").strip()

    assert REWRITTEN.to_json() == line
    assert Episode.from_json(line) == REWRITTEN


def test_a_number_that_json_does_not_know_is_never_written() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        changed(duration_s=float("nan")).to_json()


def test_fingerprints_are_the_same_in_every_version() -> None:
    assert EPISODE.fingerprint() == "8c0b8c1bbd3198b4ad52803806c678df"
    assert REWRITTEN.fingerprint() == "5895685e601598c2076f8f4c087d5a68"


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


@pytest.mark.parametrize(
    ("stop_reason", "is_error"),
    [
        ("terminated", False),
        ("truncated", False),
        ("max_turns", False),
        ("max_tokens", False),
        ("model_length", False),
        ("env_error", True),
        ("step_timeout", True),
        ("worker_lost", True),
        ("policy_error", True),
    ],
)
def test_an_episode_ends_for_one_of_these_reasons(stop_reason: Any, is_error: bool) -> None:
    episode = changed(stop_reason=stop_reason)

    assert Episode.from_json(episode.to_json()) == episode
    assert episode.is_error is is_error


def test_only_the_turn_that_failed_was_not_played() -> None:
    three = changed(turns=(BARE, RENEWED, TURN), stop_reason="env_error")
    assert three.played_turns == (BARE, RENEWED)
    failed = changed(stop_reason="env_error", success=None)
    assert failed.is_error
    assert failed.played_turns == EPISODE.turns[:-1]
    assert changed(stop_reason="policy_error").played_turns == EPISODE.turns
    assert not EPISODE.is_error


@pytest.mark.parametrize(
    ("info", "total", "success_return", "succeeded"),
    [
        ({}, 1.0, 1.0, True),
        ({}, 3.0, 3.0, True),
        ({}, 1.0 - 1e-9, 1.0, True),  # the most that a sum may lose by rounding
        ({}, 1.0 - 2e-9, 1.0, False),
        ({"success": False}, 1.0, 1.0, False),
        ({"success": True}, 0.0, 1.0, True),
    ],
)
def test_the_last_info_says_whether_an_episode_succeeded_or_else_its_return(
    info: dict[str, Any], total: float, success_return: float, succeeded: bool
) -> None:
    spec = EnvSpec(id="demo:Sum", target="demo:Sum", success_return=success_return)

    assert is_success(info, total, spec) is succeeded


@pytest.mark.parametrize(("total", "succeeded"), [(1.0, True), (0.5, False)])
def test_without_a_spec_a_return_of_1_is_enough(total: float, succeeded: bool) -> None:
    assert is_success({}, total, None) is succeeded


def test_without_a_spec_an_episode_succeeds_by_a_return_of_one() -> None:
    assert is_success({}, 1.0, None)
    assert not is_success({}, 0.9, None)


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
