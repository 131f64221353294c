"""Trackers are told of trainings: a point an update, each once, with the evaluation after it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gem_eval.tracking.following import LoggedSteps, follow
from gem_eval.tracking.of_trainings import reporters
from gem_eval.tracking.sources import TrainingSource
from gem_eval.training_folder import TrainingFiles

RECORD = {
    "command": ["gem-env", "train", "guess.toml"],
    "created": "2026-11-23T10:00:00+00:00",
    "versions": {"gem-baselines": "0.1.0"},
    "experiment": {"env": "tiny:Guess", "seed": 3, "updates": 4, "eval_every": 2},
}


class Listed:
    """A tracker that keeps what it is told, and refuses the points that it is told to."""

    def __init__(self, refused: Sequence[int] = ()) -> None:
        self.points: dict[int, Mapping[str, float]] = {}
        self.steps: list[int] = []
        self._refused = list(refused)

    def begin(self, name: str, parameters: Mapping[str, str], run_id: str | None) -> str:
        self.parameters = parameters
        return "kept"

    def log(self, figures: Mapping[str, float], step: int) -> None:
        if step in self._refused:
            self._refused.remove(step)
            raise ConnectionError("nobody is there")
        self.points[step] = figures
        self.steps.append(step)

    def end(self, *, is_finished: bool, files: Sequence[Path]) -> None:
        self.files = [path.name for path in files]


@pytest.fixture
def folder(tmp_path: Path) -> TrainingFiles:
    (tmp_path / "experiment.json").write_text(json.dumps(RECORD), encoding="utf-8")
    return TrainingFiles.open(tmp_path)


def append(path: Path, *lines: Mapping[str, Any]) -> None:
    with path.open("a", encoding="ascii") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines)


def metrics(*updates: int) -> list[dict[str, Any]]:
    return [{"update": each, "turns": each / 2, "learning": {"loss": -0.5}} for each in updates]


def evaluated(update: int) -> dict[str, Any]:
    return {"update": update, "sampled": {"success": update / 4}}


def track(
    folder: TrainingFiles, tracker: Listed, *looks: Callable[[], None], word: str = "finished"
) -> None:
    """Follow a training that does one thing before each look but the last."""
    waiting = iter(looks)
    logged = LoggedSteps(folder.tracker_path("listed"), TrainingSource.before_first)

    def next_word(wait_s: float) -> str | None:
        act = next(waiting, None)
        if act is None:
            return word
        act()
        return None

    source = TrainingSource(folder)
    follow(source, tracker, logged, every_s=0, next_word=next_word, complain=lambda _: None)
    logged.close()


def test_each_update_is_a_point_with_its_evaluation(folder: TrainingFiles) -> None:
    tracker = Listed()

    track(
        folder,
        tracker,
        lambda: append(folder.evaluations_path, evaluated(0)),
        lambda: append(folder.metrics_path, *metrics(1, 2)),  # its evaluation is still to come
        lambda: append(folder.evaluations_path, evaluated(2)),
        lambda: append(folder.metrics_path, *metrics(3)),
    )

    assert tracker.steps == [0, 1, 2, 3]
    assert tracker.points[0] == {"evaluation/sampled/success": 0.0}
    assert tracker.points[1] == {"turns": 0.5, "learning/loss": -0.5}
    assert tracker.points[2]["evaluation/sampled/success"] == 0.5
    assert (tracker.parameters["env"], tracker.parameters["seed"]) == ("tiny:Guess", "3")
    assert tracker.files == ["evaluations.jsonl"]


def test_a_training_that_goes_on_from_an_earlier_checkpoint_repeats_no_step(
    folder: TrainingFiles,
) -> None:
    append(folder.metrics_path, *metrics(1, 2, 3))
    append(folder.evaluations_path, evaluated(0), evaluated(2))
    tracker = Listed(refused=[3])
    track(folder, tracker, word="")
    folder.metrics_path.unlink()
    append(folder.metrics_path, *metrics(1))

    track(folder, tracker, lambda: append(folder.metrics_path, *metrics(2, 3)))

    assert tracker.steps == [0, 1, 2, 3]


@pytest.mark.usefixtures("patient_tracking")
def test_a_tracker_of_a_training_listens_in_its_own_process(
    folder: TrainingFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDED", str(tmp_path / "recorded.jsonl"))
    append(folder.metrics_path, *metrics(1))
    reporter = reporters()["recorder"]()

    reporter.start(folder.path)
    append(folder.metrics_path, *metrics(2, 3))
    append(folder.evaluations_path, evaluated(2))
    reporter.end(is_finished=True)

    lines = (tmp_path / "recorded.jsonl").read_text(encoding="utf-8").splitlines()
    calls = [json.loads(line) for line in lines]
    assert [call["step"] for call in calls if "step" in call] == [1, 2, 3]
    assert calls[-1]["is_finished"]
    assert reporter.problem == ""
