"""`gem_eval.find` and `gem-env find`: how often, where, and what is left out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import gem_eval
from gem import EpisodeLog, read_episodes, registry
from gem.testing import fake_plugin
from gem_eval import Evaluation, FindError, Found
from gem_eval.finding import example_episode, example_turn
from gem_eval.finding.finder import Finding
from gem_eval.finding.installed import GROUP
from gem_eval.finding.tally import Cell, Tally

Run = Callable[..., Evaluation]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def find_here(gem_env_here: Command) -> Command:
    """Return a function that runs `gem-env find` in the folder of the runs."""
    return partial(gem_env_here, "find")


@pytest.fixture
def odd_run(run: Run) -> str:
    """Return a run in which something is odd: answers with nothing in them, and broken wheels."""
    evaluation = run(
        envs=["tiny:Guess", "tiny:Lamps", "tiny:Broken"], policies=["noop", "random"], episodes=8
    )
    return evaluation.summary.run


def shares(found: Found, finder: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Return by environment and policy in how many episodes, and of how many, was a finding."""
    return {
        (share.env_id, share.policy): (share.found, share.episodes)
        for share in found.shares
        if share.finder == finder
    }


def test_it_counts_by_finder_environment_and_policy(odd_run: str) -> None:
    found = gem_eval.find(odd_run)

    broken = sum(episode.is_error for episode in read_episodes(odd_run))
    assert broken > 0
    assert found.episodes == 48
    assert shares(found, "hollow_answer") == {
        ("tiny:Guess", "noop"): (8, 8),
        ("tiny:Lamps", "noop"): (8, 8),
        ("tiny:Broken", "noop"): (8, 8),
        ("tiny:Guess", "random"): (0, 8),
        ("tiny:Lamps", "random"): (0, 8),
        ("tiny:Broken", "random"): (0, 8),
    }
    assert shares(found, "loop")["tiny:Lamps", "noop"] == (8, 8)
    assert shares(found, "format_struggle")["tiny:Guess", "noop"] == (8, 8)
    errors = shares(found, "environment_error")
    assert errors["tiny:Broken", "noop"][0] + errors["tiny:Broken", "random"][0] == broken
    assert all(share.ci95 is not None for share in found.shares)
    assert found.problems == ()


def test_the_newest_examples_have_their_lines_and_turns(odd_run: str) -> None:
    found = gem_eval.find(odd_run, finders=["loop"], examples=2)

    lamps = [
        (line, gem_eval.findings(episode, finders=["loop"]))
        for line, episode in enumerate(read_episodes(odd_run), start=1)
    ]
    newest = [(line, findings) for line, findings in reversed(lamps) if findings][:2]
    assert [example.line for example in found.newest] == [line for line, _ in newest]
    assert [example.evidence for example in found.newest] == [
        findings[0].evidence for _, findings in newest
    ]
    assert [example.turn for example in found.newest] == [
        findings[0].turn for _, findings in newest
    ]
    assert found.finders == ("loop",)


def test_a_policy_an_environment_and_a_finder_can_be_chosen(odd_run: str) -> None:
    found = gem_eval.find(odd_run, finders=["loop"], policies=["noop"], env="*:Lamps")

    assert found.episodes == found.with_findings == 8
    assert shares(found, "loop") == {("tiny:Lamps", "noop"): (8, 8)}
    assert {share.finder for share in found.shares} == {"loop"}


def test_runs_are_counted_apart_and_each_once(run: Run) -> None:
    first = run("first", policies="noop").summary.run
    second = run("second", policies="noop", episodes=5).summary.run

    found = gem_eval.find([first, second, first], finders=["hollow_answer"], examples=6)

    assert [(share.run, share.found) for share in found.shares] == [(first, 20), (second, 5)]
    assert [example.run for example in found.newest] == [second] * 5 + [first]


def test_an_episode_that_was_tried_again_counts_by_its_last_try(run: Run) -> None:
    evaluation = run(envs="tiny:Broken", policies="random", episodes=10)
    gem_eval.resume(evaluation.path)  # it breaks again at the same episodes

    found = gem_eval.find(evaluation.path, finders=["environment_error"], examples=100)

    tries = list(read_episodes(evaluation.path))
    broken = len(tries) - 10
    assert broken > 0
    assert shares(found, "environment_error") == {("tiny:Broken", "random"): (broken, 10)}
    assert {example.line for example in found.newest} == set(range(11, 11 + broken))


