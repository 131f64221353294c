"""Runs that go on until it is decided: what is looked at, when they stop, and how they resume."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem_eval
from gem import read_episodes
from gem.cli._main import main
from gem.rollouts import PlannedEpisode
from gem_eval import Evaluation, SettingsError
from gem_eval.comparing.race import Race
from gem_eval.summary import Decision, Outcome

Run = Callable[..., Evaluation]


def plan_of(numbers: int, envs: int = 1, repeats: int = 1) -> list[PlannedEpisode]:
    return [
        PlannedEpisode(env_index, number, repeat, number, None)
        for env_index in range(envs)
        for number in range(numbers)
        for repeat in range(repeats)
    ]


def outcome(
    policy: str, planned: PlannedEpisode, success: bool, error: str | None = None
) -> Outcome:
    return Outcome(
        env_index=planned.env_index,
        policy=policy,
        episode_index=planned.episode_index,
        repeat=planned.repeat,
        success=success,
        total_return=float(success),
        turns=1,
        stop_reason="terminated" if error is None else "env_error",
        error=error,
        usage=None,
        policy_s=0.0,
        environment_s=0.0,
    )


def decided(
    plan: Sequence[PlannedEpisode], outcomes: Sequence[Outcome], tolerance: float | None = None
) -> Decision:
    race = Race(["a", "b"], plan, tolerance)
    for each in outcomes:
        race.add(each)
    [decision] = race.decisions()
    return decision


def all_outcomes(plan: Sequence[PlannedEpisode], chance: Random) -> list[Outcome]:
    return [
        outcome(policy, planned, chance.random() < share)
        for policy, share in (("a", 0.3), ("b", 0.8))
        for planned in plan
    ]


@given(st.integers(0))
def test_the_decision_does_not_depend_on_what_finishes_first(seed: int) -> None:
    plan = plan_of(60, envs=2)
    chance = Random(seed)
    outcomes = all_outcomes(plan, chance)
    in_order = decided(plan, outcomes)

    chance.shuffle(outcomes)

    assert decided(plan, outcomes) == in_order


def test_it_is_the_first_number_that_proves_it() -> None:
    plan = plan_of(100)
    outcomes = all_outcomes(plan, Random(0))

    decision = decided(plan, outcomes)

    assert decision.verdict == "BETTER"
    enough = [each for each in outcomes if each.episode_index < decision.tasks]
    assert decided(plan, enough) == decision
    one_less = [each for each in outcomes if each.episode_index < decision.tasks - 1]
    assert decided(plan, one_less).verdict == "UNDECIDED"


def test_a_number_is_looked_at_when_all_of_it_is_played() -> None:
    plan = plan_of(40, envs=2, repeats=2)
    outcomes = [outcome(name, planned, name == "b") for name in "ab" for planned in plan]
    without_one = [each for each in outcomes if each[:4] != (1, "b", 3, 1)]

    assert len(without_one) == len(outcomes) - 1
    assert decided(plan, without_one).tasks == 3
    assert decided(plan, outcomes).verdict == "BETTER"


def test_what_an_error_ended_says_nothing() -> None:
    plan = plan_of(30)
    outcomes = [
        outcome(name, planned, name == "b", "it broke" if planned.episode_index < 5 else None)
        for name in "ab"
        for planned in plan
    ]

    decision = decided(plan, outcomes)

    assert decision.verdict == "BETTER"
    assert decision.difference == 1.0
    assert decision.tasks == decided(plan, [each._replace(error=None) for each in outcomes]).tasks


def test_equal_policies_are_the_same_where_that_is_asked_for() -> None:
    plan = plan_of(400)
    outcomes = [outcome(name, planned, True) for name in "ab" for planned in plan]

    assert decided(plan, outcomes, tolerance=0.02).verdict == "SAME"
    assert decided(plan, outcomes).verdict == "UNDECIDED"


def test_of_several_only_those_that_are_undecided_play_on() -> None:
    plan = plan_of(60)
    race = Race(["a", "b", "c"], plan, None)
    for planned in plan[:30]:
        for name in "abc":
            race.add(outcome(name, planned, name == "b"))

    assert [decision.verdict for decision in race.decisions()] == ["BETTER", "UNDECIDED"]
    assert race.runners == ["a", "c"]
    assert not race.is_decided
    assert race.state.startswith("undecided +0.000 [")


def test_what_is_decided_stays_so_though_an_error_is_played_again() -> None:
    plan = plan_of(30)
    solved = [outcome("b", each, True) for each in plan]
    played = [outcome("a", each, False) for each in plan] + solved
    played += [outcome("c", each, each.episode_index % 2 == 0) for each in plan[:4]]
    played[0] = outcome("a", plan[0], False, error="it broke")
    before = Race(["a", "b", "c"], plan, None)
    again = Race(["a", "b", "c"], plan, None)
    for each in played:
        before.add(each)
    for each in played[1:]:
        again.add(each)
    assert [decision.verdict for decision in before.decisions()] == ["BETTER", "UNDECIDED"]
    assert again.decisions()[0].verdict == "UNDECIDED"

    again.keep_decided(before)

    assert again.decisions()[0] == before.decisions()[0]
    assert again.runners == before.runners


def test_a_finite_set_proves_no_more_by_being_played_again(run: Run) -> None:
    found = run(
        "run", envs="tiny:Numbered", policies=["solver", "noop"], episodes=500, until="decided"
    ).summary

    assert found.decisions[0].tasks <= 6
    assert found.planned == 12


@pytest.mark.parametrize("size", [1, 64, 10_000])
def test_blocks_are_the_whole_plan_and_never_much_too_large(size: int) -> None:
    blocks = list(Race(["a", "b"], plan_of(1_000, envs=3), None).blocks(size))

    assert [number for block in blocks for number in block] == list(range(1_000))
    played = 0
    for block in blocks:
        assert len(block) <= max(size / 3 + 1, played / 4)
        played += len(block)


def test_a_run_stops_as_soon_as_it_is_decided(run: Run) -> None:
    evaluation = run(episodes=500, until="decided", concurrency=8)

    [decision] = evaluation.summary.decisions
    assert (decision.candidate, decision.verdict) == ("random", "WORSE")
    assert decision.interval[1] < 0.0
    assert decision.tasks <= evaluation.summary.results[0].episodes < 100
    stored = json.loads((evaluation.path / "summary.json").read_text())
    assert stored["decisions"] == [decision.model_dump(mode="json")]
    assert list(evaluation.episodes())  # it can be read as any run


@pytest.mark.parametrize("kept", [0, 1, 13, 20])
def test_a_run_that_goes_on_comes_to_the_same_decision(run: Run, kept: int) -> None:
    evaluation = run(episodes=500, until="decided", concurrency=8)
    log = evaluation.path / "episodes.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    chance = Random(kept)
    log.write_bytes(b"".join(chance.sample(lines, min(kept, len(lines)))))

    resumed = gem_eval.resume(evaluation.path, concurrency=3)

    assert resumed.summary.decisions == evaluation.summary.decisions


def test_a_run_that_is_decided_plays_nothing_more(run: Run) -> None:
    evaluation = run(
        envs="tiny:Guess", policies=["random", "solver"], episodes=500, until="decided"
    )
    before = (evaluation.path / "episodes.jsonl").read_bytes()

    again = gem_eval.resume(evaluation.path)

    assert (evaluation.path / "episodes.jsonl").read_bytes() == before
    assert again.summary.decisions == evaluation.summary.decisions


def test_errors_are_played_again_while_nothing_is_decided(run: Run) -> None:
    evaluation = run(envs="tiny:Broken", policies=["random", "noop"], episodes=12, until="decided")
    tries = sum(1 for _ in read_episodes(evaluation.path))

    again = gem_eval.resume(evaluation.path)

    [decision] = again.summary.decisions
    assert decision.verdict == "UNDECIDED"
    assert decision.difference == 0.0
    assert sum(1 for _ in read_episodes(evaluation.path)) > tries


def test_without_a_number_it_plays_on_for_long(run: Run) -> None:
    evaluation = run(episodes=None, policies=["noop", "solver"], until="decided")

    assert evaluation.summary.decisions[0].verdict == "BETTER"
    assert evaluation.summary.planned == 2 * 10_000


def test_a_finite_set_is_played_once_at_most(run: Run) -> None:
    evaluation = run(
        envs="tiny:Numbered", policies=["noop", "solver"], episodes=None, until="decided"
    )

    assert evaluation.summary.planned == 12


def test_a_test_of_a_run_that_stopped_by_itself_is_said_to_be_too_sure(run: Run) -> None:
    evaluation = run(episodes=200, until="decided")

    [difference] = gem_eval.compare(evaluation.path).differences

    [caveat] = difference.caveats
    assert "stopped as soon as it was decided" in caveat


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"until": "decided", "policies": "solver"}, "needs two policies"),
        ({"tolerance": 0.02}, "nothing is decided here"),
        ({"until": "decided", "tolerance": 1.0}, "tolerance=1.0 was asked for"),
        ({"until": "decided", "tolerance": -0.1}, "tolerance=-0.1 was asked for"),
        ({"until": "bored"}, "until='bored' was asked for"),
    ],
)
def test_wrong_use_is_refused_before_the_first_episode(
    run: Run, options: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        run(**options)


@pytest.mark.parametrize(
    ("policies", "episodes", "status", "word"),
    [
        (("random", "solver"), "300", 0, "BETTER: solver beside random: success +"),
        (("solver", "random"), "300", 0, "WORSE: random beside solver: success -"),
        (("solver", "random"), "2", 3, "UNDECIDED: random beside solver: success "),
    ],
)
def test_the_command_ends_with_the_decision(
    policies: tuple[str, str],
    episodes: str,
    status: int,
    word: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    both = [argument for policy in policies for argument in ("--policy", policy)]
    until = ["--until", "decided", "--episodes", episodes, "--out", "run"]

    assert main(["eval", "tiny:Guess", *both, *until]) == status

    assert word in capsys.readouterr().out
    assert main(["report", "run"]) == 0
    reported = capsys.readouterr().out
    assert word in reported
    assert reported.partition("\n")[0].endswith("4 of 4 episodes" if status else ", decided")
