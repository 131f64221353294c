"""The log of an evaluation during training is read as a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from gem_eval.errors import RunFolderError
from gem_eval.evaluation_logs import open_run
from gem_eval.reading import read_summary

from .training_folders import made


def test_it_has_the_episodes_and_the_settings_of_its_training(tmp_path: Path) -> None:
    log = made(tmp_path / "training", seed=3) / "evaluations" / "000004-greedy.jsonl"

    run = open_run(log)
    summary = read_summary(run)

    assert run.record.settings.seed == 3
    assert run.record.settings.envs[0].kwargs == {"highest": 15}
    assert not run.has_name
    assert summary.run == str(log)
    assert (summary.episodes, summary.planned) == (2, 2)


def test_it_is_found_from_within_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = made(tmp_path / "training")
    monkeypatch.chdir(training / "evaluations")

    assert read_summary(open_run("000004-greedy.jsonl")).episodes == 2


def test_a_log_that_is_of_no_training_is_no_run(tmp_path: Path) -> None:
    training = made(tmp_path / "training")
    log = training / "evaluations" / "000004-greedy.jsonl"
    (training / "experiment.json").unlink()

    with pytest.raises(RunFolderError, match="is no run folder"):
        open_run(log)


def test_an_empty_log_is_a_run_of_no_episode(tmp_path: Path) -> None:
    log = made(tmp_path / "training") / "evaluations" / "000004-greedy.jsonl"
    log.write_bytes(b"")

    assert read_summary(open_run(log)).episodes == 0