def test_a_try_that_ended_well_takes_the_place_of_an_error(tmp_path: Path) -> None:
    tally = Tally(most=3)
    failed = example_episode(stop_reason="env_error", success=None)
    finding = Finding("environment_error", None, "It raised.")

    tally.add(failed, [("p", [finding])], run="run", run_number=0, line=1)
    tally.add(example_episode(), [("p", [])], run="run", run_number=0, line=2)
    tally.finish()

    [cell] = tally.cells
    assert (tally.size(cell), tally.hits("environment_error", cell)) == (1, 0)
    assert list(tally.newest("environment_error")) == []


def test_episodes_of_one_task_are_one_group() -> None:
    def low(**facts: object) -> float:
        tally = Tally(most=0)
        for number in range(20):
            episode = example_episode(episode_index=number, task=3)
            found = [("example", [Finding("f", None, "")])]
            tally.add(episode, found, run="r", run_number=0, line=1, **facts)  # type: ignore[arg-type]
        estimate = tally.share("f", Cell("r", "demo:Example", "example"))
        assert estimate.ci95 is not None
        return estimate.ci95[0]

    assert low() < 0.3
    assert low(is_alone=True) > 0.8


def test_two_findings_at_one_place_are_both_kept() -> None:
    tally = Tally(most=5)
    episode = example_episode(example_turn("7"))

    found = [("p", [Finding("f", 0, "b"), Finding("f", 0, "a")])]
    tally.add(episode, found, run="r", run_number=0, line=1)

    assert [seen.finding.evidence for seen in tally.newest("f")] == ["a", "b"]


def test_it_is_plain_data(odd_run: str) -> None:
    found = gem_eval.find(odd_run)

    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))

    assert Found.model_validate(plain) == found


def test_it_is_a_table(odd_run: str) -> None:
    pytest.importorskip("pandas", reason="gem-eval's extra `pandas` is not installed")

    table = gem_eval.find(odd_run).to_pandas()

    assert set(table["policy"]) == {"noop", "random"}


def test_counts_come_first_and_then_the_places(odd_run: str, find_here: Command) -> None:
    chosen = ("--policy", "noop", "--finder", "loop", "--finder", "truncated", "--examples", "1")

    done = find_here("run", *chosen)

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "run: 8 of 24 episodes with findings"
    assert lines[2].split() == ["finder", "environment", "policy", "episodes", "share"]
    assert lines[3].split()[:6] == ["loop", "tiny:Lamps", "noop", "8", "of", "8"]
    assert lines[4].split()[:6] == ["truncated", "tiny:Lamps", "noop", "8", "of", "8"]
    assert (lines[6], lines[9]) == ("loop, the newest:", "truncated, the newest:")
    [newest] = gem_eval.find("run", policies=["noop"], finders=["truncated"], examples=1).newest
    assert lines[10] == (
        f"  line {newest.line}, turn 12 (tiny:Lamps, seed {newest.seed}): The episode was cut off "
        "after 12 turns by the environment's own limit, unsolved."
    )
    assert lines[-1] == "In brackets: 95% intervals. A finding is a hint, and no verdict."


def test_of_several_runs_each_line_says_which(run: Run, find_here: Command) -> None:
    run("first", policies="noop", envs="tiny:Numbered", episodes="all")
    run("second", policies="noop")

    done = find_here("first", "second", "--finder", "hollow_answer")

    assert " first " in done.stdout.splitlines()[3]
    assert "  second line 20, turn 1 (tiny:Guess, seed " in done.stdout


