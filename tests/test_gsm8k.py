"""The main job on real data: the whole test set of GSM8K, evaluated, logged and replayed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem import read_episodes

Run = Callable[..., "subprocess.CompletedProcess[str]"]

TASKS = 1319


@pytest.fixture(scope="module")
def evaluated(local_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evaluate two policies on every task, through the command line, and return the run."""
    pytest.importorskip("datasets", reason="gem-envs-math's extra `data` is not installed")
    import sys

    run = tmp_path_factory.mktemp("runs") / "gsm8k"
    data = json.dumps({"data": str(local_data / "gsm8k" / "test.jsonl")})
    command = ["eval", "math:GSM8K", "--env-kwargs", data, "--policy", "solver"]
    command += ["--policy", "noop", "--episodes", "all", "--out", str(run)]
    done = subprocess.run(
        [sys.executable, "-m", "gem", *command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return run


def figures(run: Path) -> dict[str, Any]:
    """Return the rows of a run's summary by policy."""
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    return {row["policy"]: row for row in summary["results"]}


@pytest.mark.parametrize(("policy", "rate"), [("solver", 1.0), ("noop", 0.0)])
def test_the_gold_answers_are_right_and_silence_is_wrong(
    evaluated: Path, policy: str, rate: float
) -> None:
    row = figures(evaluated)[policy]

    assert (row["success_rate"], row["episodes"], row["errors"]) == (rate, TASKS, 0)


def test_every_task_is_run_once_by_each_policy(evaluated: Path) -> None:
    episodes = list(read_episodes(evaluated / "episodes.jsonl"))

    for policy in ("solver", "noop"):
        tasks = [episode.task for episode in episodes if episode.policy == policy]
        assert sorted(task for task in tasks if task is not None) == list(range(TASKS))


def test_tasks_are_distinct_problems(evaluated: Path) -> None:
    episodes = read_episodes(evaluated / "episodes.jsonl")

    assert len({str(episode.turns[0].observation) for episode in episodes}) == TASKS


def test_the_run_replays_and_verifies(evaluated: Path, gem_env: Run) -> None:
    done = gem_env("replay", str(evaluated), "--verify")

    assert (done.returncode, done.stderr) == (0, "")
