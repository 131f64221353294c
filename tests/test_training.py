"""Training across distributions: committed experiments run, and what they leave is evaluated."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

EXPERIMENTS = sorted((Path(__file__).parents[1] / "examples" / "experiments").glob("*.toml"))
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_runs_and_is_evaluated(gem_env: Run, tmp_path: Path, path: Path) -> None:
    few = ["updates=2", "episodes=8", "eval_every=1", "eval_episodes=8"]
    words = [word for assignment in few for word in ("--set", assignment)]
    work = tmp_path / "work"

    trained = gem_env("train", str(path), "--out", "run", *words)
    experiment = json.loads((work / "run" / "experiment.json").read_text())["experiment"]
    kwargs = json.dumps(experiment["env_kwargs"])
    options = ["--env-kwargs", kwargs, "--episodes", "8", "--out", "evaluated", "--json"]
    evaluated = gem_env("eval", experiment["env"], "--policy", "baseline:run", *options)

    assert (trained.returncode, trained.stderr.count("\n")) == (0, 1)  # one line of progress
    assert len((work / "run" / "metrics.jsonl").read_text().splitlines()) == 2
    assert evaluated.returncode == 0, evaluated.stderr
    [result] = json.loads(evaluated.stdout)["results"]
    assert (result["episodes"], result["errors"]) == (8, 0)


def test_a_listing_of_commands_loads_no_numpy(run_python: Run) -> None:
    code = "import sys; from gem.cli._main import main; main(['train', '--help'])"
    code += "; sys.exit('numpy' in sys.modules)"

    assert run_python("-c", code).returncode == 0
