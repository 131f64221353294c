"""`gem_eval.compare` and `gem-env compare`: what pairs, the verdict, and what is left out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem_eval import CompareError, Comparison, Evaluation, RunFolderError

Run = Callable[..., Evaluation]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def compare_here(gem_env_here: Command) -> Command:
    """Return a function that runs `gem-env compare` in the folder of the runs."""
    return partial(gem_env_here, "compare")


def test_policies_of_one_run_pair_by_their_tasks(run: Run) -> None:
    summary = run().summary

    comparison = gem_eval.compare(summary.run)

    [difference] = comparison.differences
    means = [result.success_rate for result in summary.results]
    assert (comparison.baseline, difference.candidate) == ("solver", "random")
    assert difference.verdict == comparison.verdict == "WORSE"
    over_all = difference.over_all
    assert (over_all.tasks, over_all.baseline_mean, over_all.candidate_mean) == (20, *means)
    assert over_all.wins == 0
    assert over_all.losses == len(difference.flips)
    assert difference.by_env == {"tiny:Guess": over_all}
    assert all(flip.is_regression for flip in difference.flips)
    lines = [flip.candidate_line for flip in difference.flips]
    assert lines == sorted(lines, reverse=True)  # the newest first
    assert (difference.unpaired, difference.caveats) == ((), ())


def test_the_other_way_round_it_is_better(run: Run) -> None:
    folder = run().summary.run

    comparison = gem_eval.compare(folder, baseline="random")

    [difference] = comparison.differences
    assert (difference.candidate, difference.verdict) == ("solver", "BETTER")
    assert not any(flip.is_regression for flip in difference.flips)


def test_runs_pair_by_what_was_played_and_not_by_its_number(run: Run) -> None:
    envs = ["tiny:Guess", "tiny:Echo"]
    first = run("first", envs=envs, policies="solver", episodes=None, seed_range=(0, 12))
    second = run("second", envs=envs[::-1], policies="solver", episodes=None, seed_range=(4, 20))

    comparison = gem_eval.compare([first.summary.run, second.summary.run])

    [difference] = comparison.differences
    assert {side.name for side in comparison.sides} == {first.summary.run, second.summary.run}
    assert difference.over_all.tasks == 16
    assert difference.over_all.difference == 0.0
    assert difference.verdict == "UNDECIDED"
    left = [(each.env_id, each.only_baseline, each.only_candidate) for each in difference.unpaired]
    assert left == [("tiny:Echo", 4, 8), ("tiny:Guess", 4, 8)]
    assert all(each.examples == ("seed 0", "seed 1", "seed 2") for each in difference.unpaired)


def test_arguments_of_an_environment_make_another_task(run: Run) -> None:
    runs = [
        run(f"of {size}", envs="tiny:Picky", policies="noop", env_kwargs={"size": size})
        for size in (3, 4)
    ]

    with pytest.raises(CompareError, match="have no task in common"):
        gem_eval.compare([each.summary.run for each in runs])


def test_a_task_counts_once_however_often_it_is_repeated(run: Run) -> None:
    folder = run(policies=["random", "noop"], episodes=10, repeats=4).summary.run

    [difference] = gem_eval.compare(folder).differences

    assert difference.over_all.tasks == 10
    assert difference.over_all.wins + difference.over_all.losses <= 10
    assert len({(flip.seed, flip.repeat) for flip in difference.flips}) == len(difference.flips)


def test_no_tasks_find_a_difference_that_is_more_than_rates_can_differ_by(run: Run) -> None:
    folder = run(policies=["noop", "random"], episodes=3, seed=6).summary.run

    [of_success] = gem_eval.compare(folder).differences
    [of_return] = gem_eval.compare(folder, metric="return").differences

    assert (of_success.over_all.wins, of_success.over_all.losses) == (1, 0)  # of three tasks
    assert of_success.over_all.detectable is None
    assert of_return.over_all.detectable == pytest.approx(1.715, abs=0.001)


@pytest.mark.slow
def test_what_is_equal_within_the_tolerance_is_the_same(run: Run) -> None:
    folders = [run(name, policies="solver", episodes=200).summary.run for name in ("one", "two")]

    assert gem_eval.compare(folders, tolerance=0.05).verdict == "SAME"
    assert gem_eval.compare(folders, tolerance=0.001).verdict == "UNDECIDED"


def test_returns_are_compared_where_they_decide(run: Run) -> None:
    folder = run(policies=["noop", "solver"]).summary.run

    comparison = gem_eval.compare(folder, metric="return")

    [difference] = comparison.differences
    assert comparison.metric == "return"
    assert difference.over_all.candidate_mean > difference.over_all.baseline_mean
    assert difference.verdict == "BETTER"
    assert difference.with_errors is None


def test_an_error_is_no_wrong_answer_and_is_named(run: Run) -> None:
    folder = run(envs="tiny:Broken", policies=["random", "noop"], episodes=40).summary.run

    [difference] = gem_eval.compare(folder).differences

    [unpaired] = difference.unpaired
    assert unpaired.ended_by_error == 40 - difference.over_all.tasks > 0
    assert difference.over_all.baseline_mean == 1.0
    assert difference.with_errors is not None
    assert difference.with_errors.tasks == 40
    assert difference.with_errors.baseline_mean < 1.0


def test_many_are_corrected_and_grouped(run: Run) -> None:
    policies = ["solver", "random", "noop"]
    folder = run(policies=policies, episodes=30).summary.run

    comparison = gem_eval.compare(folder)

    [random, noop] = comparison.differences
    smallest, largest = sorted([random.over_all.p_value, noop.over_all.p_value])
    expected = sorted([2 * smallest, max(2 * smallest, largest)])
    assert sorted([random.p_holm, noop.p_holm]) == pytest.approx(expected)
    assert ("solver",) in comparison.groups
    assert {name for group in comparison.groups for name in group} == set(policies)


def test_other_settings_of_a_run_are_told(run: Run) -> None:
    first = run("first", policies="random").summary.run
    second = run("second", policies="random", max_turns=2).summary.run

    [difference] = gem_eval.compare([first, second]).differences

    assert difference.caveats == (f"max_turns is None for {first} and 2 for {second}",)


def test_a_run_that_is_being_written_is_compared_as_far_as_it_is(run: Run) -> None:
    first = run("first", policies="solver").summary.run
    second = run("second", policies="random").summary.run
    log = Path(second, "episodes.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:9]) + lines[9][:50])

    [difference] = gem_eval.compare([first, second]).differences

    assert difference.over_all.tasks == 9


def test_it_is_plain_data(run: Run) -> None:
    comparison = gem_eval.compare(run().summary.run, tolerance=0.1)

    plain = json.loads(json.dumps(comparison.to_json(), allow_nan=False))

    assert plain.pop("verdict") == "WORSE"
    assert Comparison.model_validate(plain) == comparison


def test_it_is_a_table(run: Run) -> None:
    pytest.importorskip("pandas", reason="gem-eval's extra `pandas` is not installed")
    comparison = gem_eval.compare(run(policies=["solver", "random", "noop"]).summary.run)

    table = comparison.to_pandas()

    assert list(table["candidate"]) == ["random", "noop"]
    assert set(table["env_id"]) == {"tiny:Guess"}


@pytest.mark.parametrize(
    ("options", "status", "word"),
    [
        ([], 1, "WORSE: random beside solver: success -"),
        (["--baseline", "random"], 0, "BETTER: solver beside random: success +"),
        (["few", "--policy", "solver"], 3, "UNDECIDED: few beside run: success +0.000 ["),
    ],
)
def test_the_verdict_comes_first_and_is_the_status(
    run: Run, compare_here: Command, options: list[str], status: int, word: str
) -> None:
    run(policies=["solver", "random"])
    run("few", policies="solver", episodes=3)

    done = compare_here("run", *options)

    assert done.returncode == status
    assert done.stdout.startswith(word)
    assert "95% intervals" in done.stdout


def test_children_of_a_branch_pair_by_their_number_and_each_counts(
    run: Run, compare_here: Command
) -> None:
    lost = run(policies="random", env_kwargs={"highest": 100, "max_turns": 9}, episodes=2)
    options: dict[str, Any] = {"turn": 1, "repeats": 20}
    gem_eval.branch(lost.path, 1, ["random", "solver"], out="children", **options)
    gem_eval.branch(lost.path, 1, "noop", out="others", **options | {"repeats": 8})

    both = gem_eval.compare("children")
    printed = compare_here("children").stdout

    over_all = both.differences[0].over_all
    assert (both.pairs_of, both.verdict) == ("child", "BETTER")
    assert (over_all.tasks, over_all.wins, over_all.losses) == (20, 18, 0)
    assert over_all.p_value == pytest.approx(2 / 2**18)
    assert " over 20 children (p < 0.0001)." in printed
    assert "Each child counts once, beside the other policy's of the same sampling" in printed
    apart = gem_eval.compare(["children", "others"], baseline="solver")
    noop = next(each for each in apart.differences if each.over_all.tasks == 8)
    assert [each.only_baseline for each in noop.unpaired] == [12]
    assert noop.unpaired[0].examples == ("repeat 9", "repeat 10", "repeat 11")


def test_children_beside_a_run_that_is_no_branch_are_repeats_of_one_task(run: Run) -> None:
    games = run(policies="random", episodes=4)
    gem_eval.branch(games.path, 1, "noop", turn=0, repeats=5, out=games.path.parent / "children")

    comparison = gem_eval.compare([games.path, games.path.parent / "children"])

    assert comparison.pairs_of == "task"
    assert comparison.differences[0].over_all.tasks == 1


def test_a_sampled_test_is_called_so_and_its_least_p_is_a_bound(
    run: Run, compare_here: Command
) -> None:
    run(policies=["random", "solver"], episodes=40, repeats=3)
    run("once", policies=["random", "solver"], episodes=40)

    sampled = compare_here("run").stdout
    exact = compare_here("once").stdout

    assert " (p < 0.0002)." in sampled.splitlines()[0]
    assert sampled.endswith("p is of a test that samples 9,999 flips of signs.\n")
    assert exact.endswith("p is an exact test's.\n")
    [estimated] = gem_eval.compare("run").differences[0].by_env.values()
    assert (estimated.test, estimated.p_is_bound, estimated.p_value) == ("sampled", True, 0.0002)


def test_flips_are_listed_as_many_as_are_asked_for(run: Run, compare_here: Command) -> None:
    run()

    lines = compare_here("run", "--flips", "2").stdout.splitlines()

    [where] = [number for number, line in enumerate(lines) if line.startswith("Flipped: ")]
    assert "; the first 2:" in lines[where]
    assert [line.split()[0] for line in lines[where + 2 : where + 4]] == ["lost", "lost"]
    assert lines[where + 4] == ""
    assert "Flipped" not in compare_here("run", "--flips", "0").stdout


def test_json_is_the_comparison(run: Run, compare_here: Command) -> None:
    run()

    done = compare_here("run", "--json")

    assert done.returncode == 1
    assert json.loads(done.stdout) == gem_eval.compare("run").to_json()


def test_a_policy_of_errors_alone_keeps_nobody_else_from_a_comparison(
    run: Run, compare_here: Command
) -> None:
    def raising(_: object) -> str:
        raise RuntimeError("no answer today")

    run("run", policies=["solver", raising, "random"], episodes=20)
    run("alone", policies=["solver", "random"], episodes=20)

    comparison = gem_eval.compare("run")
    done = compare_here("run")
    beside_it = compare_here("run", "--baseline", "raising")

    why = "raising has nothing but errors on what both have tried (20 tasks)"
    [random] = comparison.differences
    assert random.over_all == gem_eval.compare("alone").differences[0].over_all
    assert [(each.name, each.why) for each in comparison.unmatched] == [("raising", why)]
    assert [each.ended_by_error for each in comparison.unmatched[0].unpaired] == [20]
    assert f"\nNot compared: raising ({why}).\nLeft out: 20 tasks of tiny:Guess" in done.stdout
    assert done.returncode == 1
    assert (beside_it.returncode, why in beside_it.stderr) == (2, True)


def test_who_is_not_compared_is_undecided(run: Run, compare_here: Command) -> None:
    run("run", policies=["random", "solver"])
    run("begun", policies="noop")
    Path("begun", "episodes.jsonl").unlink()

    done = compare_here("begun", "run", "--json")

    compared = Comparison.model_validate_json(done.stdout)
    assert [side.name for side in compared.sides] == ["random", "solver"]
    assert compared.differences[0].verdict == "BETTER"
    assert [each.why for each in compared.unmatched] == ["noop has played nothing yet"]
    assert (compared.verdict, done.returncode) == ("UNDECIDED", 3)


def test_two_of_which_errors_ended_other_tasks_are_told_so(run: Run) -> None:
    first = run("first", envs="tiny:Broken", policies="random", episodes=4).path
    second = run("second", envs="tiny:Broken", policies="random", episodes=4).path
    for path, parity in ((first, 0), (second, 1)):
        log = path / "episodes.jsonl"
        episodes = [json.loads(line) for line in log.read_text().splitlines()]
        for number, episode in enumerate(episodes):
            is_error = number % 2 == parity
            episode["error"] = "RuntimeError: the wheel came off" if is_error else None
            episode["stop_reason"] = "env_error" if is_error else "terminated"
        log.write_text("".join(f"{json.dumps(episode)}\n" for episode in episodes))

    with pytest.raises(CompareError, match=r"an error ended one side of all .* \(4 tasks\)"):
        gem_eval.compare([first, second])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere is no run folder"),
        (["run", "run/run.json"], "is no run folder"),
        (["alone"], "needs two policies, and there is solver of alone alone"),
        (["alone", "./alone"], "needs two policies"),
        (["run", "--policy", "solver"], "needs two policies"),
        (["run", "--policy", "nobody"], "The policy 'nobody' is in none of these runs"),
        (["run", "--baseline", "nobody"], "The baseline 'nobody' is none of those"),
        (["alone", "other"], "have no task in common"),
        (["alone", "other", "begun"], "Neither has any other policy with alone"),
        (["alone", "begun"], "begun has played nothing yet"),
        (["run", "--tolerance", "-1"], "'-1' is no number from 0 on"),
        (["run", "--tolerance", "nan"], "'nan' is no number from 0 on"),
        (["run", "--flips", "many"], "'many' is no whole number from 0 on"),
    ],
)
def test_wrong_use_is_one_line(
    run: Run, compare_here: Command, arguments: list[str], message: str
) -> None:
    run(episodes=2)
    run("alone", policies="solver", episodes=2)
    run("other", policies="solver", episodes=2, seed=1)
    run("begun", policies="solver", episodes=2)
    Path("begun", "episodes.jsonl").unlink()

    done = compare_here(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[-1]


def test_a_damaged_log_is_one_line(run: Run, compare_here: Command) -> None:
    run()
    log = Path("run", "episodes.jsonl")
    log.write_bytes(b"no episode\n" + log.read_bytes())

    done = compare_here("run")

    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "line 1" in line


def test_no_folder_is_no_comparison() -> None:
    with pytest.raises(RunFolderError):
        gem_eval.compare("nowhere")
