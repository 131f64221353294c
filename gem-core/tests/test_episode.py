"""Episodes as records: what is written is what is read, and a crash costs one line at most."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gem.content import ImagePart, Message, TextPart, ToolCall, ToolResult
from gem.conversation import Usage
from gem.episode import (
    Episode,
    EpisodeLog,
    Turn,
    plain_info,
    read_episodes,
    read_last_tries,
)
from gem.errors import LogError

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


def test_what_is_appended_is_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    with EpisodeLog(path) as log:
        log.append(EPISODE)
        log.append(changed(seed=1))
    with EpisodeLog(path) as log:
        log.append(changed(seed=2))
        log.close()
    assert [episode.seed for episode in read_episodes(path)] == [11, 1, 2]


def test_an_episode_that_was_tried_again_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    failed = replace(EPISODE, stop_reason="policy_error", success=None, error="down")
    lost = replace(failed, episode_index=5)
    won_by_another = replace(EPISODE, policy="another")
    with EpisodeLog(path) as log:
        for each in (failed, lost, won_by_another, EPISODE, replace(lost, error="down again")):
            log.append(each)

    found = [(each.policy, each.episode_index, each.error) for each in read_last_tries(path)]

    assert found == [("another", 4, None), ("random", 4, None), ("random", 5, "down again")]


def test_a_half_written_line_is_removed_however_long(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    line = EPISODE.to_json().encode() + b"\n"
    path.write_bytes(line + line[:40] + b"x" * 200_000)
    with EpisodeLog(path):
        assert path.read_bytes() == line


def test_what_a_power_cut_leaves_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    line = EPISODE.to_json().encode() + b"\n"
    path.write_bytes(line + line[:5] + bytes(4096))
    with EpisodeLog(path):
        assert path.read_bytes() == line


@pytest.mark.parametrize("held", [b"notes, with no newline", b'first\n{"other": 1}', b"\xff\x00"])
def test_a_file_that_is_no_log_is_refused_and_unharmed(tmp_path: Path, held: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(held)
    with pytest.raises(LogError, match="ends in what is no episode"):
        EpisodeLog(path)
    assert path.read_bytes() == held


@pytest.mark.parametrize("kept", [1, 40, -2])
def test_a_half_written_last_line_is_ignored_and_then_removed(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "episodes.jsonl"
    line = EPISODE.to_json().encode() + b"\n"
    path.write_bytes(line + line[:kept])
    assert len(list(read_episodes(path))) == 1
    with EpisodeLog(path) as log:
        log.append(changed(seed=5))
    assert [episode.seed for episode in read_episodes(path)] == [11, 5]


def test_a_whole_last_line_without_its_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_text(EPISODE.to_json())
    assert len(list(read_episodes(path))) == 1
    with EpisodeLog(path) as log:
        log.append(changed(seed=5))
    assert [episode.seed for episode in read_episodes(path)] == [11, 5]


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_text(f"{EPISODE.to_json()}\nbroken\n{EPISODE.to_json()}\n")
    with pytest.raises(LogError, match="Line 2 of"):
        list(read_episodes(path))


def test_a_run_is_read_by_its_folder_too(tmp_path: Path) -> None:
    (tmp_path / "episodes.jsonl").write_text(f"{EPISODE.to_json()}\n")
    assert [*read_episodes(tmp_path)] == [*read_episodes(str(tmp_path))] == [EPISODE]
    assert [*read_last_tries(tmp_path)] == [EPISODE]


@pytest.mark.parametrize("name", ["absent.jsonl", "."])
def test_a_log_that_is_not_there_is_one_clear_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(LogError, match=r"cannot be read.*that of a run folder, or of the"):
        list(read_episodes(tmp_path / name))


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be opened for writing"):
        EpisodeLog(tmp_path / "absent" / "episodes.jsonl")


def test_two_logs_never_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    with EpisodeLog(path), pytest.raises(LogError, match="being written by another run") as caught:
        EpisodeLog(path)

    assert str(path) in str(caught.value)
    assert "Wait until that has ended, or stop it" in str(caught.value)
    assert "Errno" not in str(caught.value)


def test_a_device_without_space_is_one_clear_error() -> None:
    with EpisodeLog("/dev/full") as log, pytest.raises(LogError, match="No space left"):
        log.append(EPISODE)


def _append_until_full(path: str, results: Any) -> None:
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = len(EPISODE.to_json()) + 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * size + size // 2, 3 * size))
    with EpisodeLog(path) as log:
        log.append(EPISODE)
        log.append(changed(seed=12))
        try:
            log.append(changed(seed=13))
        except LogError as error:
            results.put(str(error))
        os.write(1, b"")


def test_a_full_disk_is_one_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_append_until_full, args=(str(path), results))
    process.start()
    message = results.get(timeout=60)
    process.join(60)
    assert "cannot be written (File too large)" in message
    assert [episode.seed for episode in read_episodes(path)] == [11, 12]
    assert path.read_bytes().endswith(b"\n")


def test_a_log_holds_one_json_object_a_line(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    with EpisodeLog(path) as log:
        log.append(EPISODE)
    assert json.loads(path.read_text())["format"] == 1


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
