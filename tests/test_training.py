"""Training across distributions: committed experiments run, and what they leave is evaluated."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import gem

EXPERIMENTS = sorted((Path(__file__).parents[1] / "examples" / "experiments").glob("*.toml"))
GUESS = "game:GuessTheNumber-v0"
EASY = {"min_number": 1, "max_number": 10, "max_turns": 10}
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_runs_and_is_evaluated(gem_env: Run, tmp_path: Path, path: Path) -> None:
    if "transformer" in path.stem:
        pytest.importorskip("torch", reason="gem-baselines' extra `torch` is not installed")
    few = ["updates=2", "episodes=8", "eval_every=1", "eval_episodes=8"]
    words = [word for assignment in few for word in ("--set", assignment)]
    work = tmp_path / "work"

    trained = gem_env("train", str(path), "--out", "run", *words)
    experiment = json.loads((work / "run" / "experiment.json").read_text())["experiment"]
    kwargs = json.dumps(experiment["env_kwargs"])
    options = ["--env-kwargs", kwargs, "--episodes", "8", "--out", "evaluated", "--json"]
    evaluated = gem_env("eval", experiment["env"], "--policy", "baseline:run", *options)

    assert trained.returncode == 0, trained.stderr
    # A line of progress is written every ten seconds: more than one where the machine is busy.
    assert "update 1/2" in trained.stderr
    assert len((work / "run" / "metrics.jsonl").read_text().splitlines()) == 2
    assert evaluated.returncode == 0, evaluated.stderr
    [result] = json.loads(evaluated.stdout)["results"]
    assert (result["episodes"], result["errors"]) == (8, 0)


def test_a_league_says_how_exploitable_a_trained_policy_is(gem_env: Run) -> None:
    [path] = [path for path in EXPERIMENTS if path.stem == "kuhn_self_play"]
    few = [word for each in ("updates=20", "episodes=64") for word in ("--set", each)]
    policies = ["baseline:run/checkpoints/last", "random", "solver"]
    seated = [word for policy in policies for word in ("--policy", policy)]

    trained = gem_env("train", str(path), "--out", "run", *few)
    played = gem_env("league", "game:KuhnPoker-v0", *seated, "--episodes", "2", "--json")

    assert trained.returncode == 0, trained.stderr
    assert played.returncode == 0, played.stderr
    standings = json.loads(played.stdout)["standings"]
    found = {each["policy"]: each["exploitability"] for each in standings}
    assert set(found) == set(policies)
    assert found["random"] == pytest.approx(0.4583, abs=1e-4)
    assert found["solver"] == pytest.approx(0.0, abs=1e-9)
    assert 0.0 < found[policies[0]] < found["random"]


def test_an_evaluation_during_training_is_reported_and_compared(
    gem_env: Run, tmp_path: Path
) -> None:
    few = ["updates=2", "episodes=8", "eval_every=2", "eval_episodes=6"]
    [path] = [path for path in EXPERIMENTS if path.stem == "guess_the_number"]
    words = [word for assignment in few for word in ("--set", assignment)]
    gem_env("train", str(path), "--out", "run", *words)
    before, after = (f"run/evaluations/{update:06}-sampled.jsonl" for update in (0, 2))

    reported = gem_env("report", after, "--json")
    comparison = gem_env("compare", before, after, "--json")

    noted = (tmp_path / "work" / "run" / "evaluations.jsonl").read_text().splitlines()[-1]
    [report] = json.loads(reported.stdout)
    [result] = report["results"]
    assert (report["episodes"], report["planned"]) == (6, 6)
    assert result["success_rate"] == pytest.approx(json.loads(noted)["sampled"]["success"])
    # Six tasks decide nothing; that they are compared is what is asked.
    assert json.loads(comparison.stdout)["verdict"] == "UNDECIDED", comparison.stderr


def long_episode(run: Path) -> tuple[int, gem.Episode]:
    """Return the first episode of two turns or more, and its line in the log."""
    lines = enumerate(gem.read_episodes(run / "episodes.jsonl"), start=1)
    return next((line, episode) for line, episode in lines if len(episode.turns) > 1)


def test_a_policy_that_plays_by_tokens_is_branched_from(gem_env: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="gem-baselines' extra `torch` is not installed")
    [path] = [path for path in EXPERIMENTS if "transformer" in path.stem]
    few = ["updates=1", "episodes=8", "eval_every=0", "checkpoint_every=1"]
    words = [word for assignment in few for word in ("--set", assignment)]
    kwargs = json.dumps(EASY)
    run = ["eval", GUESS, "--env-kwargs", kwargs, "--episodes", "9", "--seed", "1"]
    gem_env("train", str(path), "--out", "trained", *words)
    by_tokens = gem_env(*run, "--policy", "baseline:trained", "--out", "tokens")
    by_text = gem_env(*run, "--policy", "random", "--out", "text")
    more = ["--turn", "2", "--policy", "baseline:trained", "--repeats", "2"]

    assert [by_tokens.returncode, by_text.returncode] == [0, 0]
    work = tmp_path / "work"
    line, parent = long_episode(work / "tokens")
    branched = gem_env("branch", "tokens", str(line), *more, "--out", "children")
    refused = gem_env("branch", "text", str(long_episode(work / "text")[0]), *more, "--out", "none")

    assert branched.returncode == 0, branched.stderr
    children = list(gem.read_episodes(work / "children" / "episodes.jsonl"))
    assert [child.turns[0].token_ids for child in children] == [parent.turns[0].token_ids] * 2
    assert "on record as text alone" in refused.stdout + refused.stderr


def test_a_listing_of_commands_loads_no_numpy(run_python: Run) -> None:
    code = "import sys; from gem.cli._main import main; main(['train', '--help'])"
    code += "; sys.exit('numpy' in sys.modules)"

    assert run_python("-c", code).returncode == 0


def test_trackers_of_evaluations_are_told_of_trainings(gem_env: Run) -> None:
    trained = gem_env("train", str(EXPERIMENTS[0]), "--out", "run", "--track", "mlfow")

    assert trained.returncode == 2
    assert "'mlfow' was to be told of the training" in trained.stderr
    assert "Did you mean 'mlflow'?" in trained.stderr