def test_a_narrow_terminal_shows_two_tables(
    odd_run: str, find_here: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")

    lines = find_here("run", "--policy", "noop", "--finder", "loop").stdout.splitlines()

    assert [line.split()[0] for line in lines[2:8] if line] == ["finder", "loop"] * 2


def test_where_nothing_is_odd_it_says_so(run: Run, find_here: Command) -> None:
    run(policies="solver")

    done = find_here("run", "--finder", "loop")

    assert (done.returncode, done.stdout) == (0, "run: 0 of 20 episodes with findings\n")


def test_a_task_is_named_by_its_number(run: Run, find_here: Command) -> None:
    run(policies="noop", envs="tiny:Numbered", episodes="all")

    done = find_here("run", "--finder", "hollow_answer", "--examples", "9")

    assert all(f"(tiny:Numbered, task {task})" in done.stdout for task in range(6))


def test_json_is_what_was_found(odd_run: str, find_here: Command) -> None:
    done = find_here("run", "--json", "--examples", "2")

    assert json.loads(done.stdout) == gem_eval.find("run", examples=2).to_json()


def test_a_run_without_a_log_is_looked_at(run: Run, find_here: Command) -> None:
    run()
    Path("run", "episodes.jsonl").unlink()

    assert find_here("run").stdout == "run: 0 of 0 episodes with findings\n"


def test_the_installed_finders_are_listed(find_here: Command) -> None:
    lines = find_here("--list").stdout.splitlines()

    assert lines[0].split() == ["finder", "brought", "by", "what", "is", "odd"]
    assert [line.split()[0] for line in lines[1:3]] == ["environment_error", "truncated"]
    [plain] = json.loads(find_here("--list", "--finder", "loop", "--json").stdout)["finders"]
    assert (plain["id"], plain["distribution"]) == ("loop", "gem-eval")


RAISING = """
    from gem_eval.finding import Finder


    def rule(episode):
        raise SystemExit("\\x1b[2J no more")


    plugin = Finder(id="leaving", summary="leaves", rule=rule, examples=list)
"""


@pytest.fixture
def leaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a finder that raises, and a pack that cannot be loaded."""
    fake_plugin(tmp_path / "a", "acme-left", group=GROUP, manifest=RAISING)
    fake_plugin(tmp_path / "b", "acme-lost", group=GROUP, manifest="import acme_lost_module")
    monkeypatch.syspath_prepend(str(tmp_path / "a"))
    monkeypatch.syspath_prepend(str(tmp_path / "b"))
    registry.refresh()
    yield
    monkeypatch.undo()
    registry.refresh()


@pytest.mark.usefixtures("leaving")
def test_what_fails_is_named_below_and_takes_nothing_down(run: Run, find_here: Command) -> None:
    run(policies="noop")

    done = find_here("run")

    assert done.returncode == 0
    assert "hollow_answer" in done.stdout
    lost, left = done.stdout.splitlines()[-2:]
    assert lost.startswith("The finders of acme-lost cannot be loaded: ModuleNotFoundError")
    assert left == (
        "The finder leaving of acme-left failed at line 1 of run and at 19 more, and was left "
        "out there: SystemExit: \\x1b[2J no more."
    )
    assert gem_eval.find("run").problems == (lost, left)
    assert find_here("--list").stdout.splitlines()[-1] == lost


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "needs a run folder to look at, or --list"),
        (["nowhere"], "nowhere is no run folder"),
        (["run", "--finder", "lop"], "No finder is called 'lop'. Did you mean 'loop'?"),
        (["run", "--policy", "nobody"], "The policy 'nobody' is in none of these runs. They have"),
        (["run", "--env", "game:*"], "'game:*' matches no environment of these runs. They have"),
        (["run", "--examples", "-1"], "'-1' is no whole number from 0 on"),
        (["--list", "--finder", "lop"], "No finder is called 'lop'"),
    ],
)
def test_wrong_use_is_one_line(
    run: Run, find_here: Command, arguments: list[str], message: str
) -> None:
    run(episodes=2)

    done = find_here(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[-1]


def test_a_damaged_log_is_one_line(run: Run, find_here: Command) -> None:
    run(episodes=2)
    log = Path("run", "episodes.jsonl")
    log.write_bytes(b"no episode\n" + log.read_bytes())

    done = find_here("run")

    assert done.returncode == 2
    assert "Line 1 of run/episodes.jsonl is not an episode" in done.stderr


def test_a_log_that_is_being_written_is_read_and_left_alone(run: Run, find_here: Command) -> None:
    run(policies="noop")
    log = Path("run", "episodes.jsonl")
    log.write_bytes(log.read_bytes()[:-40])

    with EpisodeLog(log):  # which removes the half line
        done = find_here("run", "--finder", "hollow_answer")

    assert done.stdout.startswith("run: 19 of 19 episodes with findings\n")


def test_a_policy_can_be_chosen_by_its_short_name(run: Run) -> None:
    bisect = "scripted:gem_eval_tiny.policies:Bisect"
    folder = run(policies=[bisect, "noop"]).summary.run

    found = gem_eval.find(folder, policies=["Bisect"])

    assert {share.policy for share in found.shares} == {bisect}
    with pytest.raises(FindError, match="They have Bisect, noop"):
        gem_eval.find(folder, policies=["solver"])
