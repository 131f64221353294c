"""`gem-env report` reads run folders, finished or not, and changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gem import EpisodeLog
from gem.cli._main import main

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def gem_env_here(gem_env_here: Command) -> Command:
    """Return a function that runs `gem-env` in a folder where a run of ten is."""
    evaluation = ("eval", "tiny:Guess", "--policy", "solver", "--policy", "random")
    assert gem_env_here(*evaluation, "--episodes", "5", "--out", "run").returncode == 0
    return gem_env_here


def written(folder: str) -> dict[str, tuple[bytes, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path(folder).iterdir()
    }


def test_a_finished_run_is_shown_as_it_was_at_its_end(gem_env_here: Command) -> None:
    again = gem_env_here("eval", "--resume", "run").stdout.partition("\n\nRun folder")[0]

    done = gem_env_here("report", "run")

    assert done.returncode == 0
    assert done.stdout == f"run: 10 of 10 episodes\n{again}\n"


def test_a_run_that_is_being_written_is_shown_and_left_alone(gem_env_here: Command) -> None:
    log = Path("run", "episodes.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:7]) + lines[7][:40])  # the eighth is on its way
    before = written("run")
    log_of_another = os.open(log, os.O_RDWR)

    done = gem_env_here("report", "run")

    os.close(log_of_another)
    assert done.stdout.startswith("run: 7 of 10 episodes, the last ended ")
    assert written("run") == before


def test_a_log_that_another_run_holds_can_be_read(gem_env_here: Command) -> None:
    with EpisodeLog("run/episodes.jsonl"):
        assert gem_env_here("report", "run").returncode == 0


def test_a_run_without_an_episode_is_shown(gem_env_here: Command) -> None:
    Path("run", "episodes.jsonl").unlink()

    done = gem_env_here("report", "run")

    assert done.returncode == 0
    assert done.stdout.startswith("run: 0 of 10 episodes\n")
    assert sorted(path.name for path in Path("run").iterdir()) == ["run.json", "summary.json"]


def test_a_run_that_was_stopped_before_its_first_episode_names_no_last_one(
    gem_env_here: Command,
) -> None:
    Path("run", "episodes.jsonl").write_bytes(b"")

    assert gem_env_here("report", "run").stdout.startswith("run: 0 of 10 episodes\n")


def test_an_episode_that_was_tried_again_is_counted_once(gem_env_here: Command) -> None:
    gem_env_here("eval", "tiny:Broken", "--policy", "random", "--episodes", "20", "--out", "broken")
    gem_env_here("eval", "--resume", "broken")

    done = gem_env_here("report", "broken")

    assert done.returncode == 0
    assert done.stdout.startswith("broken: 20 of 20 episodes, ")
    assert " tries that ended by an error were made again" in done.stdout


def test_several_runs_have_a_table_each(gem_env_here: Command) -> None:
    gem_env_here("eval", "tiny:Echo", "--policy", "noop", "--episodes", "3", "--out", "other")

    done = gem_env_here("report", "run", "other")

    assert "run: 10 of 10 episodes\n" in done.stdout
    assert "\n\nother: 3 of 3 episodes\n" in done.stdout


def test_a_reader_that_has_seen_enough_ends_the_report(
    gem_env_here: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "w") as out:
        monkeypatch.setattr("sys.stdout", out)

        assert main(["report", "run"]) == 141


def test_json_is_a_list_of_summaries(gem_env_here: Command) -> None:
    summary = json.loads(Path("run", "summary.json").read_bytes())

    [found] = json.loads(gem_env_here("report", "run", "--json").stdout)

    assert {**found, "counters": None} == {**summary, "counters": None}


def test_a_training_is_no_run_and_its_evaluations_are(gem_env_here: Command) -> None:
    Path("guess").mkdir()
    Path("guess", "experiment.json").touch()

    done = gem_env_here("report", "guess")

    assert (done.returncode, done.stdout) == (2, "")
    assert "`gem-env view guess` shows it, and its evaluations are runs" in done.stderr


@pytest.mark.parametrize("path", ["nowhere", "run/run.json", "."])
def test_what_is_no_run_folder_is_one_line(gem_env_here: Command, path: str) -> None:
    done = gem_env_here("report", "run", path)

    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert "is no run folder" in line
