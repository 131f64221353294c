"""Every task with each value of an argument: the same tasks, and how much the returns depend."""

from __future__ import annotations

import json
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_eval
from gem_eval.errors import RunFolderError, SettingsError

PUT = '''
import gem


class Put(gem.Env):
    """Ask for a letter in one of four ways, of which the last two are hard to read."""

    def __init__(self, *, way=0):
        self.way = way

    def reset(self, seed=None):
        self.letter = self.rng.choice("ab")
        text = f"Write {self.letter}." if self.way < 2 else "Write it."
        return text, {}

    def step(self, action):
        if action == "fail" and self.way == 3:
            raise RuntimeError("broken")
        return gem.Step("", float(action == self.letter), True, False, {})


class Reader:
    def __call__(self, request):
        return "b" if "b" in request.messages[0].text else "a"


class Failing:
    def __call__(self, request):
        return "fail"
'''


Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def gem_env_here(gem_env_here: Command) -> Command:
    """Return a function that runs `gem-env` in a folder with an environment and its players."""
    Path("put.py").write_text(PUT)
    return gem_env_here


PLAY = ("eval", "./put.py:Put", "--policy", "scripted:./put.py:Reader", "--episodes", "30")


def test_the_same_tasks_are_played_with_every_value(gem_env_here: Command) -> None:
    assert gem_env_here(*PLAY, "--vary", "way=0:4", "--out", "run").returncode == 0

    earned: dict[int, dict[int, float]] = defaultdict(dict)
    for episode in gem.read_episodes(Path("run", "episodes.jsonl")):
        earned[episode.seed][int(episode.env_kwargs["way"])] = episode.total_reward
    assert len(earned) == 30
    assert {frozenset(ways) for ways in earned.values()} == {frozenset(range(4))}
    [summary] = json.loads(gem_env_here("report", "run", "--json").stdout)
    [found] = summary["sensitivities"]
    deviations = [statistics.pstdev(ways.values()) for ways in earned.values()]
    assert found["sensitivity"] == pytest.approx(statistics.fmean(deviations))
    low, high = found["sensitivity_ci95"]
    assert 0.0 < low < found["sensitivity"] < high < 0.5
    assert [variant["value"] for variant in found["variants"]] == [0, 1, 2, 3]
    assert (found["best"]["value"], found["best"]["mean_return"]) == (0, 1.0)
    assert found["worst"]["value"] == 2
    # One row over all values, whose interval counts 30 tasks, and no attempts of their own.
    [result] = summary["results"]
    assert (result["episodes"], list(result["pass_at_k"])) == (120, ["1"])
    assert result["mean_return"] == pytest.approx(found["mean_return"])


def test_the_table_and_report_name_the_worst_and_the_best(gem_env_here: Command) -> None:
    done = gem_env_here(*PLAY, "--vary", "way=[0, 2]", "--out", "run")

    shown = done.stdout.partition("\n\nRun folder")[0]
    assert "put.py:Reader on ./put.py:Put by way, the same 30 tasks each\n" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert ["0", "1.000", "[1.000,", "1.000]", "best"] in lines
    assert [line[-1] for line in lines if line[:1] == ["2"]] == ["worst"]
    assert "Sensitivity to way: 0." in shown
    assert gem_env_here("report", "run").stdout == f"run: 60 of 60 episodes\n{shown}\n"


def test_a_task_that_an_error_ended_is_left_out(gem_env_here: Command) -> None:
    play = ("eval", "./put.py:Put", "--policy", "scripted:./put.py:Failing", "--episodes", "3")
    shown = gem_env_here(*play, "--vary", "way=0:4", "--out", "run").stdout

    assert "Sensitivity" not in shown  # no task is whole
    assert gem_env_here(*play, "--vary", "way=0:3", "--out", "whole").returncode == 0


