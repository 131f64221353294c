"""`gem-env train`: what it takes, prints and returns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem.cli._main import main

FILE = """
env = "gem.testing.envs:Guess"
env_kwargs = {highest = 3, max_turns = 3}
policy_kwargs = {view = "whole", actions = ["\\\\boxed{1}", "\\\\boxed{2}", "\\\\boxed{3}"]}
updates = 3
episodes = 4
eval_every = 2
eval_episodes = 3
"""
Train = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gem_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Train:
    """Return a function that runs the command beside an `own.toml`: status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(FILE, encoding="utf-8")

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["train", *words])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def settings(folder: str) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(Path(folder, "experiment.json").read_text())["experiment"]
    return plain


def test_it_trains_and_says_where_and_how_to_evaluate(gem_train: Train) -> None:
    status, out, _ = gem_train("own.toml", "--out", "run")

    assert status == 0
    assert out.startswith("3 of 3 updates are in run\n")
    assert "drawn actions" in out
    assert "greedy actions" in out
    assert 'gem-env eval gem.testing.envs:Guess --env-kwargs \'{"highest"' in out
    assert out.endswith("--policy baseline:run\n")
    assert len(Path("run", "metrics.jsonl").read_text().splitlines()) == 3


def test_after_self_play_it_says_how_the_policy_meets_another(gem_train: Train) -> None:
    words = ("env=gem.testing.envs:Kuhn", "env_kwargs={}", "estimator=seat_average", "self_play={}")
    assignments = [part for word in (*words, "eval_every=0") for part in ("--set", word)]

    status, out, _ = gem_train("own.toml", "--out", "run", *assignments)

    assert status == 0
    assert out.endswith(
        "gem-env league gem.testing.envs:Kuhn --policy baseline:run --policy random\n"
    )


def test_a_new_folder_below_runs_is_the_default(gem_train: Train) -> None:
    status, _, _ = gem_train("--config", "own.toml", "--set", "updates=1")

    [folder] = Path("runs").iterdir()
    assert status == 0
    assert (folder / "checkpoints" / "last").is_dir()


def test_settings_of_the_command_line_win(gem_train: Train) -> None:
    assignments = ["--set", "gamma=0.5", "--set", "policy_kwargs.learning_rate=0.2"]

    gem_train("own.toml", "--out", "run", *assignments, "--seed", "7")

    plain = settings("run")
    assert (plain["gamma"], plain["seed"], plain["episodes"]) == (0.5, 7, 4)
    assert plain["policy_kwargs"]["learning_rate"] == 0.2
    assert plain["policy_kwargs"]["view"] == "whole"


def test_it_goes_on_for_longer(gem_train: Train) -> None:
    gem_train("own.toml", "--out", "run")

    status, out, _ = gem_train("--resume", "run", "--set", "updates=5")

    assert status == 0
    assert out.startswith("5 of 5 updates are in run\n")
    assert settings("run")["updates"] == 5


def test_a_part_of_a_setting_that_is_given_as_it_is_changes_nothing(gem_train: Train) -> None:
    gem_train("own.toml", "--out", "run")
    same = ["--set", "policy_kwargs.view=whole", "--seed", "0"]

    status, out, _ = gem_train("--resume", "run", *same, "--set", "updates=4")
    refused, _, err = gem_train("--resume", "run", "--set", "policy_kwargs.view=last")

    assert status == 0
    assert out.startswith("4 of 4 updates are in run\n")
    assert refused == 2
    assert "was to go on with another 'policy_kwargs'" in err


OWN = """
from gem.testing.envs import Guess
from gem_baselines.training.advantages import Credit, discounted


class Own(Guess):
    bonus = 0


def credited(episodes, terms):
    return Credit([discounted(episode, terms.gamma) for episode in episodes])
"""


