"""Episodes of several seats in each format: a row, sample or file for each seat, and no mixture."""

from __future__ import annotations

import importlib.util
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_eval
from gem.errors import LogError
from gem_eval.errors import ExportError


def first(request: gem.Request) -> str:
    """Bet always, and say which seat one is."""
    return rf"I am seat {request.seat}. \boxed{{bet}}"


def second(request: gem.Request) -> str:
    """Pass always."""
    return rf"I am seat {request.seat}. \boxed{{pass}}"


@pytest.fixture(scope="module")
def rotated_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of a line-up that plays each seed in both of its rotations."""
    out = tmp_path_factory.mktemp("runs") / "kuhn"
    line_up = (first, second)
    gem_eval.evaluate(
        "gem.testing.envs:Kuhn", [line_up], episodes=6, every_rotation=True, seed=1, out=out
    )
    return out


@pytest.fixture(scope="module")
def parts(rotated_run: Path) -> list[gem.Episode]:
    """Return the parts of its episodes, in the order of its log."""
    lines = (rotated_run / "episodes.jsonl").read_text(encoding="ascii").splitlines()
    return [part for line in lines for part in gem.Episode.from_json(line).parts()]


def lines_of(run: Path, out: Path, to: str, **options: Any) -> list[dict[str, Any]]:
    path = Path(gem_eval.export(run, to=to, out=out / "x.jsonl", **options).path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_sft_has_the_conversation_of_each_seat_that_succeeded(
    rotated_run: Path, parts: list[gem.Episode], tmp_path: Path
) -> None:
    rows = lines_of(rotated_run, tmp_path, "sft")

    solved = [part for part in parts if part.success and part.turns]
    assert [row["messages"] for row in rows] == [part.messages() for part in solved]
    assert [row["seat"] for row in rows] == [part.seats[0].name for part in solved]
    assert [row["policy"] for row in rows] == [part.policy for part in solved]
    for row, part in zip(rows, solved, strict=True):
        said = [each["content"] for each in row["messages"] if each["role"] == "assistant"]
        assert said == [turn.action for turn in part.turns]


def test_a_policy_of_a_line_up_and_a_seat_choose_parts(
    rotated_run: Path, parts: list[gem.Episode], tmp_path: Path
) -> None:
    rows = lines_of(
        rotated_run, tmp_path, "sft", policies=["first"], seats=["second"], min_return=-9
    )

    chosen = [part for part in parts if part.policy == "first" and part.seats[0].name == "second"]
    assert [row["total_reward"] for row in rows] == [part.total_reward for part in chosen]


def test_what_no_seat_is_called_gives_nothing_and_names_the_seats(
    rotated_run: Path, tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match="12 of the seat first; 12 of the seat second"):
        lines_of(rotated_run, tmp_path, "sft", seats=["third"])


def test_a_pair_is_of_two_plays_of_one_seat(rotated_run: Path, tmp_path: Path) -> None:
    rows = lines_of(rotated_run, tmp_path, "dpo", margin=0.5)

    for row in rows:
        number = ["first", "second"].index(row["seat"])
        for answers in (row["chosen"], row["rejected"]):
            said = [each["content"] for each in answers if each["role"] == "assistant"]
            assert all(f"I am seat {number}." in text for text in said)


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_parquet_has_a_row_for_each_seat(
    rotated_run: Path, parts: list[gem.Episode], tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    exported = gem_eval.export(rotated_run, to="parquet", out=tmp_path / "x.parquet")

    rows = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert (exported.episodes, exported.rows) == (12, 24)
    assert [row["total_reward"] for row in rows] == [part.total_reward for part in parts]
    assert [row["seat_name"] for row in rows] == ["first", "second"] * 12
    assert [row["seat"] for row in rows] == [0, 1] * 12
    for row in rows:
        assert {turn["seat"] for turn in row["turns"]} <= {row["seat"]}


def test_inspect_has_a_sample_for_each_seat_in_the_log_of_its_policy(
    rotated_run: Path, parts: list[gem.Episode], tmp_path: Path
) -> None:
    gem_eval.export(rotated_run, to="inspect", out=tmp_path / "logs")

    for path in (tmp_path / "logs").glob("*.eval"):
        with zipfile.ZipFile(path) as log:
            header = json.loads(log.read("header.json"))
            names = [name for name in log.namelist() if name.startswith("samples/")]
            samples = [json.loads(log.read(name)) for name in names]
        policy = header["eval"]["model"]
        own = [part for part in parts if part.policy == policy]
        assert len(samples) == len(set(names)) == len(own) == 12
        assert sorted(sample["scores"]["return"]["value"] for sample in samples) == sorted(
            part.total_reward for part in own
        )
        assert header["status"] == "success"


@pytest.mark.skipif(
    sys.version_info < (3, 11) or importlib.util.find_spec("atif") is None,
    reason="atif is not installed",
)
def test_atif_has_a_file_for_each_seat_which_is_not_played_again_alone(
    rotated_run: Path, tmp_path: Path
) -> None:
    from gem_eval.exporting.atif_reading import read

    exported = gem_eval.export(rotated_run, to="atif", out=tmp_path / "files")

    assert (exported.episodes, exported.rows) == (12, 24)
    plain = json.loads((tmp_path / "files" / "000002.json").read_text(encoding="utf-8"))
    assert plain["extra"]["seat"] == "second"
    said = [step["message"] for step in plain["steps"] if step["source"] == "agent"]
    assert all("I am seat 1." in text for text in said)
    with pytest.raises(LogError, match="Replay the log of the run"):
        read(tmp_path / "files" / "000002.json")
