"""A line of a log becomes a row, and no line can break that."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem import ToolCall
from gem.conversation import Usage
from gem.episode import StopReason
from gem_eval.summary import Outcome
from gem_eval.viewing.scanning import TURNS_AT_ONCE, Scanned, scan

from .conftest import episode, failed, turn


def scanned(**changes: Any) -> Scanned:
    return scan(episode(**changes).to_json().encode())


def with_field(name: str, value: Any) -> bytes:
    return json.dumps({**json.loads(episode().to_json()), name: value}).encode()


def test_a_row_has_what_a_summary_takes_of_the_episode() -> None:
    turns = (
        turn(usage=Usage(100, 7), policy_s=0.5, step_s=0.25, finish_reason="stop"),
        turn(usage=Usage(200, 9), policy_s=1.0, step_s=0.5, finish_reason="length", reward=1.0),
    )
    whole = episode(turns=turns, task=3, repeat=2, success=False)

    found = scan(whole.to_json().encode())

    outcome = Outcome.of(whole)
    assert found.outcome == "failed"
    assert (found.turns, found.total_return, found.task) == (2, 1.0, 3)
    assert outcome.usage == Usage(found.prompt_tokens or 0, found.completion_tokens or 0)
    assert (found.policy_s, found.environment_s) == (outcome.policy_s, outcome.environment_s)
    assert (found.answers, found.cut_answers) == (outcome.answers, outcome.cut_answers)


def test_an_error_is_its_first_line() -> None:
    found = scan(failed(error="\n  ValueError: no\nmore").to_json().encode())

    assert (found.outcome, found.error, found.last_words) == ("error", "ValueError: no", "")


def test_an_error_without_words_is_called_by_how_it_ended() -> None:
    found = scan(failed(error=None, stop_reason="worker_lost").to_json().encode())

    assert found.error == "worker_lost"


@pytest.mark.parametrize("stop_reason", get_args(StopReason))
def test_what_is_an_error_to_an_episode_is_one_to_its_row(stop_reason: Any) -> None:
    whole = episode(stop_reason=stop_reason)

    found = scan(whole.to_json().encode())

    assert (found.outcome == "error") == whole.is_error


def test_the_last_words_are_cut_to_one_line() -> None:
    found = scanned(turns=(turn(action="first"), turn(action="a\n b" + "c" * 1000)))

    assert found.last_words.startswith("a bccc")
    assert found.last_words.endswith("…")
    assert len(found.last_words) == 160


def test_a_call_stands_for_an_answer_without_text() -> None:
    found = scanned(turns=(turn(action="", tool_calls=(ToolCall("1", "search", {}),)),))

    assert found.last_words == "search(…)"


def test_half_a_character_is_replaced() -> None:
    assert scanned(turns=(turn(action="\ud800!"),)).last_words == "\ufffd!"


@pytest.mark.parametrize("policy", ["solver", "Löser"])
def test_turns_of_a_long_episode_are_found_by_their_bytes(policy: str) -> None:
    turns = tuple(turn(action=f"{policy} {number}", reward=0.5) for number in range(120))
    whole = replace(episode(), turns=turns)
    # As another program might have written it: spaces, and characters that are no ASCII.
    line = json.dumps(json.loads(whole.to_json()), ensure_ascii=False, indent=1).encode()

    found = scan(line.replace(b"\n", b" ")).long_turns

    assert found is not None
    starts = [number * TURNS_AT_ONCE for number in range(len(found.blocks))]
    for first, (start, end, before) in zip(starts, found.blocks, strict=True):
        block = json.loads(b"[%b]" % line.replace(b"\n", b" ")[start:end])
        assert block[0]["action"] == f"{policy} {first}"
        assert len(block) == min(TURNS_AT_ONCE, 120 - first)
        assert before == [first * 0.5]
    assert found.curve[-1] == (120, [60.0])
    assert "turns" not in json.loads(found.record)


def test_the_curve_of_many_turns_has_few_points() -> None:
    long_turns = scanned(turns=(turn(reward=1.0),) * 1001).long_turns

    assert long_turns is not None
    assert len(long_turns.curve) <= 400
    assert long_turns.curve[-1] == (1001, [1001.0])


def test_a_short_episode_keeps_no_places() -> None:
    assert scanned(turns=(turn(),) * TURNS_AT_ONCE).long_turns is None


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"null",
        b'{"env_id": 1',
        b'{"env_id": 1} more',
        b"\xff",
        b'{"turns": 3}',
        b"[" * 100_000,
        b'{"a": ' + b"[" * 100_000,
        episode().to_json().encode() + b" {}",
        with_field("format", 2),
        with_field("stop_reason", "stopped"),
        with_field("env_index", -1),
        with_field("env_index", True),
        with_field("episode_index", 10**30),
        with_field("policy", None),
        with_field("total_reward", "much"),
        with_field("seed", "x"),
        with_field("turns", [3]),
        with_field("turns", [{"reward": 0, "action": 5}]),
        with_field("turns", [{"reward": 0, "action": "x", "usage": [10**30, 1]}]),
        with_field("turns", [{"reward": 0, "action": "x", "usage": [(1 << 63) - 1, 1]}] * 2),
    ],
)
def test_what_is_no_episode_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of any words
        scan(line)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of any words
        scan(line)


def test_numbers_that_are_none_are_taken() -> None:
    line = with_field("total_reward", float("nan"))

    assert scan(line).total_return != scan(line).total_return
