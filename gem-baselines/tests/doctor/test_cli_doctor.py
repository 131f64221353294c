"""`gem-env doctor`: what it prints and returns, for trainings and for folders that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem.cli._main import main
from gem_baselines.training import Experiment, train

MakeExperiment = Callable[..., Experiment]


@pytest.fixture
def trained(experiment: MakeExperiment, tmp_path: Path) -> Path:
    """Return the folder of a short training without a fault."""
    folder = tmp_path / "run"
    train(experiment(updates=3, episodes=8, eval_every=0), folder)
    return folder


def turn_round(folder: Path) -> None:
    """Turn the sign of each advantage round in the samples of a training."""
    for path in (folder / "samples").glob("*.json"):
        batch = json.loads(path.read_text())
        for episode in batch["episodes"]:
            episode["advantages"] = [-value for value in episode["advantages"]]
        path.write_text(json.dumps(batch))


def test_a_healthy_training_returns_0_and_says_what_was_looked_at(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["doctor", str(trained), "--replay"])

    out = capsys.readouterr().out
    assert status == 0
    assert out.startswith(f"{trained}: nothing found by ")
    assert "\n  advantages        advantages follow from the recorded rewards\n" in out
    assert "\n  replay            sampled episodes come again from their seeds\n" in out
    assert "\n  tokens            a policy that plays by tokens\n" in out


def test_a_training_with_a_fault_returns_1_and_shows_the_evidence(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turn_round(trained)

    status = main(["doctor", str(trained)])

    out = capsys.readouterr().out
    assert status == 1
    assert ": 1 wrong by " in out
    assert "\nwrong     advantages\n" in out
    assert "every sign is turned round" in out
    assert "updates 1, 2, 3; see update " in out


def test_json_has_the_same(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turn_round(trained)

    status = main(["doctor", str(trained), "--json"])

    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert status == 1
    assert found["kind"] == "training"
    assert not found["healthy"]
    (finding,) = found["findings"]
    assert finding["check"] == "advantages"
    assert finding["updates"] == [1, 2, 3]
    assert finding["place"]["seed"] > 0


def test_a_training_that_was_just_begun_is_no_fault(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("metrics.jsonl", "evaluations.jsonl"):
        (trained / name).write_text('{"update": 1, "half')
    for path in (trained / "samples").iterdir():
        path.unlink()

    assert main(["doctor", str(trained)]) == 0
    assert "nothing found by 0 checks" in capsys.readouterr().out


@pytest.fixture
def sick(trained: Path) -> Path:
    """Return the folder of a training whose figures say that most episodes end by errors."""
    metrics = trained / "metrics.jsonl"
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    broken = [{**line, "errors": line["episodes"]} for line in lines]
    metrics.write_text("".join(f"{json.dumps(line)}\n" for line in broken))
    return trained


@pytest.mark.parametrize("garbled", [b"{gar\xffbled}", b'{"update": 1, "ha', b"[]", b"[" * 99_999])
def test_a_line_that_cannot_be_read_is_named_and_the_others_are_looked_at(
    sick: Path, garbled: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = sick / "metrics.jsonl"
    metrics.write_bytes(garbled + b"\n" + metrics.read_bytes())

    status = main(["doctor", str(sick)])

    out = capsys.readouterr().out
    assert status == 1
    assert "\n1 line of metrics.jsonl cannot be read. All other lines were read.\n" in out
    assert "\n  errors" not in out  # it is neither well nor unchecked


def test_json_counts_the_lines_that_cannot_be_read(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = trained / "samples" / "000002.jsonl"
    whole = sample.read_bytes()
    sample.write_bytes(b"garbled\n" + whole[:-20])

    main(["doctor", str(trained), "--json"])

    assert json.loads(capsys.readouterr().out)["unreadable"] == {"samples/000002.jsonl": 2}


def test_a_line_of_an_evaluation_that_cannot_be_read_is_named(
    experiment: MakeExperiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(experiment(updates=3, eval_every=1), tmp_path / "run")
    log = tmp_path / "run" / "evaluations" / "000001-sampled.jsonl"
    first, *others = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([first[:40] + b"\n", b'{"format": 1}\n', *others]))

    main(["doctor", str(tmp_path / "run")])

    out = capsys.readouterr().out
    assert "\n2 lines of evaluations/000001-sampled.jsonl cannot be read." in out
    assert "\n  evaluation        training earns what evaluation does\n" in out


def test_json_has_null_for_a_figure_that_is_not_finite(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (trained / "samples").glob("*.jsonl"):
        shown = [json.loads(line) for line in path.read_text().splitlines()]
        for row in (row for each in shown for row in each["rows"]):
            row["sampler"] = [None] * len(row["places"])
        path.write_text("".join(f"{json.dumps(each)}\n" for each in shown))

    status = main(["doctor", str(trained), "--json"])

    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert status == 1
    assert finding["check"] == "logprobs"
    assert finding["figures"]["mean_distance"] is None


def test_a_row_with_fewer_numbers_than_places_is_refused(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = trained / "samples" / "000002.jsonl"
    first, *others = path.read_text().splitlines()
    shown = json.loads(first)
    shown["rows"][0]["learner_after"].append(0.0)
    path.write_text("\n".join([json.dumps(shown), *others]))

    status = main(["doctor", str(trained)])

    assert status == 2
    assert "numbers as its learner_after" in capsys.readouterr().err


@pytest.mark.parametrize("learning", ["fast", {"precision": "fp8"}, None])
def test_a_policy_of_ones_own_may_name_its_learning_as_it_likes(
    trained: Path, learning: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = trained / "experiment.json"
    record = json.loads(path.read_text())
    record["experiment"]["policy_kwargs"]["learning"] = learning
    path.write_text(json.dumps(record))

    assert main(["doctor", str(trained)]) == 0
    assert "nothing found" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["metrics.jsonl", "evaluations.jsonl"])
def test_half_a_last_line_of_a_training_that_goes_on_is_no_fault(
    sick: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (sick / name).open("a") as file:
        file.write('{"update": 4, "ha')

    status = main(["doctor", str(sick)])

    assert status == 1
    assert "cannot be read" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("run.json", "{}", "is an evaluation: nothing was trained there. `gem-env find"),
        ("a.json", "{}", "there is no training in it. Give a folder that `gem-env train` wrote"),
        ("experiment.json", "{}", "its experiment.json has no settings of an experiment. Give"),
        ("experiment.json", '{"experiment": "x"}', "has no settings of an experiment"),
        ("experiment.json", "[]", "has no settings of an experiment"),
        ("experiment.json", "{", "its experiment.json is no JSON"),
    ],
)
def test_a_folder_without_a_training_is_wrong_use(
    name: str, text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)

    status = main(["doctor", str(tmp_path)])

    error = capsys.readouterr().err
    assert status == 2
    assert problem in error
    assert error.count("\n") == 1


def test_a_sample_that_is_damaged_is_named(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (trained / "samples" / "000002.json").write_text('{"update": 2}')

    status = main(["doctor", str(trained)])

    assert status == 2
    assert "000002.json cannot be read" in capsys.readouterr().err


def test_figures_that_are_damaged_are_named(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (trained / "metrics.jsonl").write_text('{"update": 1}\n')

    status = main(["doctor", str(trained)])

    assert status == 2
    assert "The figures in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "field", "value", "problem"),
    [
        ("metrics.jsonl", "turns", 10**400, "The figures in"),
        ("evaluations.jsonl", "update", None, "The evaluations in"),
        ("samples/000001.json", "baseline", 10**400, "000001.json cannot be read"),
        ("experiment.json", "experiment", {}, "is not as a training writes it (KeyError: "),
    ],
    ids=["figures", "evaluations", "sample", "settings"],
)
def test_a_value_that_no_training_writes_is_one_line(
    experiment: MakeExperiment,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    field: str,
    value: Any,
    problem: str,
) -> None:
    folder = tmp_path / "run"
    train(experiment(updates=2, episodes=8, eval_every=1), folder)
    path = folder / name
    text = path.read_text()
    first = text.splitlines()[0] if path.suffix == ".jsonl" else text
    path.write_text(f"{json.dumps({**json.loads(first), field: value})}\n")

    status = main(["doctor", str(folder)])

    error = capsys.readouterr().err
    assert status == 2
    assert problem in error
    assert error.count("\n") == 1
