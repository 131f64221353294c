"""`gem-env noise` and what `gem-env report` says of its runs, through the command line."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import gem

GAME = '''
import random
from pathlib import Path

import gem

JUDGE = random.Random(1)


class Sum(gem.SeatedEnv):
    """Two players name a number each; both earn the sum."""

    seats = ("agent", "user")

    def reset(self, seed=None):
        self.number = self.rng.random()
        self.said = 0.0
        self.tell_all("Name a number.")
        return self.begin(1)

    def step(self, action):
        self.said += float(action)
        if self.seat == 1:
            self.tell(0, f"{action} was named.")
            return self.ask(0)
        score = self.number + self.said + self.verdict()
        return self.end((score, score))

    def verdict(self):
        return 0.0


class Judged(Sum):
    """The same, and a judge adds what it draws."""

    def verdict(self):
        return JUDGE.gauss(0.0, 0.2)


class Unsure(Sum):
    """The same, and a judge has a verdict for 24 episodes, until there is a file of verdicts."""

    asked = 0

    def verdict(self):
        Unsure.asked += 1
        if Unsure.asked > 24 and not Path("verdicts").exists():
            raise ValueError("no verdict")
        return 0.0


class Alone(gem.Env):
    """The same with one player."""

    def reset(self, seed=None):
        self.number = self.rng.random()
        return "Name a number.", {}

    def step(self, action):
        return gem.Step("", self.number + float(action), True, False, {})


class Drawing:
    """Draws from the seed that it is given."""

    def __call__(self, request):
        return str(random.Random(request.seed).gauss(0.0, 1.0))


class Unseeded:
    """A model whose server takes no seed."""

    rng = random.Random(7)

    def __call__(self, request):
        return str(self.rng.gauss(0.0, 1.0))


class Steady:
    def __call__(self, request):
        return "1"


class Failing:
    def __call__(self, request):
        raise RuntimeError("no answer")
'''
DESIGN = ("--episodes", "6", "--agents", "2", "--users", "2")
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def gem_env_here(gem_env_here: Command) -> Command:
    """Return a function that runs `gem-env` in a folder with a game and its players."""
    Path("sums.py").write_text(GAME)
    return gem_env_here


def seated(agent: str, user: str, env: str = "Sum") -> tuple[str, ...]:
    names = (f"agent=scripted:./sums.py:{agent}", f"user=scripted:./sums.py:{user}")
    return (f"./sums.py:{env}", "--policy", names[0], "--policy", names[1])


def figures(shown: str) -> dict[str, str]:
    """Return what stands beside each source."""
    table = shown.partition("\nsource ")[2].partition("\nPoints:")[0].splitlines()[1:]
    return dict(re.match(r"(.+?)  +(.+)", line).groups() for line in table)  # type: ignore[misc, union-attr]


@pytest.mark.slow
def test_a_run_says_whose_noise_it_is(gem_env_here: Command) -> None:
    command = ("noise", *seated("Steady", "Drawing", "Judged"), "--episodes", "20")
    done = gem_env_here(*command, "--agents", "2", "--out", "run")

    assert (done.returncode, done.stderr.count("episodes")) == (0, done.stderr.count("\n"))
    assert "Whose noise it is: 20 tasks, 2 x 4 seeds, each episode graded twice\n" in done.stdout
    found = figures(done.stdout)
    assert list(found) == [
        *("tasks", "agent", "user", "agent x user", "environment (judge)"),
        *("all, the same tasks", "all, tasks drawn anew"),
    ]
    assert found["agent"].split() == ["none", "-"]
    # Of 20 tasks the mean has a standard deviation of 100 / sqrt(20) = 22.36 points by a user of
    # variance 1, and of 4.47 by a judge of 0.04.
    low, high = map(float, re.findall(r"\[(.+), (.+)\]", found["user"])[0])
    assert low < 22.36 < high
    low, high = map(float, re.findall(r"\[(.+), (.+)\]", found["environment (judge)"])[0])
    assert low < 4.47 < high
    assert "agent: no noise, for it plays alike under every seed" in done.stdout
    assert "On the same tasks user dominates (9" in done.stdout
    assert "each task with two seeds of user helps most, from " in done.stdout
    assert done.stdout.endswith("\n      gem-env replay run --verify\n")


def test_report_says_it_again_and_makes_nothing(gem_env_here: Command) -> None:
    done = gem_env_here("noise", *seated("Drawing", "Drawing"), *DESIGN, "--out", "run")
    Path("sums.py").unlink()

    again = gem_env_here("report", "run")

    shown = done.stdout.partition("\n\nRun folder")[0]
    assert again.stdout == f"run: 24 of 24 episodes\n{shown}\n"
    as_json = json.loads(gem_env_here("report", "run", "--json").stdout)
    [report] = as_json
    assert report["noise"]["tasks"] == 6
    assert set(report["noise"]["parts"]) == {
        *("agent", "user", "agent x user", "environment (judge)")
    }


def test_json_is_the_summary_with_the_noise(gem_env_here: Command) -> None:
    done = gem_env_here("noise", *seated("Drawing", "Steady"), *DESIGN, "--json", "--out", "run")

    found = json.loads(done.stdout)
    assert (found["episodes"], found["noise"]["leader"]) == (24, "agent")
    # Episodes that share a player's seed are no attempts of their own.
    assert list(found["results"][0]["pass_at_k"]) == ["1"]


def test_a_run_that_was_killed_goes_on_with_the_same_players(gem_env_here: Command) -> None:
    """A server that takes no seed has one answer a seed all the same."""
    command = ("noise", *seated("Unseeded", "Steady", "Judged"), *DESIGN, "--out", "run")
    assert gem_env_here(*command).returncode == 0
    log = Path("run", "episodes.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:9]) + lines[9][:50])
    gradings = Path("run", "gradings.jsonl")
    graded = gradings.read_bytes().splitlines(keepends=True)
    gradings.write_bytes(b"".join(graded[:3]) + graded[3][:9])

    half = gem_env_here("report", "run")
    assert "Nothing is left to compare" in half.stdout
    assert ", 6 are not finished" in half.stdout

    done = gem_env_here("noise", "--resume", "run")

    assert done.returncode == 0
    assert gradings.read_bytes().startswith(b"".join(graded[:3]))
    assert figures(done.stdout)["user"].split() == ["none", "-"]
    answers = {
        (episode.seed, episode.repeat // 2): set[str]() for episode in gem.read_episodes(log)
    }
    for episode in gem.read_episodes(log):
        answers[episode.seed, episode.repeat // 2].add(episode.turns[1].action)
    assert {len(each) for each in answers.values()} == {1}
    assert len(set[str]().union(*answers.values())) == 12  # tasks by seeds of the agent


def test_a_longer_run_has_more_tasks_and_the_same_seeds(gem_env_here: Command) -> None:
    gem_env_here("noise", *seated("Drawing", "Drawing"), *DESIGN, "--out", "run")

    done = gem_env_here("eval", "--resume", "run", "--episodes", "8")

    assert done.returncode == 0
    assert "8 tasks, 2 x 2 seeds" in gem_env_here("report", "run").stdout
    refused = gem_env_here("eval", "--resume", "run", "--repeats", "6")
    assert refused.returncode == 2
    assert "repeats=6 would leave seeds that do not meet" in refused.stderr


def test_what_no_noise_can_be_of_is_said_plainly(gem_env_here: Command) -> None:
    alone = ("./sums.py:Alone", "--policy", "scripted:./sums.py:Steady", "--episodes", "4")
    shown = gem_env_here("noise", *alone, "--out", "run").stdout

    found = figures(shown)
    assert "4 tasks, 4 seeds, each episode graded twice" in shown
    for source in ("agent", "user", "environment (judge)"):
        assert found[source].split() == ["none", "-"]
    assert "user: no noise, for the environment plays it, which draws from the task's" in shown
    assert "every grading of an episode is the same: no judge draws." in shown
    assert "On the same tasks nothing draws" in shown
    assert "each task twice with fresh seeds" in shown


def test_what_a_design_cannot_show_is_no_zero(gem_env_here: Command) -> None:
    command = ("noise", *seated("Drawing", "Drawing"), "--episodes", "4", "--users", "1")
    shown = gem_env_here(*command, "--judges", "1", "--out", "run").stdout

    found = figures(shown)
    for source in ("user", "agent x user", "environment (judge)"):
        assert found[source].split() == ["unseen", "-"]
    assert "user: not seen, for it was played with one seed." in shown


def test_tasks_without_a_verdict_are_left_out_and_asked_again(gem_env_here: Command) -> None:
    command = ("noise", *seated("Drawing", "Drawing", "Unsure"), *DESIGN, "--out", "run")
    done = gem_env_here(*command)

    assert done.returncode == 1
    assert "0 tasks of 2 at least were played with every seed and graded, 6 had" in done.stdout
    lines = Path("run", "gradings.jsonl").read_text().splitlines()
    assert len(lines) == 24
    assert all(json.loads(line)["error"].endswith("no verdict") for line in lines)
    Path("verdicts").touch()

    again = gem_env_here("noise", "--resume", "run")

    assert again.returncode == 0
    assert "6 tasks, 2 x 2 seeds, each episode graded twice" in again.stdout


def test_a_design_that_was_edited_is_refused(gem_env_here: Command) -> None:
    gem_env_here("noise", *seated("Drawing", "Drawing"), *DESIGN, "--out", "run")
    record = Path("run", "run.json")
    plain = json.loads(record.read_text())
    plain["noise"] |= {"agents": 1, "users": 4}
    record.write_text(json.dumps(plain))

    done = gem_env_here("noise", "--resume", "run")

    assert done.returncode == 2
    assert "the settings in its run.json were edited" in done.stderr


def test_errors_alone_are_a_line_and_a_status(gem_env_here: Command) -> None:
    done = gem_env_here("noise", *seated("Failing", "Drawing"), *DESIGN, "--out", "run")

    assert done.returncode == 1
    assert "Nothing is left to compare: 0 tasks of 2" in done.stdout
    assert "Next: gem-env eval --resume run" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "gem-env noise needs an environment's id, or --resume DIR"),
        (("./sums.py:Sum",), "gem-env noise needs --policy"),
        (("./sums.py:Sum", "--policy", "random"), "has the seats agent and user"),
        (seated("Steady", "Steady")[:3], "Policies of 1 seats were given"),
        ((*seated("Steady", "Steady"), "--judges", "0"), "judges=0 was asked for"),
        (("--resume", "run", "--users", "9"), "--users 9 and --resume run were given"),
        (("--resume", "run", "--out", "other"), "--out other and --resume run were given"),
        (("--resume", "sums"), "sums is no run folder"),
    ],
)
def test_wrong_use_is_one_line(gem_env_here: Command, arguments: tuple[str, ...], why: str) -> None:
    done = gem_env_here("noise", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_run_that_crosses_nothing_is_not_resumed_as_one(gem_env_here: Command) -> None:
    gem_env_here("eval", "./sums.py:Alone", "--policy", "random", "--episodes", "1", "--out", "run")

    done = gem_env_here("noise", "--resume", "run")

    assert done.returncode == 2
    assert "run does not cross the seeds of players" in done.stderr
