"""Environments that break a rule: each fails its line, with the evidence."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import gem
from gem.errors import DataError
from gem.specs import CheckHints, EnvSpec
from gem.testing import check_env
from gem.testing._report import CheckLine
from gem.testing._subject import Subject
from gem.testing._table import CHECKS
from gem.testing.envs import Echo

pytestmark = pytest.mark.slow

FAULTS = [
    ("chance:GlobalChance", "global_chance", "changed the global state of random"),
    ("chance:NumpyChance", "global_chance", "changed the global state of numpy.random"),
    ("chance:ReadsGlobalChance", "global_chance", "the global random state changed"),
    ("chance:IgnoresSeed", "same_seed", "seed"),
    ("chance:UnseededSamples", "same_seed", "sample_action() drew"),
    ("chance:OneEpisode", "different_seeds", "gave the same episode"),
    ("leaks:LeaksNumber", "leaks", "number"),
    ("leaks:LeaksWord", "leaks", "word"),
    ("leaks:LeaksLater", "leaks", "from the end"),
    ("leaks:LeaksOftenEnough", "leaks", "word"),
    ("chance:KeepsState", "second_reset", "guesses so far"),
    ("actions:RaisesOnMalformed", "malformed_actions", "raised ValueError"),
    ("actions:SquareTime", "long_actions", "in proportion to the length"),
    ("actions:BadSample", "sampled_actions", "was refused (format_error)"),
    ("actions:SampleIsNoText", "sampled_actions", "not text"),
    ("actions:NoSample", "sampled_actions", "NotImplementedError"),
    ("actions:SampleDrawsChance", "sampling", "drew from rng"),
    ("actions:SampleCounts", "sampling", "called before each step"),
    ("steps:RewardOutOfRange", "rewards", "outside reward_range"),
    ("steps:RewardIsNoNumber", "rewards", "float32"),
    ("steps:StepsAfterEnd", "step_after_end", "was accepted"),
    ("steps:StepsAfterEnd", "step_before_reset", "was accepted"),
    ("steps:RefusesInItsWay", "step_before_reset", "raised ValueError"),
    ("steps:EndsBothWays", "flags", "at once"),
    ("steps:LimitTerminates", "flags", "a turn limit truncates"),
    ("steps:IgnoresLimit", "flags", "max_turns is 4"),
    ("steps:NotSingle", "flags", "single_turn"),
    ("steps:FlagsAreNumbers", "flags", "terminated is 0"),
    ("solving:SolveFails", "solve_succeeds", "ended after 4 turns"),
    ("solving:SolveGivesUp", "solve_succeeds", "gave up or went on"),
    ("solving:EveryAnswerWins", "solve_beats_noop", "by an empty answer"),
    ("solving:EveryAnswerWins", "solve_beats_random", "by sampled actions"),
    ("solving:EveryAnswerWins", "solve_beats_echo", "by an echo"),
    ("solving:BelievesPleas", "solve_beats_plea", "by a plea"),
    ("solving:SolvePeeks", "solve_is_fair", "looked alike at turn 1"),
    ("solving:SolveDraws", "solving", "drew from rng"),
    ("solving:SolveWavers", "solving", "in the same state"),
    ("solving:SolveCounts", "solving", "called before each step"),
    ("making:ForgetsGenerator", "snapshots", "saved after 0 turns, restored"),
    ("making:RestoreForgetsLamps", "snapshots", "restored in place"),
    ("making:SharesWithFork", "forks", "after its fork went on"),
    ("making:NotPlain", "snapshots", "'lock'"),
    ("chance:ByHash", "another_process", "the same seed in another process"),
    ("making:DiesElsewhere", "another_process", "ended with 3"),
    ("making:RaisesElsewhere", "another_process", "RuntimeError: not here"),
    ("chance:CountsInstances", "rollouts", "one at a time"),
    ("chance:SharesLog", "rollouts", 'observation after turn 1 was "'),
    ("chance:CountsInstances", "vectors", "alone and in a vector"),
    ("chance:CountsInstances", "spec", "rebuilt from its spec"),
    ("making:RaisesAlways", "rollouts", "ended by env_error"),
    ("making:TasksByAnotherName", "tasks", 'info["task"] is None'),
    ("making:TakesAnyTask", "tasks", "task 2 was accepted"),
    ("making:ExitsAlways", "same_seed", "SystemExit"),
]


@pytest.fixture(autouse=True)
def _bad_envs_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def line(name: str, check: str, **declared: object) -> CheckLine:
    hints = CheckHints.model_validate(declared)
    _, _, own_name = name.partition(":")
    spec = EnvSpec(id=f"bad:{own_name}", target=f"bad_envs.{name}", check=hints)
    [found] = [each for each in CHECKS if each.name == check]
    return found.line(Subject(spec))


@pytest.mark.parametrize(("name", "check", "evidence"), FAULTS)
def test_a_fault_fails_its_line_with_the_evidence(name: str, check: str, evidence: str) -> None:
    found = line(name, check)

    assert (found.state, evidence in found.evidence) == ("failed", True), found


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("steps:RefusesEarly", "step_before_reset"),
        ("leaks:SaysTheConstant", "leaks"),
        ("leaks:ShowsTosses", "leaks"),
        ("leaks:AsksWhich", "leaks"),
        ("leaks:AsksYesOrNo", "leaks"),
        ("chance:OneEpisode", "same_seed"),
        ("chance:KeepsState", "same_seed"),
        ("actions:NoSample", "same_seed"),
        ("making:NotPlain", "leaks"),
        ("steps:NeverEnds", "flags"),
        ("steps:NeverEnds", "sampled_actions"),
    ],
)
def test_no_line_fails_for_what_is_no_fault_of_it(name: str, check: str) -> None:
    found = line(name, check)

    assert found.state == "passed", found


def test_an_episode_that_differs_anyway_is_not_blamed_on_the_global_random_state() -> None:
    found = line("chance:CountsInstances", "global_chance")

    assert (found.state, "another episode each time" in found.evidence) == ("skipped", True), found


def test_luck_that_is_declared_may_be_had_on_some_seeds_only() -> None:
    found = line("solving:SolveFails", "solve_succeeds", needs_luck=True)

    assert (found.state, "declares needs_luck" in found.evidence) == ("passed", True), found


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("solving:EveryAnswerWins", "solve_beats_random"),
        ("solving:EveryAnswerWins", "solve_beats_echo"),
        ("solving:SolvePeeks", "solve_is_fair"),
    ],
)
def test_where_the_best_play_mixes_no_move_is_held_to_be_right(name: str, check: str) -> None:
    assert line(name, check).state == "failed"

    found = line(name, check, mixes=True)

    assert (found.state, "it declares mixes" in found.evidence) == ("skipped", True), found


@pytest.mark.parametrize("name", ["leaks:LeaksWord", "leaks:LeaksTheirMove"])
def test_where_the_best_play_mixes_a_copy_that_always_wins_is_a_leak_all_the_same(
    name: str,
) -> None:
    found = line(name, "leaks", mixes=True)

    assert (found.state, "copying word" in found.evidence) == ("failed", True), found


def test_where_the_best_play_mixes_the_rules_may_name_a_move_that_wins() -> None:
    assert line("leaks:NamesAGoodMove", "leaks").state == "failed"

    found = line("leaks:NamesAGoodMove", "leaks", mixes=True)

    assert (found.state, "none wins nine of ten" in found.evidence) == ("passed", True), found


@pytest.mark.parametrize(
    ("name", "check", "declared", "evidence"),
    [
        ("chance:FixedStart", "different_seeds", {"fixed_start": True}, "start differently"),
        ("steps:RefusesEarly", "solve_succeeds", {"winnable": False}, "solve() succeeded"),
        ("solving:Hopeless", "solve_succeeds", {"winnable": False, "bound": 0.2}, "the bound 0.2"),
        ("solving:Hopeless", "solve_succeeds", {"needs_luck": True}, "succeeded on 0 of"),
    ],
)
def test_a_declaration_that_the_evidence_contradicts_fails(
    name: str, check: str, declared: dict[str, object], evidence: str
) -> None:
    found = line(name, check, **declared)

    assert (found.state, evidence in found.evidence) == ("failed", True), found


@pytest.mark.parametrize(
    ("name", "check", "declared", "reason"),
    [
        (
            "making:ForgetsGenerator",
            "different_seeds",
            {"fixed_start": True},
            "declares fixed_start",
        ),
        ("making:StartsAlike", "different_seeds", {}, "declares fixed_start"),
        ("solving:Hopeless", "solve_succeeds", {"winnable": False, "bound": 0.5}, "winnable=False"),
        ("solving:Hopeless", "solve_succeeds", {"winnable": False}, "winnable=False"),
        ("steps:NeverEnds", "step_after_end", {}, "came to an end"),
        ("steps:NeverEnds", "solve_succeeds", {}, "no solve() is known"),
        ("steps:NeverEnds", "tasks", {}, "no finite set"),
        ("steps:NeverEnds", "manifest", {}, "registered in this process"),
    ],
)
def test_a_line_is_skipped_for_a_reason_that_it_states(
    name: str, check: str, declared: dict[str, object], reason: str
) -> None:
    found = line(name, check, **declared)

    assert (found.state, reason in found.evidence) == ("skipped", True), found


def test_what_a_spec_declares_goes_before_what_its_class_does() -> None:
    assert line("making:StartsAlike", "different_seeds", needs_luck=True).state == "passed"


def test_an_environment_that_raises_everywhere_gives_a_report_and_no_exception() -> None:
    gem.register("bad:Raises", "bad_envs.making:RaisesAlways")

    report = check_env("bad:Raises")

    assert not report.is_good
    assert {each.state for each in report.lines} >= {"failed"}
    assert "this one is broken" in report.lines[0].evidence


def test_an_environment_that_cannot_be_made_gives_a_report_and_no_exception() -> None:
    gem.register("bad:Unmade", "bad_envs.making:CannotBeMade")

    [only] = check_env("bad:Unmade").lines

    assert (only.name, only.state) == ("made", "failed")
    assert "SystemExit: not even made (making.py, line " in only.evidence


def test_data_that_is_not_there_is_the_callers_error() -> None:
    gem.register("bad:LacksData", "bad_envs.making:LacksData")

    with pytest.raises(DataError, match="There is no table"):
        check_env("bad:LacksData")


MANIFEST = """
from gem.specs import CheckHints, EnvSpec, PluginManifest

