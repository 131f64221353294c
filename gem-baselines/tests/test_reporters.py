"""Reporters are told of a training, and nothing that they do stops it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gem import registry
from gem.cli._main import main
from gem.testing import fake_plugin
from gem_baselines.errors import ExperimentError
from gem_baselines.training import Experiment, train
from gem_baselines.training.reporters import GROUP
from gem_baselines.training.training import Training

MakeExperiment = Callable[..., Experiment]

REPORTERS = '''
class Recorder:
    """Writes down what it is told, in the training folder."""

    problem = ""

    def start(self, folder):
        self.log = folder / "tracker-recorder.jsonl"
        self.note("start")

    def end(self, *, is_finished):
        lines = len((self.log.parent / "metrics.jsonl").read_text().splitlines())
        self.note(f"{lines} lines, {'finished' if is_finished else 'stopped'}")

    def note(self, what):
        with self.log.open("a") as file:
            file.write(f"{what}\\n")


class Breaking(Recorder):
    """Raises whatever it is asked."""

    def start(self, folder):
        raise ConnectionError("nobody is there")

    def end(self, *, is_finished):
        raise SystemError("nor here")


class Lacking(Recorder):
    problem = "lacking does not have the last figures."


def plugin():
    return {"recorder": Recorder, "breaking": Breaking, "lacking": Lacking}
'''


@pytest.fixture(autouse=True, scope="module")
def _reporters_are_installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("site")
    fake_plugin(folder, "gem-baselines-recorder", group=GROUP, manifest=REPORTERS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        registry.refresh()
        yield
    registry.refresh()


def lines_of(folder: Path) -> list[str]:
    return (folder / "tracker-recorder.jsonl").read_text().splitlines()


def test_a_reporter_reads_the_folder_until_the_training_is_done(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    training = train(experiment(), tmp_path, track=["recorder"])

    assert lines_of(tmp_path) == ["start", "4 lines, finished"]
    assert training.reporters.problems == ()


def test_a_training_that_is_resumed_goes_on_with_its_reporters(
    experiment: MakeExperiment, acted: Callable[[str], str], tmp_path: Path
) -> None:
    interrupted = experiment(policy=acted("InterruptedAnswer"), policy_kwargs={})
    with pytest.raises(KeyboardInterrupt):
        train(interrupted, tmp_path, track=["recorder"])
    # Gone on with by a policy that is the same but for its interrupt.
    for name in ("experiment.json", "checkpoints/last/checkpoint.json"):
        record = tmp_path / name
        record.write_text(record.read_text().replace("InterruptedAnswer", "Counter"))

    Training.resumed(tmp_path).run()

    assert lines_of(tmp_path) == ["start", "2 lines, stopped", "start", "4 lines, finished"]


def test_a_reporter_that_fails_stops_nothing_and_is_named(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    training = train(experiment(), tmp_path, track=["breaking", "lacking"])

    assert training.progress.update == 4
    assert training.reporters.problems == (
        "breaking failed: SystemError: nor here",
        "lacking does not have the last figures.",
    )


def test_a_reporter_that_is_gone_stops_no_resumed_training(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(updates=2), tmp_path)
    (tmp_path / "tracker-gone.jsonl").touch()

    training = Training.resumed(tmp_path, {"updates": 3})
    training.run()

    [problem] = training.reporters.problems
    assert problem.startswith("gone was told of this training before, and cannot be told more: ")
    assert training.progress.update == 3


def test_a_reporter_that_nobody_brings_leaves_no_folder(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    with pytest.raises(ExperimentError, match=r"'recoder' .* Did you mean 'recorder'\?"):
        train(experiment(), tmp_path / "run", track=["recoder"])

    assert not (tmp_path / "run").exists()


def test_the_command_names_what_a_reporter_lacks(
    experiment: MakeExperiment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = experiment(updates=1).model_dump(mode="json", exclude_none=True)
    lines = [f"{name} = {json.dumps(settings[name])}" for name in ("env", "updates", "episodes")]
    kwargs = [
        f"{group}.{name} = {json.dumps(value)}"
        for group in ("env_kwargs", "policy_kwargs")
        for name, value in settings[group].items()
    ]
    Path("own.toml").write_text("\n".join(lines + kwargs), encoding="utf-8")

    status = main(["train", "own.toml", "--out", "run", "--track", "lacking"])

    printed = capsys.readouterr()
    assert status == 0
    assert printed.err.splitlines()[-1] == "gem-env train: lacking does not have the last figures."