@pytest.mark.parametrize("own", ["env=./own.py:Own", "estimator=./own.py:credited"])
def test_it_says_that_a_file_of_ones_own_was_edited(gem_train: Train, own: str) -> None:
    Path("own.py").write_text(OWN, encoding="utf-8")
    gem_train("own.toml", "--out", "run", "--set", own)
    _, _, unchanged = gem_train("--resume", "run", "--set", "updates=4")
    Path("own.py").write_text(OWN.replace("bonus = 0", "bonus = 1"), encoding="utf-8")

    # In a process of its own: this one has imported the file as it was.
    command = [sys.executable, "-m", "gem", "train", "--resume", "run", "--set", "updates=5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0
    assert "changed since" not in unchanged
    assert "gem-env train: ./own.py (it was sha256:" in done.stderr
    assert "changed since the training in run began" in done.stderr


def test_it_says_that_core_has_another_version(gem_train: Train) -> None:
    gem_train("own.toml", "--out", "run")
    path = Path("run", "experiment.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    record["versions"]["gem-core"] = "0.0.0"
    path.write_text(json.dumps(record), encoding="utf-8")

    status, _, err = gem_train("--resume", "run", "--set", "updates=4")

    assert status == 0
    assert "gem-env train: gem-core (it was 0.0.0, and is " in err


def test_ctrl_c_says_how_to_go_on(gem_train: Train, acted: Callable[[str], str]) -> None:
    policy = ["--set", f"policy={acted('InterruptedAnswer')}", "--set", "policy_kwargs={}"]

    status, out, err = gem_train("own.toml", "--out", "my run", *policy)

    assert (status, out) == (130, "")
    assert err.splitlines()[-1] == (
        "gem-env train: interrupted. 2 of 3 updates are kept in my run. Go on with: "
        "gem-env train --resume 'my run'"
    )


def test_a_training_that_stops_is_status_1(gem_train: Train, acted: Callable[[str], str]) -> None:
    policy = ["--set", f"policy={acted('Diverging')}", "--set", "policy_kwargs={}"]

    status, out, err = gem_train("own.toml", "--out", "run", *policy)

    assert (status, out) == (1, "")
    assert err.splitlines()[-1].startswith("gem-env train: Update 3 gave loss=nan")


def test_a_training_that_can_no_longer_be_written_is_status_1(
    gem_train: Train, acted: Callable[[str], str]
) -> None:
    policy = ["--set", f"policy={acted('Sweeping')}", "--set", "policy_kwargs={}"]

    status, out, err = gem_train("own.toml", "--out", "run", *policy)

    assert (status, out) == (1, "")
    assert err.splitlines()[-1].startswith(
        "gem-env train: The training in run cannot be written there (No such file or directory)."
    )


WRONG = {
    "needs one experiment, and none was given": [],
    "two were given: own.toml and other.toml": ["own.toml", "--config", "other.toml"],
    "it cannot be read (No such file": ["absent.toml"],
    "it is not TOML": ["broken.toml"],
    "it has too many values inside one another": ["deep.toml"],
    "Did you mean 'estimator'?": ["own.toml", "--set", "estimatr=rebn"],
    "Did you mean 'rebn'?": ["own.toml", "--set", "estimator=rbn"],
    "it takes no 'x'": ["own.toml", "--set", "estimator_kwargs.x=1"],
    "repeats=1 gives it one of each": ["own.toml", "--set", "estimator=rloo"],
    "episodes=1 gives it one alone": [
        *("own.toml", "--set", "estimator=rebn_leave_one_out"),
        *("--set", "episodes=1"),
    ],
    "'ppo_token' was asked for with token_gamma=5.0, and that must be from 0 to 1": [
        *("own.toml", "--set", "estimator=ppo_token"),
        *("--set", "estimator_kwargs.token_gamma=5.0"),
    ],
    "'ppo_token' was asked for with token_lam=-3": [
        *("own.toml", "--set", "estimator=ppo_token"),
        *("--set", "estimator_kwargs.token_lam=-3"),
    ],
    "a multiple of repeats": ["own.toml", "--set", "repeats=3"],
    "asks the policy for values": ["own.toml", "--set", "estimator=ppo"],
    "Did you mean 'tabular'?": ["own.toml", "--set", "policy=tabluar"],
    "it takes no 'rate'": ["own.toml", "--set", "policy_kwargs.rate=1"],
    "min_number and max_number are": ["own.toml", "--set", 'policy_kwargs={"view": "interval"}'],
    "sets gamma to 2, and it has to be less than or equal to 1": ["own.toml", "--set", "gamma=2"],
    "sets episodes to 'many', and it has to be": ["own.toml", "--set", "episodes=many"],
    "does not set 'env', which has no default": ["empty.toml"],
    "Did you mean 'opponents'?": ["own.toml", "--set", "self_play.oponents=pool"],
    "sets self_play.opponents to 'pol'": ["own.toml", "--set", "self_play.opponents=pol"],
    "sets self_play to True, and it has to be a table": ["own.toml", "--set", "self_play=true"],
    "sets wrappers to 3, and it has to be a list": ["own.toml", "--set", "wrappers=3"],
    "sets wrappers to 'concat', and it has to be a list": ["own.toml", "--set", "wrappers=concat"],
    "sets gamma to nan, and it has to be a finite number": ["own.toml", "--set", "gamma=NaN"],
    "sets env_kwargs to 3, and it has to be a table": ["own.toml", "--set", "env_kwargs=3"],
    "gem-env: A monitor was asked for": [
        "own.toml",
        "--set",
        'self_play={"monitor": true, "pool_size": 2}',
    ],
    "is no assignment": ["own.toml", "--set", "gamma"],
    "which has no parts": ["own.toml", "--set", "episodes.x=1"],
    "it takes no 'size'": ["own.toml", "--set", "env_kwargs.size=1"],
    "No installed pack provides": ["own.toml", "--set", "env=tiny:Absent"],
    "one of its own. Choose another --out": ["own.toml", "--out", "full"],
    "note.txt cannot be made (a file has that name)": ["own.toml", "--out", "full/note.txt"],
    "Go on with the training in it by --resume begun": ["own.toml", "--out", "begun"],
    "full is no training folder": ["--resume", "full"],
    "evaluated is a run of `gem-env eval` or `gem-env league`": ["--resume", "evaluated"],
    "leave --out x away": ["--resume", "full", "--out", "x"],
    "leave own.toml away": ["own.toml", "--resume", "full"],
    "invalid int value": ["own.toml", "--seed", "x"],
}


@pytest.mark.parametrize("problem", WRONG)
def test_wrong_use_is_one_line(gem_train: Train, problem: str) -> None:
    Path("broken.toml").write_text("env = ", encoding="utf-8")
    Path("deep.toml").write_text(f"x = {'[' * 5000}{']' * 5000}", encoding="utf-8")
    Path("empty.toml").touch()
    Path("full").mkdir()
    Path("full", "note.txt").touch()
    Path("evaluated").mkdir()
    Path("evaluated", "run.json").touch()
    Path("begun").mkdir()
    Path("begun", "experiment.json").touch()
    before = sorted(Path().iterdir())

    status, out, err = gem_train(*WRONG[problem])

    assert (status, out) == (2, "")
    [line] = err.splitlines()
    assert problem in line
    assert sorted(Path().iterdir()) == before


def test_another_policy_takes_the_place_of_the_files_and_of_its_arguments(
    gem_train: Train, acted: Callable[[str], str]
) -> None:
    words = ("--policy", acted("Counter"), "--set", "policy_kwargs.seed=7", "--out", "run")
    status, _, _ = gem_train("own.toml", *words)

    assert status == 0
    assert settings("run")["policy"] == acted("Counter")
    assert settings("run")["policy_kwargs"] == {"seed": 7}


def test_a_model_of_transformers_is_named_by_its_folder(gem_train: Train) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers", reason="gem-baselines' extra `hf` is not installed")
    status, _, err = gem_train("own.toml", "--policy", "hf:nowhere", "--out", "run")

    assert status == 2
    assert f"The model '{Path.cwd() / 'nowhere'}' was asked for" in err


def test_a_training_that_goes_on_keeps_its_policy(gem_train: Train) -> None:
    status, _, err = gem_train("--resume", "run", "--policy", "tabular")

    assert status == 2
    assert "leave --policy tabular away" in err
