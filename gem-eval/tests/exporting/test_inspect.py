"""The format inspect, read by inspect_ai's own reader, which `inspect view` reads with."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import Message, ToolResult

from . import runs

MakeRun = Callable[..., Path]


def exported_logs(run: Path, **options: Any) -> list[Path]:
    folder = Path(gem_eval.export(run, to="inspect", out=run / "logs", **options).path)
    return sorted(folder.iterdir())


def only_log(run: Path) -> Any:
    """Return the only log of a run, as inspect_ai reads it."""
    log = pytest.importorskip("inspect_ai.log")
    [path] = exported_logs(run)
    return log.read_eval_log(str(path))


def member(path: Path, name: str) -> Any:
    with zipfile.ZipFile(path) as log:
        return json.loads(log.read(name))


def test_each_policy_and_environment_has_a_log(run: Callable[..., Any]) -> None:
    played = run("run", envs=["tiny:Guess", "tiny:Numbered"], episodes=6)

    logs = exported_logs(played.path)

    heads = [member(path, "header.json")["eval"] for path in logs]
    assert {(head["task"], head["model"]) for head in heads} == {
        (env, policy) for env in ("tiny:Guess", "tiny:Numbered") for policy in ("solver", "random")
    }
    assert all(member(path, "header.json")["status"] == "success" for path in logs)
    assert {len(member(path, "summaries.json")) for path in logs} == {6}


def test_a_run_that_is_not_whole_is_told(make_run: MakeRun) -> None:
    [path] = exported_logs(make_run(runs.episode()))

    assert member(path, "header.json")["status"] == "cancelled"


def test_samples_of_a_finite_set_go_by_their_task(make_run: MakeRun) -> None:
    tasks = [runs.episode(task=3, seed=seed, episode_index=seed) for seed in (1, 2)]
    again = runs.episode(task=3, seed=1, episode_index=1, repeat=1)

    [path] = exported_logs(make_run(*tasks, again))

    ids = [(row["id"], row["epoch"]) for row in member(path, "summaries.json")]
    assert ids == [("task-3", 1), ("task-3-seed-2-2", 1), ("task-3", 2)]


@pytest.mark.slow
def test_a_summary_is_short(make_run: MakeRun) -> None:
    [path] = exported_logs(make_run(runs.hostile()))

    [row] = member(path, "summaries.json")
    assert len(json.dumps(row)) < 5000
    assert row["input"] == f"{runs.READABLE}\n{runs.READABLE}"


def test_inspect_reads_samples_scores_and_usage(run: Callable[..., Any]) -> None:
    log = pytest.importorskip("inspect_ai.log")
    played = run("run", policies=["random"])

    read = log.read_eval_log(str(exported_logs(played.path)[0]))

    [result] = played.summary.results
    metrics = {score.name: score.metrics for score in read.results.scores}
    assert metrics["success"]["accuracy"].value == pytest.approx(result.success_rate)
    assert metrics["return"]["mean"].value == pytest.approx(result.mean_return)
    assert len(read.samples) == 20
    solved = [sample.scores["success"].value == "C" for sample in read.samples]
    assert sum(solved) / 20 == pytest.approx(result.success_rate)


def test_inspect_lists_the_logs_of_the_folder(run: Callable[..., Any]) -> None:
    log = pytest.importorskip("inspect_ai.log")
    played = run("run")

    paths = exported_logs(played.path)

    found = log.list_eval_logs(str(played.path / "logs"))
    assert {Path(info.name).name for info in found} == {path.name for path in paths}
    assert {info.task for info in found} == {"tiny-Guess"}


def test_inspect_sees_an_error_and_no_score(make_run: MakeRun) -> None:
    read = only_log(make_run(runs.episode(), runs.broken(seed=2, episode_index=1)))

    solved, broken = read.samples
    assert (broken.error.message, broken.scores) == ("policy_error: the server is gone", None)
    assert (solved.error, solved.scores["success"].value) == (None, "C")
    assert (read.results.total_samples, read.results.completed_samples) == (2, 1)
    assert read.results.scores[0].metrics["accuracy"].value == 1.0
    assert [event.event for event in broken.events][-1] == "error"


def test_inspect_sees_nothing_but_errors(make_run: MakeRun) -> None:
    silent = runs.broken(turns=(), error=None, final_observation=None)
    read = only_log(make_run(silent))

    assert read.results.scores == []
    assert read.samples[0].error.message == "policy_error: nothing more is known"


def test_inspect_sees_calls_of_tools(make_run: MakeRun) -> None:
    [sample] = only_log(make_run(runs.episode(*runs.with_tools()))).samples

    _, call, result, _ = sample.messages
    assert call.tool_calls[0].arguments == {"a": 2, "b": [3]}
    assert (result.role, result.tool_call_id, result.function) == ("tool", "call-1", "add")
    [tool] = [event for event in sample.events if event.event == "tool"]
    assert (tool.function, tool.result, tool.error) == ("add", "5", None)


def test_inspect_sees_a_tool_that_failed(make_run: MakeRun) -> None:
    turn = runs.turn("x", reward=1.0, tool_results=(ToolResult("7", "no such tool", True),))
    [sample] = only_log(make_run(runs.episode(turn))).samples

    [tool] = [event for event in sample.events if event.event == "tool"]
    assert (tool.function, tool.error.message) == ("unknown", "no such tool")


def test_inspect_sees_what_each_call_of_the_model_was_given(make_run: MakeRun) -> None:
    read = only_log(make_run(runs.episode(*runs.with_tokens())))

    [sample] = read.samples
    first, second = [event for event in sample.events if event.event == "model"]
    assert [message.text for message in first.input] == ["Guess."]
    assert [message.text for message in second.input] == ["Guess.", "a", "Lower."]
    assert first.output.usage.total_tokens == 3
    assert (first.output.stop_reason, second.output.stop_reason) == ("stop", "max_tokens")
    assert sample.messages[1].content[0].reasoning == "I think."
    assert sample.model_usage["good"].output_tokens == 3
    assert read.stats.model_usage["good"].input_tokens == 6
    assert (sample.output.completion, sample.turn_count) == ("b", 2)


def test_inspect_sees_rewritten_prompts_apart(make_run: MakeRun) -> None:
    turns = (runs.turn("a", "All: 1"), runs.turn("b", "All: 1 a 2", 1.0))
    [sample] = only_log(make_run(runs.episode(*turns, rewrites_history=True))).samples

    inputs = [event.input for event in sample.events if event.event == "model"]
    assert [[message.text for message in messages] for messages in inputs] == [
        ["All: 1"],
        ["All: 1 a 2"],
    ]
    assert [message.text for message in sample.messages] == ["All: 1 a 2", "b"]


def test_each_message_has_an_id_of_its_own(make_run: MakeRun) -> None:
    observation = (Message("system", "Be brief."), Message("user", "Guess."))
    turns = (runs.turn("4", observation), runs.turn("7", "Higher.", 1.0))
    [path] = exported_logs(make_run(runs.episode(*turns)))

    sample = member(path, "samples/seed-1_epoch_1.json")
    assert [message["id"] for message in sample["messages"]] == ["1", "2", "3", "4", "5"]


def test_inspect_sees_rewards(make_run: MakeRun) -> None:
    turn = runs.turn(reward=1.0, reward_parts={"found": 1.0})
    [sample] = only_log(make_run(runs.episode(turn))).samples

    [info] = [event for event in sample.events if event.event == "info"]
    assert (info.data["reward"], info.data["reward_parts"]) == (1.0, {"found": 1.0})


def test_inspect_reads_hostile_text_and_images(make_run: MakeRun) -> None:
    image = runs.episode(runs.with_image(), seed=2, episode_index=1)
    read = only_log(make_run(runs.hostile(), image))

    hostile, shown = read.samples
    assert hostile.messages[1].text == runs.READABLE
    assert hostile.messages[1].tool_calls[0].arguments == {runs.READABLE_NAME: runs.READABLE}
    assert len(hostile.output.completion) == 10_000_000
    assert shown.messages[0].content[1].image.startswith("data:image/png;base64,")


def test_inspect_reads_one_sample_and_the_summaries(run: Callable[..., Any]) -> None:
    log = pytest.importorskip("inspect_ai.log")
    played = run("run", policies=["random"])
    path = str(exported_logs(played.path)[0])

    summaries = log.read_eval_log_sample_summaries(path)
    sample = log.read_eval_log_sample(path, id=summaries[3].id, epoch=summaries[3].epoch)

    assert len(summaries) == 20
    assert sample.scores["return"].value == summaries[3].scores["return"].value
    assert log.read_eval_log(path, header_only=True).samples is None
