"""Trackers are told how a run goes, and nothing that they do stops it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import registry
from gem.cli._main import main
from gem.errors import MissingRequirement
from gem_eval import Evaluation, SettingsError
from gem_eval.tracking.following import LoggedSteps
from gem_eval.tracking.listening import Tracking

pytestmark = pytest.mark.usefixtures("patient_tracking")

Run = Callable[..., Evaluation]
GUESS = "tiny_Guess/random/success_rate"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[dict[str, Any]]]:
    """Return a function that reads what the tracker `recorder` was told, call by call."""
    path = tmp_path / "recorded.jsonl"
    monkeypatch.setenv("RECORDED", str(path))

    def read() -> list[dict[str, Any]]:
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    return read


Recorded = Callable[[], list[dict[str, Any]]]


def wait_for_text(path: Path, text: str) -> None:
    deadline = time.monotonic() + 60
    while not (path.exists() and text in path.read_text(encoding="utf-8")):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def steps(calls: Sequence[Mapping[str, Any]]) -> list[int]:
    return [call["step"] for call in calls if "step" in call]


def only(calls: Sequence[Mapping[str, Any]], what: str) -> list[Mapping[str, Any]]:
    return [call for call in calls if what in call]


@pytest.mark.slow
def test_a_tracker_has_the_settings_the_figures_and_the_summary(
    run: Run, recorded: Recorded
) -> None:
    found = run(policies="random", track="recorder")

    begin, *points, end = recorded()
    [result] = found.summary.results
    assert (begin["begin"], begin["run_id"]) == ("run", None)
    assert begin["parameters"]["policies"] == '["random"]'
    assert begin["parameters"]["episodes"] == "20"
    last = points[-1]
    assert last["step"] == last["figures"]["episodes"] == 20
    assert last["figures"][GUESS] == result.success_rate
    interval = tuple(last["figures"][f"{GUESS}_{side}"] for side in ("low", "high"))
    assert interval == result.success_rate_ci95
    assert last["figures"]["tiny_Guess/random/mean_return"] == result.mean_return
    assert last["figures"]["requests"] == 0  # random asks no model
    assert end["is_finished"]
    assert end["files"] == [found.folder.summary_path.read_text(encoding="utf-8")]
    assert found.tracking_problems == ()


def test_errors_are_apart_from_wrong_answers(run: Run, recorded: Recorded) -> None:
    found = run(envs="tiny:Broken", policies="random", track="recorder")

    [result] = found.summary.results
    figures = only(recorded(), "figures")[-1]["figures"]
    assert figures["errors"] == figures["tiny_Broken/random/errors"] == result.errors > 0
    assert figures["tiny_Broken/random/success_rate"] == 1.0


@pytest.mark.slow
def test_requests_and_tokens_are_counted(
    run: Run, recorded: Recorded, server: Any, answers: Any
) -> None:
    server.answers = [answers.chat(r"\boxed{8}")]

    run(policies=f"openai:m@{server.url}", episodes=3, max_turns=1, track="recorder")

    figures = only(recorded(), "figures")[-1]["figures"]
    assert (figures["requests"], figures["prompt_tokens"]) == (3, 33)
    assert (figures["completion_tokens"], figures["tiny_Guess/m/completion_tokens"]) == (15, 15)


@pytest.mark.slow
def test_a_resumed_run_goes_on_with_its_trackers_and_logs_no_step_twice(
    run: Run, recorded: Recorded
) -> None:
    first = run(policies="random", episodes=10, track="recorder")

    gem_eval.resume(first.path, episodes=20)

    calls = recorded()
    assert [call["run_id"] for call in only(calls, "begin")] == [None, "recorded"]
    assert steps(calls) == sorted(set(steps(calls)))
    assert steps(calls)[-1] == 20


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["raise in begin", "leave in log", "die in begin"])
def test_a_tracker_that_fails_stops_nothing_and_is_named(
    run: Run,
    recorded: Recorded,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: str,
) -> None:
    expected = run("undisturbed", policies="random", episodes=10).summary
    monkeypatch.setenv("RECORDER_FAULT", fault)

    with caplog.at_level(logging.WARNING):
        found = run(policies="random", episodes=10, track="recorder")

    assert found.summary.results[0].success_rate == expected.results[0].success_rate
    assert steps(recorded()) == []
    [problem] = found.tracking_problems
    assert problem.startswith("recorder does not have the last figures of this run: ")
    assert problem.endswith(f"`gem-env eval --resume {found.path}` tells it what it lacks.")
    warnings = [record for record in caplog.records if "recorder" in record.getMessage()]
    assert len(warnings) == 1


@pytest.mark.slow
def test_a_tracker_that_works_again_is_told_by_a_resumed_run(
    run: Run, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDER_FAULT", "raise in log")
    found = run(policies="random", episodes=10, track="recorder")
    monkeypatch.delenv("RECORDER_FAULT")

    again = gem_eval.resume(found.path)

    assert (len(found.tracking_problems), again.tracking_problems) == (1, ())
    assert steps(recorded()) == [10]


def test_a_tracker_that_hangs_is_not_waited_for(
    run: Run, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = run(policies="random", episodes=10).folder
    monkeypatch.setenv("RECORDER_FAULT", "hang in begin")
    tracking = Tracking(folder, ["recorder"], asking=[], patience_s=0.1)

    tracking.start()
    asyncio.run(tracking.end(is_finished=True))

    [problem] = tracking.problems
    assert "it did not answer within 0.1 s of the run's end" in problem
    assert recorded() == []


@pytest.mark.slow
def test_a_tracker_that_hung_while_it_took_the_last_point_has_it_once_the_run_is_resumed(
    run: Run, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(policies="random", episodes=10)
    monkeypatch.setenv("RECORDER_FAULT", "hang in log")
    tracking = Tracking(found.folder, ["recorder"], asking=[], patience_s=0.1)
    tracking.start()
    # The process is killed in the middle of the point, and not before.
    wait_for_text(found.folder.tracker_path("recorder"), '"step": 10')
    asyncio.run(tracking.end(is_finished=True))
    monkeypatch.delenv("RECORDER_FAULT")

    again = gem_eval.resume(found.path, track="recorder")

    [problem] = tracking.problems
    assert problem.endswith("tells it what it lacks.")
    assert (steps(recorded()), again.tracking_problems) == ([10], ())


@pytest.mark.slow
def test_what_a_tracker_says_is_told_without_keys(
    run: Run, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-77")
    monkeypatch.setenv("RECORDER_FAULT", "raise in log")

    [problem] = run(policies="random", track="recorder").tracking_problems

    assert "out of paper ***" in problem


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["raise in init", "raise in log"])
def test_no_part_of_a_key_is_left_where_an_error_is_cut(
    run: Run, recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    # It begins before the place where an error is cut, and ends behind it.
    monkeypatch.setenv("OPENAI_API_KEY", f"sk-planted-{'7' * 500}")
    monkeypatch.setenv("RECORDER_FAULT", fault)

    [problem] = run(policies="random", track="recorder").tracking_problems

    assert "out of paper ***" in problem
    assert "sk-planted" not in problem


@pytest.mark.slow
def test_the_command_names_a_tracker_that_failed(
    recorded: Recorded,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECORDER_FAULT", "raise in log")
    evaluation = ["eval", "tiny:Guess", "--policy", "random", "--episodes", "5", "--out", "run"]

    status = main([*evaluation, "--track", "recorder", "--json"])

    printed = capsys.readouterr()
    assert status == 0
    assert json.loads(printed.out)["episodes"] == 5  # nothing that a tracker prints is there
    assert printed.err.splitlines()[-1].startswith("gem-env eval: recorder does not have the last")


def test_a_tracker_that_nobody_brings_is_refused_before_a_folder_is_made(
    run: Run, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=r"'recoder'\. Did you mean 'recorder'\? There are mlf"):
        run(track=["recoder"])

    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["mlflow", "trackio", "wandb"])
def test_a_missing_extra_is_one_line_with_what_to_install(run: Run, name: str) -> None:
    try:
        registry.check_requirements([f"{name}-skinny" if name == "mlflow" else name], subject="")
    except MissingRequirement:
        pass
    else:
        pytest.skip(f"{name} is installed")

    with pytest.raises(MissingRequirement, match=f"--track {name} needs .* Run: pip install"):
        run(track=name)


def polled(is_there: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    while not is_there():
        assert process.poll() is None
        time.sleep(0.01)


@pytest.mark.slow
def test_a_run_that_is_killed_is_told_as_far_as_it_came(
    variables: dict[str, str], recorded: Recorded, tmp_path: Path
) -> None:
    evaluation = ["eval", "tiny:Guess", "--policy", "random", "--episodes", "20", "--out", "run"]
    policy = "scripted:gem_eval_tiny.policies:Patient"
    environment = {**variables, "RECORDED": os.environ["RECORDED"], "GEM_EVAL_TINY_WAITS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "gem", *evaluation, "--policy", policy, "--track", "recorder"],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    log = tmp_path / "run" / "episodes.jsonl"
    try:
        polled(lambda: bool(recorded()), process)
        polled(lambda: log.exists() and log.read_bytes().count(b"\n") == 20, process)
    finally:
        process.kill()
        process.wait()

    # It waits for the tracker's process, which holds the lock of this file.
    logged = LoggedSteps(tmp_path / "run" / "tracker-recorder.jsonl")
    assert (logged.run_id, logged.step) == ("recorded", 20)
    logged.close()
    assert recorded()[-1] == {"is_finished": False, "files": []}

    summary = gem_eval.resume(tmp_path / "run").summary
    assert summary.episodes == 40
    assert steps(recorded()) == sorted(set(steps(recorded())))
    assert (steps(recorded())[-1], recorded()[-1]["is_finished"]) == (40, True)
