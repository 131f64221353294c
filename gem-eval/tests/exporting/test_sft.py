"""The format sft: what is written, and that `datasets` loads it as trainers do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import Message, ToolCall

from . import runs

MakeRun = Callable[..., Path]


def exported_rows(run: Path, **options: Any) -> list[dict[str, Any]]:
    path = gem_eval.export(run, to="sft", out=run / "x.jsonl", **options).path
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_a_row_is_the_conversation_of_a_solved_episode(run: Callable[..., Any]) -> None:
    played = run("run")

    rows = exported_rows(played.path)

    solved = sum(round(result.success_rate * result.episodes) for result in played.summary.results)
    assert len(rows) == solved
    assert all(row["messages"][-1]["role"] == "assistant" for row in rows)
    assert all("Guess a number" in row["messages"][0]["content"] for row in rows)


def test_a_return_can_decide_instead(make_run: MakeRun) -> None:
    half = runs.failed(total_reward=0.5)
    run = make_run(half, runs.failed(seed=2), runs.broken(total_reward=1.0))

    rows = exported_rows(run, min_return=0.5)

    assert [row["total_reward"] for row in rows] == [0.5]


def test_what_was_left_out_for_its_return_is_told(make_run: MakeRun) -> None:
    run = make_run(runs.episode(), runs.failed())

    exported = gem_eval.export(run, to="sft", out=run / "x.jsonl", min_return=0.5)

    assert exported.left_out == {"with a return below 0.5": 1}


def test_an_episode_without_an_answer_teaches_nothing(make_run: MakeRun) -> None:
    silent = runs.episode(stop_reason="model_length", success=False, turns=())
    run = make_run(silent, runs.episode(seed=2, episode_index=1))

    exported = gem_eval.export(run, to="sft", out=run / "x.jsonl", min_return=-1)

    assert (exported.rows, exported.left_out) == (1, {"without an answer": 1})


def test_calls_of_tools_are_as_trl_takes_them(make_run: MakeRun) -> None:
    [row] = exported_rows(make_run(runs.episode(*runs.with_tools())))

    question, call, result, answer = row["messages"]
    assert question == {"role": "user", "content": "Add 2 and 3."}
    function = {"name": "add", "arguments": {"a": 2, "b": [3]}}
    assert call["tool_calls"] == [{"id": "call-1", "type": "function", "function": function}]
    assert result == {"role": "tool", "content": "5", "tool_call_id": "call-1", "name": "add"}
    assert answer == {"role": "assistant", "content": "It is 5."}


def test_a_call_that_the_text_holds_as_well_is_there_once(make_run: MakeRun) -> None:
    call, answer = runs.with_tools()
    written = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": [3]}}\n</tool_call>'
    by_tokens = replace(call, action=f"I add.\n{written}", token_ids=(1, 2), mask=(0, 1))

    [row] = exported_rows(make_run(runs.episode(by_tokens, answer)))

    assert row["messages"][1]["content"] == "I add."
    assert len(row["messages"][1]["tool_calls"]) == 1


def test_an_answer_of_a_tool_has_the_name_of_the_call_before_it(make_run: MakeRun) -> None:
    """A server that gives no ids has the first call of each answer called `call_0`."""
    turns = [
        runs.turn("", "Begin.", tool_calls=(ToolCall("call_0", "search", {}),)),
        runs.turn("", answer("found"), tool_calls=(ToolCall("call_0", "submit", {}),)),
        runs.turn("Done.", answer("submitted"), 1.0),
    ]

    [row] = exported_rows(make_run(runs.episode(*turns)))

    named = [(each["content"], each["name"]) for each in row["messages"] if each["role"] == "tool"]
    assert named == [("found", "search"), ("submitted", "submit")]


def answer(text: str) -> tuple[Message, ...]:
    return (Message("tool", text, call_id="call_0"),)


def test_where_prompts_were_rewritten_each_turn_is_a_row(make_run: MakeRun) -> None:
    turns = (runs.turn("a", "All: 1"), runs.turn("b", "All: 1 a 2", 1.0))
    run = make_run(runs.episode(*turns, rewrites_history=True))

    exported = gem_eval.export(run, to="sft", out=run / "x.jsonl")

    rows = [json.loads(line) for line in Path(exported.path).read_text().splitlines()]
    shown = [[message["content"] for message in row["messages"]] for row in rows]
    assert shown == [["All: 1", "a"], ["All: 1 a 2", "b"]]
    assert (exported.episodes, exported.rows) == (1, 2)


def test_one_image_makes_every_content_a_list_of_parts(make_run: MakeRun) -> None:
    image = runs.episode(runs.with_image(), seed=2, episode_index=1)
    [plain, shown] = exported_rows(make_run(runs.episode(), image))

    assert plain["messages"][0]["content"] == [{"type": "text", "text": "Guess."}]
    parts = shown["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["text", "image", "text"]
    assert parts[1]["image"].startswith("data:image/png;base64,")


def test_parts_without_an_image_are_text(make_run: MakeRun) -> None:
    from gem import TextPart

    turn = runs.turn("b", (TextPart("One."), TextPart("Two.")), 1.0)
    [row] = exported_rows(make_run(runs.episode(turn)))

    assert row["messages"][0]["content"] == "One.\nTwo."


def test_datasets_loads_hostile_text(make_run: MakeRun, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    run = make_run(runs.hostile(), runs.episode(*runs.with_tools(), episode_index=1))
    path = gem_eval.export(run, to="sft", out=run / "x.jsonl").path

    rows = datasets.load_dataset(
        "json", data_files=path, split="train", cache_dir=str(tmp_path / "cache")
    )

    first = rows[0]["messages"]
    assert first[0]["content"] == f"{runs.READABLE}\n{runs.READABLE}"
    assert first[1]["tool_calls"][0]["function"]["name"] == runs.READABLE
    assert len(first[3]["content"]) == 10_000_000
