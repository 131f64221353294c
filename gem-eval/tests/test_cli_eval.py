"""`gem-env eval` in this process: what it prints, and how it ends."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gem.cli._main import main

Command = Callable[..., "subprocess.CompletedProcess[str]"]
GUESS = ("tiny:Guess", "--policy", "solver", "--episodes", "5")
PARROT = ("tiny:Guess", "--policy", "parrot:a", "--episodes", "5")


@pytest.fixture
def gem_eval(gem_env_here: Command) -> Command:
    """Return a function that runs `gem-env eval` in an empty folder."""
    return partial(gem_env_here, "eval")


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    return line


def summary(folder: str = "run") -> Any:
    return json.loads(Path(folder, "summary.json").read_text())


def test_the_table_is_followed_by_the_folder_and_the_next_command(gem_eval: Command) -> None:
    done = gem_eval(*GUESS, "--out", "run")

    assert (done.returncode, done.stderr) == (0, "")
    assert "tiny:Guess" in done.stdout
    assert "1.000 [0.566, 1.000]" in done.stdout
    assert done.stdout.endswith(
        "Run folder: run\nNext: gem-env view run\n      gem-env replay run --verify\n"
    )


def test_several_policies_are_to_be_compared_next(gem_eval: Command) -> None:
    done = gem_eval(*GUESS, "--policy", "noop", "--out", "run")

    assert done.stdout.splitlines()[-2:] == [
        "      gem-env compare run",
        "      gem-env replay run --verify",
    ]
    assert main(["compare", "run"]) in (0, 1, 3)


def test_the_command_that_is_offered_next_works(gem_eval: Command) -> None:
    gem_eval(*GUESS, "--out", "run")

    assert main(["replay", "run", "--verify"]) == 0


def test_json_is_alone_where_a_policy_prints(gem_eval: Command) -> None:
    Path("chatty.py").write_text("def low(request):\n    print('noise')\n    return '1'\n")

    done = gem_eval("tiny:Guess", "--policy", "scripted:./chatty.py:low", "--out", "run", "--json")

    assert json.loads(done.stdout) == summary()
    assert "noise" in done.stderr


def test_json_is_the_summary_and_nothing_else(gem_eval: Command) -> None:
    done = gem_eval(*GUESS, "--out", "run", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == summary()


def test_without_a_folder_one_is_made_and_named(gem_eval: Command) -> None:
    done = gem_eval(*GUESS)

    [folder] = Path("runs").iterdir()
    assert f"Run folder: {folder}\n" in done.stdout


@pytest.mark.slow
def test_every_option_reaches_the_record(gem_eval: Command) -> None:
    given = {
        "--repeats": "2",
        "--seed": "-7",
        "--concurrency": "3",
        "--backend": "process",
        "--workers": "1",
        "--backend-options": '{"start_method": "fork"}',
        "--wrappers": "concat,episode_tracking",
        "--env-kwargs": '{"highest": 31}',
        "--policy-kwargs": '{"parrot": {"times": 2}}',
        "--until": "decided",
        "--tolerance": "0.05",
        "--max-turns": "2",
        "--step-timeout": "61.5",
        "--policy-timeout": "62.5",
        "--episode-timeout": "63.5",
        "--policy-retries": "4",
        "--retry-wait": "0.25",
        "--wait-for-server": "3.5",
        "--max-refusals": "2",
        "--cache": "answers",
        "--track": "recorder",
        "--max-requests": "5000",
        "--max-total-tokens": "6000",
        "--max-cost": "7.5",
        "--prices": "prices.json",
    }
    Path("prices.json").write_text('{"m": {"prompt": 1, "completion": 2.5}}')
    options = [word for pair in given.items() for word in pair]

    undecided = 3  # five tasks say too little
    assert (
        gem_eval(*GUESS, "--policy", "parrot:a", *options, "--out", "run").returncode == undecided
    )

    record = json.loads(Path("run", "run.json").read_text())
    assert record["command"][0] == "gem-env"
    settings = record["settings"]
    assert [env["id"] for env in settings.pop("envs")] == ["tiny:Guess"]
    assert [policy["name"] for policy in settings.pop("policies")] == ["solver", "parrot:a"]
    assert [wrapper["id"] for wrapper in settings.pop("wrappers")] == ["concat", "episode_tracking"]
    assert settings == {
        "episodes": 5,
        "repeats": 2,
        "seed": -7,
        "until": "decided",
        "tolerance": 0.05,
        "concurrency": 3,
        "backend": "process",
        "num_workers": 1,
        "backend_options": {"start_method": "fork"},
        "env_kwargs": {"highest": 31},
        "policy_kwargs": {"parrot": {"times": 2}},
        "tasks": None,
        "seed_range": None,
        "max_turns": 2,
        "step_timeout_s": 61.5,
        "policy_timeout_s": 62.5,
        "episode_timeout_s": 63.5,
        "policy_retries": 4,
        "retry_wait_s": 0.25,
        "wait_for_server_s": 3.5,
        "max_refusals": 2,
        "cache": "answers",
        "track": ["recorder"],
        "max_requests": 5000,
        "max_total_tokens": 6000,
        "max_cost": 7.5,
        "prices": {"m": {"prompt": 1.0, "completion": 2.5}},
    }


def test_all_episodes_of_a_finite_set(gem_eval: Command) -> None:
    gem_eval("tiny:Numbered", "--policy", "solver", "--episodes", "all", "--out", "run")

    assert summary()["results"][0]["episodes"] == 6


def test_chosen_tasks_and_seeds_are_played_alone(gem_eval: Command) -> None:
    gem_eval("tiny:Numbered", "--policy", "solver", "--task", "1,2", "--task", "5", "--out", "run")
    gem_eval("tiny:Guess", "--policy", "solver", "--seed-range", "7", "--out", "seed")

    assert (summary()["episodes"], summary("seed")["episodes"]) == (3, 1)


def test_arguments_of_an_only_policy_stand_alone(gem_eval: Command) -> None:
    assert gem_eval(*PARROT, "--policy-kwargs", '{"times": 2}', "--out", "run").returncode == 0
    assert gem_eval(*PARROT, "--policy-kwargs", '{"times": 2}', "--resume", "run").returncode == 0

    record = json.loads(Path("run", "run.json").read_text())
    assert record["settings"]["policy_kwargs"] == {"parrot:a": {"times": 2}}


def test_a_run_is_extended_by_more_episodes(gem_eval: Command) -> None:
    gem_eval(*GUESS, "--out", "run")

    assert gem_eval("--resume", "run", "--episodes", "8").returncode == 0
    assert gem_eval("--resume", "run").returncode == 0

    assert summary()["episodes"] == 8


def test_the_command_line_wins_over_the_file(gem_eval: Command) -> None:
    Path("e.toml").write_text('envs = "tiny:Echo"\npolicy = "solver"\nepisodes = 3\nout = "run"')

    assert gem_eval("--config", "e.toml", "--episodes", "4").returncode == 0

    [result] = summary()["results"]
    assert (result["env_id"], result["episodes"]) == ("tiny:Echo", 4)


def test_a_policy_is_found_in_the_current_folder(
    gem_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setattr(sys, "path", sys.path.copy())
    Path("my_scripted_policy.py").write_text("def eight(request):\n    return r'\\boxed{8}'\n")

    done = gem_eval("tiny:Guess", "--policy", "scripted:my_scripted_policy:eight")

    assert done.returncode == 0


def test_an_error_is_told_and_fails_the_command_where_that_is_asked(gem_eval: Command) -> None:
    broken = ("tiny:Broken", "--policy", "random", "--episodes", "20")

    done = gem_eval(*broken)

    assert (done.returncode, done.stderr) == (0, "")
    assert gem_eval(*broken, "--fail-on-error").returncode == 1
    assert (
        "The first error of random on tiny:Broken: RuntimeError: the wheel came off" in done.stdout
    )


def test_a_policy_that_fails_in_every_episode_fails_the_command(gem_eval: Command) -> None:
    assert gem_eval("tiny:Silent", "--policy", "solver", "--episodes", "3").returncode == 1


def test_resume_alone_takes_everything_from_the_folder(gem_eval: Command) -> None:
    gem_eval(*GUESS, "--seed", "3", "--out", "run")
    expected = Path("run", "episodes.jsonl").read_bytes()
    Path("run", "episodes.jsonl").write_bytes(expected[:-1000])

    assert gem_eval("--resume", "run").returncode == 0

    assert Path("run", "episodes.jsonl").read_bytes().count(b"\n") == 5


def test_a_summary_that_cannot_be_written_is_written_on_resuming(gem_eval: Command) -> None:
    gem_eval(*GUESS, "--out", "run")
    Path("run", "summary.json").unlink()
    Path("run", "summary.json").mkdir()

    done = gem_eval("--resume", "run")

    assert done.returncode == 1
    assert "1.000 [0.566, 1.000]" in done.stdout
    [line] = done.stderr.splitlines()
    assert "The summary cannot be written" in line
    assert line.endswith("gem-env eval --resume run")
    assert sorted(path.name for path in Path("run").iterdir()) == [
        "episodes.jsonl",
        "run.json",
        "summary.json",
    ]
    Path("run", "summary.json").rmdir()
    assert gem_eval("--resume", "run").returncode == 0
    assert summary()["episodes"] == 5


def test_resume_with_the_same_command_is_the_same(gem_eval: Command) -> None:
    gem_eval(*GUESS, "--out", "run")

    assert gem_eval(*GUESS, "--resume", "run", "--concurrency", "1").returncode == 0


def test_resume_of_another_evaluation_is_refused_by_what_differs(gem_eval: Command) -> None:
    gem_eval(*GUESS, "--out", "run")

    line = complaint(gem_eval("--resume", "run", "--seed", "1", "--max-turns", "6"))

    assert "seed is 0 there and 1 here" in line
    assert "max_turns is None there and 6 here" in line


def test_a_folder_in_use_is_refused_with_how_to_go_on(gem_eval: Command) -> None:
    gem_eval(*GUESS, "--out", "run")
    before = {path: path.read_bytes() for path in Path("run").iterdir()}

    assert "--resume run" in complaint(gem_eval(*GUESS, "--out", "run"))

    assert {path: path.read_bytes() for path in Path("run").iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["tiny:Gess", "--policy", "solver"], "Did you mean 'tiny:Guess'"),
        (["nope:*", "--policy", "solver"], "nope:*"),
        (["tiny:Guess"], "--policy"),
        (["--policy", "solver"], "an environment's id"),
        ([], "--resume"),
        (["tiny:Guess", "--policy", "solvr"], "Did you mean 'solver'"),
        (["tiny:Guess", "--policy", "openai"], "openai:MODEL@BASE_URL"),
        (["tiny:Guess", "--policy", "scripted:nowhere:Mine"], "'nowhere:Mine'"),
        ([*GUESS, "--policy-kwargs", '{"openai": {}}'], "'openai'"),
        ([*GUESS, "--policy-kwargs", "{temperature: 0}"], "JSON"),
        ([*GUESS, "--policy-kwargs", "[3]"], "JSON object"),
        ([*GUESS, "--policy-kwargs", '{"temperature": 0}'], "it takes no 'temperature'"),
        ([*PARROT, "--policy-kwargs", '{"times": "2"}'], "times='2' does not fit"),
        ([*PARROT, "--policy-kwargs", '{"parrot": 2}'], '{"parrot": {"ARGUMENT": VALUE}}'),
        ([*PARROT, "--policy-kwargs", '{"opnai": {"times": 2}}'], "it takes no 'opnai'"),
        ([*PARROT, "--policy", "noop", "--policy-kwargs", '{"times": 2}'], '{"parrot": {'),
        ([*GUESS, "--env-kwargs", "{highest: 3}"], "JSON"),
        ([*GUESS, "--env-kwargs", "[3]"], "JSON object"),
        ([*GUESS, "--env-kwargs", '{"highst": 3}'], "highest: int"),
        ([*GUESS, "--env-kwargs", '{"highest": "3"}'], "highest='3'"),
        (["tiny:Picky", "--policy", "noop", "--env-kwargs", '{"size": 0}'], "size must be"),
        ([*GUESS, "--wrappers", "concatt"], "'concat'"),
        ([*GUESS, "--episodes", "-3"], "episodes=-3"),
        ([*GUESS, "--episodes", "some"], "'some'"),
        ([*GUESS, "--episodes", "all"], "finite"),
        ([*GUESS, "--repeats", "0"], "repeats=0"),
        ([*GUESS, "--concurrency", "-1"], "concurrency=-1"),
        ([*GUESS, "--max-turns", "0"], "max_turns=0"),
        ([*GUESS, "--step-timeout", "-1"], "step_timeout_s=-1"),
        ([*GUESS, "--step-timeout", "nan"], "step_timeout_s=nan"),
        ([*GUESS, "--backend", "warp"], "Installed: 'inline', 'process'"),
        ([*GUESS, "--workers", "0"], "num_workers=0"),
        ([*GUESS, "--workers", "2"], "choose another backend"),
        ([*GUESS, "--backend", "process", "--backend-options", '{"start": 1}'], "start_method"),
        ([*GUESS, "--backend-options", "[3]"], "JSON object"),
        ([*GUESS, "--seed", "x"], "--seed"),
        (["tiny:Numbered", "--policy", "noop", "--task", "6"], "Task 6 was chosen"),
        (["tiny:Numbered", "--policy", "noop", "--task", "x"], "'x' is no task's number"),
        (["tiny:Numbered", "--policy", "noop", "--seed-range", "0:3"], "finite set of tasks"),
        (["tiny:Guess", "--policy", "noop", "--task", "0"], "no finite set of tasks"),
        (["tiny:Guess", "--policy", "noop", "--seed-range", "x"], "'x' is no range of seeds"),
        (["tiny:Guess", "--policy", "noop", "--seed-range", "3:3"], "holds no seed"),
        ([*GUESS, "--seed-range", "0:3"], "episodes and seed_range were given"),
        ([*GUESS, "--resume", "nowhere"], "nowhere"),
        ([*GUESS, "--resume", "run", "--out", "run"], "--out"),
        ([*GUESS, "--out", "file/run"], "file/run"),
        (["--config", "absent.toml"], "absent.toml"),
        (["--config", "file"], "not TOML"),
    ],
)
def test_wrong_use_is_one_line_and_makes_nothing(
    gem_eval: Command, arguments: list[str], what: str
) -> None:
    Path("file").write_text("this is no TOML")

    assert what in complaint(gem_eval(*arguments))

    assert [str(path) for path in Path().iterdir()] == ["file"]


def test_help_has_an_example_and_names_the_policies(gem_eval: Command) -> None:
    done = gem_eval("--help")

    assert done.returncode == 0
    assert "gem-env eval --resume" in done.stdout
    assert "openai:MODEL@BASE_URL" in done.stdout
