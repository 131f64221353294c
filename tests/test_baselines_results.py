"""Results of the benchmark of baselines: lines are kept whole, and say what they were made by."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.baselines import code, records
from benchmarks.baselines.arms import EXPERIMENTS, Arm, arms_of, read, tasks
from benchmarks.baselines.code import code_of
from benchmarks.baselines.measured import measured
from benchmarks.baselines.progress import left
from benchmarks.baselines.records import Results, claimed
from benchmarks.baselines.references import played, references, setting_of

from gem_baselines.training import Experiment

BEFORE_THE_DOCTOR = {"a7e56d7be5", "9a44c48be0", "4feadf1e8f", "d43aacc8b2", "5a26de62ab"}
"""The commits by which lines were made before there was a doctor to look at a training."""


@pytest.fixture(scope="module")
def algorithms() -> list[Arm]:
    return arms_of("b_many_turns")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    monkeypatch.setattr(records, "CLAIMS", tmp_path / "claims")
    return Results("b_many_turns")


def test_a_line_that_a_killed_process_cut_spoils_no_other(kept: Results) -> None:
    kept.add({"digest": "a", "n": 1})
    with kept.path.open("a", encoding="utf-8") as file:
        file.write('{"digest":"b","n"')

    kept.add({"digest": "c", "n": 3})

    assert list(kept.lines()) == ["a", "c"]


def test_an_arm_whose_settings_changed_has_no_result(kept: Results, algorithms: list[Arm]) -> None:
    arm = algorithms[0]
    kept.add({"digest": arm.digest})
    changed = arm._replace(settings=arm.settings.model_copy(update={"updates": 1}))

    assert len(kept.of([arm])) == 1
    assert kept.of([changed]) == []
    assert kept.keep([changed]) == 1
    assert kept.lines() == {}


def test_an_arm_is_trained_by_one_process_at_a_time(kept: Results, algorithms: list[Arm]) -> None:
    with claimed(algorithms[0]) as is_free, claimed(algorithms[0]) as is_free_again:
        assert (is_free, is_free_again) == (True, False)
    with claimed(algorithms[0]) as is_free_later:
        assert is_free_later
    assert kept.lines() == {}


def test_nothing_is_added_while_stale_lines_are_dropped(
    kept: Results, algorithms: list[Arm]
) -> None:
    kept.add({"digest": algorithms[0].digest})
    were_refused = []

    class Watched(list[Arm]):
        def __iter__(self) -> Iterator[Arm]:
            with kept.path.open("a") as other, pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            were_refused.append(True)
            return super().__iter__()

    assert kept.keep(Watched(algorithms[:1])) == 0
    assert were_refused == [True]


def test_a_line_that_waited_for_the_lock_is_in_the_file_that_took_its_place(
    kept: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.add({"digest": "a"})
    replacement = tmp_path / "replacement"
    replacement.write_text('{"digest":"b"}\n', encoding="utf-8")
    lock = fcntl.flock

    def replaced_meanwhile(file: int, operation: int) -> None:
        if replacement.exists():
            replacement.replace(kept.path)
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", replaced_meanwhile)
    kept.add({"digest": "c"})

    assert list(kept.lines()) == ["b", "c"]


def test_a_crash_while_stale_lines_are_dropped_loses_no_line(
    kept: Results, algorithms: list[Arm], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.add({"digest": algorithms[0].digest})
    kept.add({"digest": "stale"})
    before = kept.path.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="the disk is full"):
        kept.keep(algorithms[:1])

    assert kept.path.read_bytes() == before


def test_what_is_left_is_estimated_by_the_same_arms_of_other_seeds(algorithms: list[Arm]) -> None:
    guess = [arm for arm in algorithms if arm.task == "guess" and arm.name in ("raw", "ppo")]
    hanoi = [arm for arm in algorithms if arm.task == "hanoi"][:3]
    lines = [_line(arm, 100.0 if arm.name == "ppo" else 10.0) for arm in guess if arm.seed == 0]

    found = left([*guess, *hanoi], lines)

    assert found.cpu_s == 9 * 100 + 9 * 10
    assert found.unknown == 3
    assert str(found).endswith("an unknown time left for 3 arms of tasks not begun")
    assert str(left(hanoi, [])) == "an unknown time left for 3 arms of tasks not begun"
    assert str(left(guess[:1], [_line(guess[0], 1.0)])) == "nothing left"


def _line(arm: Arm, cpu_s: float) -> dict[str, object]:
    return {"task": arm.task, "arm": arm.name, "digest": arm.digest, "cpu_s": cpu_s}


def test_a_line_from_before_the_doctor_does_not_say_that_it_found_nothing() -> None:
    lines = [line for name in EXPERIMENTS for line in measured(name).lines]

    assert [
        line for line in lines if line["commit"] in BEFORE_THE_DOCTOR and "doctor" in line
    ] == []
    assert any(line.get("doctor") == [] for line in lines)


def test_arms_of_a_task_that_takes_long_have_fewer_seeds() -> None:
    arms = arms_of("d_discount")

    def seeds(task: str, name: str) -> int:
        return sum((arm.task, arm.name) == (task, name) for arm in arms)

    assert seeds("guess_20", "gamma 0.5") == seeds("guess_10", "gamma 1") == 10
    assert seeds("guess_20", "gamma 0.9") == seeds("guess_20", "gamma 1") == 5


def _arm(**settings: object) -> Arm:
    return Arm("made_up", "task", "arm", 0, Experiment.of(settings), {})


def test_the_code_of_an_arm_is_that_of_its_pack_its_wrappers_and_the_trainer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[str] = []

    def noted(source: str) -> str:
        looked_at.append(source)
        return source

    monkeypatch.setattr(code, "_digest", noted)
    part = {"env": "game:GuessTheNumber-v0", "kwargs": {}}
    mixture = _arm(env="gem:Mixture", env_kwargs={"envs": [part]})
    with_tool = next(arm for arm in arms_of("e_tools") if arm.task == "records_tool")

    code_of(mixture)
    assert looked_at == ["gem", "gem_baselines", "gem_envs_games", "gem_train"]
    looked_at.clear()
    code_of(with_tool)
    notebook = "benchmarks.baselines.notebook"
    assert looked_at == [notebook, "gem", "gem_baselines", "gem_tools", "gem_train"]


def test_a_changed_source_is_another_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "acme_sources"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "games.py").write_text("reward = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    def digest() -> str:
        return code._digest.__wrapped__("acme_sources")

    before = digest()
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "games.pyc").write_bytes(b"compiled")
    assert digest() == before
    (package / "games.py").write_text("reward = 2\n", encoding="utf-8")
    assert digest() != before


def test_a_reference_is_played_with_the_wrappers_of_its_task() -> None:
    every = tasks()
    names = {task for name in EXPERIMENTS for task in read(name)["tasks"]}
    settings = {name: setting_of(every[name]) for name in names}

    assert {name: references()[name]["setting"] for name in names} == json.loads(
        json.dumps(settings)
    )
    cut_off = {"id": "time_limit", "kwargs": {"max_turns": 1}}
    long = {**settings["guess_10"], "wrappers": [cut_off]}
    assert played("random", long)["turns"] == 1
