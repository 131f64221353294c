"""The format parquet, read by pyarrow and pandas."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem_eval import ExportError

from . import runs

pq = pytest.importorskip("pyarrow.parquet")

MakeRun = Callable[..., Path]


def exported_rows(run: Path, **options: Any) -> list[dict[str, Any]]:
    exported = gem_eval.export(run, to="parquet", out=run / "x.parquet", **options)
    rows: list[dict[str, Any]] = pq.read_table(exported.path).to_pylist()
    return rows


def test_a_row_has_an_episodes_figures_and_its_turns(run: Callable[..., Any]) -> None:
    played = run("run")

    rows = exported_rows(played.path)

    assert len(rows) == 40
    by_policy = {
        result.policy: result.success_rate * result.episodes for result in played.summary.results
    }
    assert {
        policy: sum(row["success"] for row in rows if row["policy"] == policy)
        for policy in by_policy
    } == by_policy
    assert all(len(row["turns"]) == row["num_turns"] for row in rows)
    assert all(
        sum(turn["reward"] for turn in row["turns"]) == pytest.approx(row["total_reward"])
        for row in rows
    )


def test_an_error_is_no_wrong_answer(make_run: MakeRun) -> None:
    [solved, unsolved, error] = exported_rows(
        make_run(runs.episode(), runs.failed(), runs.broken(seed=2, episode_index=1))
    )

    assert (solved["success"], unsolved["success"], error["success"]) == (True, False, None)
    assert (error["is_error"], error["error"]) == (True, "the server is gone")


def test_pandas_unnests_the_turns(make_run: MakeRun) -> None:
    pandas = pytest.importorskip("pandas")
    run = make_run(runs.episode(*runs.with_tokens()))
    path = gem_eval.export(run, to="parquet", out=run / "x.parquet").path

    episodes = pandas.read_parquet(path)
    turns = pandas.json_normalize(episodes.explode("turns")["turns"].tolist())

    assert episodes["success"].mean() == 1.0
    assert turns["action"].tolist() == ["a", "b"]
    assert turns["completion_tokens"].sum() == 3


def test_tokens_are_as_they_were_recorded(make_run: MakeRun) -> None:
    [row] = exported_rows(make_run(runs.episode(*runs.with_tokens())))

    first, second = row["turns"]
    assert (first["token_ids"], first["mask"]) == ([1, 2, 3], [0, 0, 1])
    assert second["logprobs"] == [0.0, -0.1, -0.2]
    assert (row["prompt_tokens"], row["completion_tokens"]) == (6, 3)
    assert (first["reasoning"], first["finish_reason"]) == ("I think.", "stop")


def test_calls_of_tools_are_json(make_run: MakeRun) -> None:
    [row] = exported_rows(make_run(runs.episode(*runs.with_tools())))

    first, second = row["turns"]
    assert json.loads(first["tool_calls"])[0]["arguments"] == {"a": 2, "b": [3]}
    assert json.loads(first["tool_results"])[0]["content"] == "5"
    assert json.loads(second["observation_parts"])["messages"][0]["call_id"] == "call-1"


def test_an_image_is_bytes_beside_its_place_in_the_text(make_run: MakeRun) -> None:
    [row] = exported_rows(make_run(runs.episode(runs.with_image())))

    [turn] = row["turns"]
    assert turn["images"] == [{"bytes": runs.PNG, "path": None}]
    assert json.loads(turn["observation_parts"]) == {
        "parts": [
            {"text": "What is"},
            {"image": 0, "media_type": "image/png"},
            {"text": "this?"},
        ]
    }


@pytest.mark.parametrize("is_alone", [True, False])
def test_an_image_in_a_message_is_found(make_run: MakeRun, is_alone: bool) -> None:
    from gem import ImagePart, Message, TextPart

    shown = Message("user", (TextPart("Look."), ImagePart(runs.PNG)))
    before = Message("system", "Be brief.")
    observation = shown if is_alone else (before, shown)
    [row] = exported_rows(make_run(runs.episode(runs.turn("a cat", observation, 1.0))))

    assert row["turns"][0]["images"] == [{"bytes": runs.PNG, "path": None}]
    assert '"image":0' in row["turns"][0]["observation_parts"]


def test_hostile_text_survives_but_for_halves_of_pairs(make_run: MakeRun) -> None:
    [row] = exported_rows(make_run(runs.hostile()))

    first, second = row["turns"]
    assert first["action"] == first["observation"] == first["suffix"] == runs.READABLE
    assert json.loads(first["info"])[runs.READABLE] == runs.READABLE
    assert len(second["action"]) == 10_000_000
    assert json.loads(row["env_kwargs"]) == {"word": runs.READABLE}


def test_rows_are_written_in_groups(make_run: MakeRun) -> None:
    run = make_run(*(runs.episode(seed=seed, episode_index=seed) for seed in range(1001)))

    path = gem_eval.export(run, to="parquet", out=run / "x.parquet").path

    file = pq.ParquetFile(path)
    assert [file.metadata.row_group(index).num_rows for index in range(2)] == [1000, 1]
    assert file.read(["line"])["line"].to_pylist() == list(range(1, 1002))


def test_a_number_that_no_column_holds_is_told_and_nothing_is_left(make_run: MakeRun) -> None:
    run = make_run(runs.episode(), runs.episode(seed=2**70, episode_index=1))

    with pytest.raises(ExportError, match="from line 1 of the log on, one has a number that no"):
        exported_rows(run)

    assert not (run / "x.parquet").exists()
