"""The page docs/baselines.md says what the results say."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.baselines import findings, page, records
from benchmarks.baselines.alike import alike, alike_sentence
from benchmarks.baselines.arms import BLIND, EXPERIMENTS, Arm, arms_of, read, tasks
from benchmarks.baselines.curves import Line, Panel, drawn
from benchmarks.baselines.findings import (
    Claim,
    NoLongerTrue,
    compared,
    of_unmoved,
    sentence_of,
    unmoved,
)
from benchmarks.baselines.measured import Estimate, measured
from benchmarks.baselines.rates import best_rates

import gem

ROOT = Path(__file__).parents[1]
GAMES = read("b_many_turns")["tasks"]
FAMILIES = read("h_table")["tasks"]


@pytest.fixture(scope="module")
def algorithms() -> list[Arm]:
    return arms_of("b_many_turns")


def test_the_page_is_what_the_results_say() -> None:
    script = [sys.executable, str(ROOT / "benchmarks" / "baselines" / "page.py"), "--check"]

    done = subprocess.run(script, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_two_arms_are_one_training(name: str) -> None:
    arms = arms_of(name)

    assert len({arm.digest for arm in arms}) == len({arm.key for arm in arms}) == len(arms) > 0


def test_the_first_seed_of_all_arms_comes_before_the_second(algorithms: list[Arm]) -> None:
    seeds = [arm.seed for arm in algorithms]

    assert seeds == sorted(seeds)


def test_a_blind_arm_differs_in_what_it_is_shown_alone(algorithms: list[Arm]) -> None:
    by_key = {arm.key: arm.settings.model_dump() for arm in algorithms}
    pairs = [(key, (key[0], f"{key[1]}, blind", key[2])) for key in by_key if "," not in key[1]]

    assert len(pairs) * 2 == len(by_key)
    for seeing, blind in pairs:
        assert by_key[blind]["policy_kwargs"].pop("keep") == BLIND
        assert by_key[seeing]["policy_kwargs"].pop("keep") != BLIND
        assert by_key[seeing] == by_key[blind]


def test_estimators_of_a_task_and_seed_differ_in_nothing_that_decides_fairness(
    algorithms: list[Arm],
) -> None:
    for task in {arm.task for arm in algorithms}:
        shared = set()
        for arm in algorithms:
            if arm.task == task and arm.seed == 0:
                learning = json.dumps(arm.settings.policy_kwargs["learning"], sort_keys=True)
                plan = (arm.settings.updates, arm.settings.episodes, arm.settings.eval_every)
                shared.add((*plan, arm.settings.gamma, learning))
        assert len(shared) == 1


def test_all_estimators_decide_the_rate_together() -> None:
    def line(arm: str, earned: float) -> dict[str, object]:
        return {"task": "t", "arm": arm, "final": {"drawn": {"discounted_return": earned}}}

    lines = [line("a, 0.1", 0.9), line("a, 0.2", 0.6), line("b, 0.1", 0.1), line("b, 0.2", 0.6)]

    assert best_rates(lines, {"group": "t"}) == {"group": 0.2}


def test_a_sentence_that_no_longer_holds_gives_way_or_fails() -> None:
    with_another = Claim((), "It rose.", lambda: False, "It fell.")
    alone = Claim((), "It rose.", lambda: False)

    assert sentence_of(with_another) == "It fell."
    with pytest.raises(NoLongerTrue, match="It rose"):
        sentence_of(alone)


def test_no_sentence_is_said_before_its_trainings_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    class Undone:
        is_complete = False
        lines = ("one",)
        num_arms = 3

    monkeypatch.setattr(findings, "measured", lambda name: Undone())

    sentence = sentence_of(Claim(("x",), "It rose.", lambda: True))

    assert sentence == "Open until all trainings are done (1 of 3): it rose?"


@pytest.mark.slow
def test_a_page_of_finished_trainings_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    measured.cache_clear()
    for name in EXPERIMENTS:
        lines = [json.dumps(_made_up(arm)) for arm in arms_of(name)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    try:
        files = page.written()
    finally:
        measured.cache_clear()

    text = files[page.PAGE]
    # Arms that learn nothing are looked at by the doctor, in games as in the table of baselines.
    [learnt_nothing] = re.findall(r"^- (.*): rule: It did not learn\.$", text, re.MULTILINE)
    [not_looked_at] = re.findall(r"^- (.*): not looked at\.$", text, re.MULTILINE)
    assert re.search(r"\bmastermind \(.*?`grpo`", learnt_nothing)
    assert re.search(r"\bsudoku \(.*?`grpo`", learnt_nothing)
    assert re.fullmatch(r"hanoi \(.*`grpo`.*\)", not_looked_at)
    assert "open" not in re.sub(r"\(.*?\)|`.*?`", "", text).lower()
    assert "{{" not in text
    assert "|  |  |  |  |" not in text
    for path, picture in files.items():
        assert path.suffix == ".md" or picture.count("<polyline") > 1


def _made_up(arm: Arm) -> dict[str, object]:
    """Return a line as of a training that was done, with figures that its seed decides."""
    rng = random.Random(repr(arm.key))
    figures = {name: rng.random() for name in ("success", "reward", "turns", "discounted_return")}
    played = {mode: {**figures, "tool_share": rng.random()} for mode in ("drawn", "greedy")}
    curve = [{"update": update, "drawn": figures, "greedy": figures} for update in (0, 10, 20)]
    made_up = {
        "task": arm.task,
        "arm": arm.name,
        "seed": arm.seed,
        "digest": arm.digest,
        "cpu_s": 10.0,
        "curve": curve,
        "final": played,
        "also_on": dict.fromkeys(arm.also_on, played),
        "commit": "0123456789",
    }
    # As of trainings before there was a doctor.
    return made_up if arm.task == "hanoi" else {**made_up, "doctor": ["rule: It did not learn."]}


def test_what_is_one_estimator_by_what_it_is_came_out_as_one() -> None:
    questions = measured("c_one_turn")
    guessing = alike_sentence(measured("b_many_turns"), ["guess"])

    assert alike(["mastermind"]) == {}
    assert alike(["guess"]) == {"ppo_token": "ppo"}
    assert alike(questions.tasks) == {"ppo_token": "ppo", "mt_rloo": "rloo", "mt_grpo": "grpo"}
    for sentence in (guessing, alike_sentence(questions, questions.tasks)):
        numbers = re.search(r"(\d+) of the (\d+) pairs", sentence)
        assert numbers is not None
        assert 0 < int(numbers[1]) == int(numbers[2])
    assert compared(questions, "mt_rloo", "rloo") == "`mt_rloo` and `rloo` are the same here."
    rows = [line for line in page.written()[page.PAGE].splitlines() if "`mt_rloo` |" in line]
    assert rows
    assert all(line.startswith(("| `rloo`, `mt_rloo` |", "| `mt_rloo` |")) for line in rows)


def test_a_policy_that_no_update_changed_is_named() -> None:
    experiment = measured("b_many_turns")

    names = {name.removesuffix(", blind") for name in unmoved(experiment, "hanoi")}

    assert names == {"rloo", "grpo", "dr_grpo", "mt_grpo"}
    assert "`rloo`, `grpo`, `dr_grpo`, `mt_grpo` change nothing" in of_unmoved(experiment, "hanoi")
    assert of_unmoved(experiment, "guess") == "Every estimator changes its policy."


def test_the_table_has_every_family_of_one_player() -> None:
    seated: set[str] = set()
    alone: set[str] = set()
    for spec in gem.list_envs("game:*"):
        with gem.make(spec.id) as env:
            is_seated = isinstance(env.unwrapped, gem.SeatedEnv)
        (seated if is_seated else alone).add(spec.id.partition("-")[0])

    shown = {tasks()[name]["env"].partition("-")[0] for name in (*GAMES, *FAMILIES)}

    assert len(seated) == 8  # the page says so
    assert {name for name in shown if name.startswith("game:")} == alone


def test_the_page_has_every_estimator_that_was_computed_exactly() -> None:
    estimators = page.DOCS / "estimators.md"
    written = estimators.read_text(encoding="utf-8").partition("<!-- written by")[2]
    rows = [line for line in written.partition("<!-- end of")[0].splitlines() if "|" in line]

    on_the_page = page.PAGE.read_text(encoding="utf-8").splitlines()

    assert len(rows) > 20
    assert [row for row in rows if row not in on_the_page] == []


def test_a_zero_has_no_sign() -> None:
    assert str(Estimate(-0.001, -0.004, 0.004, 5)) == "0.00 (0.00 to 0.00)"


def test_a_picture_has_a_line_for_each_curve_and_names_it() -> None:
    picture = drawn([Panel("Up & down", "updates", [Line("a<b", [(0, 0), (10, 1)])])])

    assert picture.count("<polyline") == 1
    assert "a&lt;b" in picture
    assert "Up &amp; down" in picture