def test_a_run_is_extended_in_all_its_variants(gem_env_here: Command) -> None:
    gem_env_here(*PLAY, "--vary", "way=0:2", "--out", "run")

    assert gem_env_here("eval", "--resume", "run", "--episodes", "40").returncode == 0

    shown = gem_env_here("report", "run").stdout
    assert shown.startswith("run: 80 of 80 episodes\n")
    assert "the same 40 tasks each" in shown
    refused = gem_env_here("eval", "--resume", "run", "--vary", "way=0:3")
    assert refused.returncode == 2
    assert "goes on with the variants that it began with" in refused.stderr
    assert gem_env_here("replay", "run", "--verify").returncode == 0
    pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")
    assert gem_env_here("view", "run", "--export", "run.html").returncode == 0
    assert Path("run.html").read_text().count('<figure class="plot">') == 1


def test_a_comparison_counts_a_task_once_however_often_it_is_varied(gem_env_here: Command) -> None:
    play = (*PLAY[:-1], "6", "--policy", "noop")
    gem_env_here(*play, "--vary", "way=[0, 1]", "--out", "varied")
    gem_env_here(*play, "--env-kwargs", '{"way": 0}', "--out", "plain")

    [of_varied] = gem_eval.compare("varied").differences
    [of_plain] = gem_eval.compare("plain").differences

    # Both ways are read, so that the second says nothing that the first did not.
    assert of_varied.over_all == of_plain.over_all
    assert (of_varied.over_all.tasks, of_varied.over_all.p_value) == (6, 2 / 2**6)
    assert [each.tasks for each in of_varied.by_env.values()] == [6, 6]
    assert len(of_varied.flips) == 12


def test_ways_in_which_a_task_was_played_to_its_end_by_both_are_its_mean(
    gem_env_here: Command,
) -> None:
    """`Failing` breaks the last way: of that nothing is known, and the others still pair."""
    play = ("eval", "./put.py:Put", "--policy", "scripted:./put.py:Reader", "--episodes", "20")
    gem_env_here(
        *play, "--policy", "scripted:./put.py:Failing", "--vary", "way=0:4", "--out", "run"
    )
    earned = defaultdict(list)
    for episode in gem.read_episodes(Path("run", "episodes.jsonl")):
        if episode.policy.endswith("Reader") and episode.env_kwargs["way"] != 3:
            earned[episode.seed].append(episode.total_reward)

    [difference] = gem_eval.compare("run", metric="return").differences

    assert difference.over_all.tasks == 20
    means = [statistics.fmean(returns) for returns in earned.values()]
    assert difference.over_all.baseline_mean == pytest.approx(statistics.fmean(means))
    assert sum(each.ended_by_error for each in difference.unpaired) == 20


@pytest.mark.parametrize(
    ("vary", "why"),
    [
        ("way", "is no argument with its values"),
        ("way=3", "is no argument with its values"),
        ("=0:3", "is no argument with its values"),
        ("way=[1]", "takes from 2 to 1,000 values"),
        ("way=[1, 1]", "each once"),
        ("way=0:999999999", "takes from 2 to 1,000 values"),
        ("manner=0:3", "manner"),
    ],
)
def test_wrong_values_are_one_line(gem_env_here: Command, vary: str, why: str) -> None:
    done = gem_env_here(*PLAY, "--vary", vary, "--out", "run")

    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"vary": {"way": range(3), "size": range(2)}}, "must name one argument"),
        ({"vary": {"way": range(3)}, "env_kwargs": {"way": 1}}, "a value of its own"),
        ({"vary": {"way": range(3)}, "until": "decided"}, "decides by tasks that are played once"),
    ],
)
def test_what_cannot_be_varied_is_refused(
    gem_env_here: Command, options: dict[str, Any], why: str
) -> None:
    with pytest.raises(SettingsError, match=why):
        gem_eval.evaluate("./put.py:Put", ["noop", "random"], out="run", **options)


def test_a_run_goes_on_with_its_own_variants_from_python(gem_env_here: Command) -> None:
    options: dict[str, Any] = {"episodes": 2, "out": "run", "vary": {"way": range(2)}}
    run = gem_eval.evaluate("./put.py:Put", "noop", **options)
    assert run.summary.sensitivities[0].sensitivity == 0.0
    with pytest.raises(RunFolderError, match="vary was given"):
        gem_eval.resume("run", vary={"way": range(3)})
