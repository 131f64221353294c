"""`gem-env branch`: what it prints, its exit status, and wrong use in one line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_eval
from gem import Episode, read_episodes
from gem.testing import registrations_undone
from gem_eval import Evaluation

Run = Callable[..., Evaluation]
LONG = {"highest": 1000, "max_turns": 9}  # a game that nobody wins by chance
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def branch_here(gem_env_here: Command) -> Command:
    """Return a function that runs `gem-env branch` in the folder of the runs."""
    return partial(gem_env_here, "branch")


@pytest.fixture
def lost(run: Run) -> Evaluation:
    """Return a run of games that `random` lost, each of nine turns."""
    return run(policies="random", env_kwargs=LONG, episodes=4)


def episodes(run: str | Path) -> list[Episode]:
    return list(read_episodes(run))


def test_the_command_says_what_it_branches_from(
    lost: Evaluation, branch_here: Command, gem_env_here: Command
) -> None:
    done = branch_here(
        *("run", "2", "--turn", "3", "--policy", "noop", "--repeats", "4", "--out", "children")
    )

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    print_ = episodes("run")[1].fingerprint()[:12]
    whence = f"from turn 3 of line 2 of run ({print_}), which random played"
    assert lines[0] == f"Branches {whence}: 9 turns, return 0, not solved."
    assert lines[1].split()[:4] == ["environment", "policy", "episodes", "success"]
    assert lines[-1] == "      gem-env replay children --verify"
    report = gem_env_here("report", "children").stdout.splitlines()
    assert report[:2] == ["children: 4 of 4 episodes", f"It branches {whence}."]
    assert gem_env_here("replay", "children", "--verify").returncode == 0


def test_json_is_the_summary(lost: Evaluation, branch_here: Command) -> None:
    done = branch_here(
        *("run", "1", "--turn", "1", "--policy", "noop", "--max-turns", "5", "--concurrency", "1"),
        *("--out", "children", "--json", "--fail-on-error"),
    )

    assert json.loads(done.stdout)["episodes"] == 1
    assert json.loads(Path("children", "run.json").read_bytes())["settings"]["max_turns"] == 5


def test_arguments_of_a_policy_are_given_as_for_eval(
    lost: Evaluation, branch_here: Command
) -> None:
    done = branch_here(
        *("run", "1", "--turn", "2", "--policy", "parrot:hm"),
        *("--policy-kwargs", '{"times": 2}', "--out", "children"),
    )

    assert done.returncode == 0
    assert episodes("children")[0].turns[1].action == "hmhm"


def test_nothing_but_errors_is_status_1(run: Run, branch_here: Command) -> None:
    run(envs="tiny:Silent", policies="noop", episodes=1)

    done = branch_here("run", "1", "--turn", "1", "--policy", "solver", "--out", "children")

    assert done.returncode == 1


def test_a_key_is_written_nowhere(
    lost: Evaluation, branch_here: Command, monkeypatch: pytest.MonkeyPatch, server: Any
) -> None:
    secret = "sk-planted-2f7a"
    monkeypatch.setenv("OPENAI_API_KEY", secret)

    done = branch_here(
        *("run", "1", "--turn", "2", "--policy", f"openai:m@{server.url}", "--out", "children")
    )

    assert done.returncode == 0
    assert server.asked[-1].headers["authorization"] == f"Bearer {secret}"
    written = b"".join(path.read_bytes() for path in Path("children").iterdir())
    assert secret.encode() not in written + done.stdout.encode()


def test_finders_see_no_gap_where_a_branch_began(
    lost: Evaluation, branch_here: Command, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    branch_here(
        *("run", "1", "--turn", "2", "--policy", f"openai:m@{server.url}", "--out", "children")
    )

    assert episodes("children")[0].turns[1].usage is not None
    assert gem_eval.find("children", finders=["missing_tokens"]).with_findings == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "1", "--turn", "1"], "nowhere is no run folder"),
        (["run", "5", "--turn", "1"], "Line 5 of run was asked for, and its log has 4 lines"),
        (["run", "0", "--turn", "1"], "Line 0 of run was asked for, and its log has 4 lines"),
        (["run", "9" * 5000, "--turn", "1"], "was asked for, and its log has 4 lines"),
        (["begun", "1", "--turn", "1"], "Line 1 of begun was asked for, and its log has 0 lines"),
        (["begun", "abcd", "--turn", "1"], "No episode of begun has a fingerprint that begins"),
        (["run", "nothing", "--turn", "1"], "'nothing' names no episode. Give its line"),
        (["run", "abc", "--turn", "1"], "'abc' names no episode. Give its line"),
        (["run", "1", "--turn", "10"], "Turn 10 of line 1 of run was asked for, and that episode"),
        (["run", "1", "--turn", "6", "--max-turns", "5"], "has at most 5 turns. Give a larger"),
        (["run", "1", "--turn", "0"], "'0' is no whole number from 1 on"),
        (["run", "1", "--turn", "x"], "'x' is no whole number from 1 on"),
        (["run", "1"], "the following arguments are required: --turn"),
        (["run", "1", "--turn", "1", "--policy-kwargs", "x"], "--policy-kwargs 'x' is not JSON"),
        (["run", "1", "--turn", "1", "--policy", "nobody"], "nobody"),
        (["run", "1", "--turn", "1", "--out", "run"], "The folder run is not empty"),
    ],
)
def test_wrong_use_is_one_line(
    lost: Evaluation, run: Run, branch_here: Command, arguments: list[str], message: str
) -> None:
    run("begun", policies="noop", episodes=1)
    Path("begun", "episodes.jsonl").unlink()
    before = sorted(Path().iterdir())

    done = branch_here("--policy", "noop", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert sorted(Path().iterdir()) == before


def test_an_environment_that_is_not_installed_is_one_line(run: Run, branch_here: Command) -> None:
    with registrations_undone():
        gem.register("demo:Guess", "gem.testing.envs:Guess")
        run(envs="demo:Guess", policies="noop", episodes=1)

    done = branch_here("run", "1", "--turn", "1", "--policy", "noop")

    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert "demo:Guess" in line