plugin = PluginManifest(name="acme", envs=(
    EnvSpec(id="acme:Typo", target="gem.testing.envs:Echo"{more}),
))
"""


@pytest.mark.parametrize(
    ("more", "state", "evidence"),
    [
        ("", "passed", "acme_typo.plugin sets known fields only"),
        (", fixed_strat=True", "failed", "'fixed_strat' in a EnvSpec"),
    ],
)
def test_a_misspelled_field_of_a_manifest_is_found(
    install: Callable[..., Path], more: str, state: str, evidence: str
) -> None:
    install("acme-typo", manifest=MANIFEST.replace("{more}", more))
    [check] = [each for each in CHECKS if each.name == "manifest"]

    found = check.line(Subject("acme:Typo"))

    assert (found.state, evidence in found.evidence) == (state, True), found


def test_specs_ignore_unknown_fields_again_after_a_check() -> None:
    line("chance:OneEpisode", "manifest")

    EnvSpec.model_validate({"id": "a:b", "target": "a:b", "novelty": 1})


def test_a_spec_that_json_cannot_carry_fails_its_line() -> None:
    class RichSpec(EnvSpec):
        difficulty: int = 3

    spec = RichSpec(id="bad:Rich", target="gem.testing.envs:Echo")
    [check] = [each for each in CHECKS if each.name == "spec"]

    found = check.line(Subject(spec))

    assert (found.state, "difficulty" in found.evidence) == ("failed", True)


def test_measuring_memory_leaves_a_running_measurement_alone() -> None:
    tracemalloc.start()
    try:
        found = line("making:ForgetsGenerator", "costs")
        is_tracing = tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()

    assert (found.state, is_tracing) == ("passed", True)


class Interrupts(Echo):
    def step(self, action: str) -> gem.Step:
        raise KeyboardInterrupt


def test_an_interrupt_goes_through() -> None:
    gem.register("bad:Interrupts", Interrupts)

    with pytest.raises(KeyboardInterrupt):
        check_env("bad:Interrupts")
