"""Rows: the episodes of a run as a data set, and back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import BadArguments
from gem.testing.envs import Coin
from gem_integrations.rows import Start, main, rows, start_of

COIN = gem.register("rows:Coin", Coin).id


class Three(Coin):
    """A set of three tasks."""

    num_tasks = 3


class Endless(gem.Env):
    """No set of tasks: every seed is an episode of its own."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "start", {}


ENDLESS = gem.register("rows:Endless", Endless).id
THREE = gem.register("rows:Three", Three).id


def test_the_rows_are_the_episodes_of_a_rollout_with_the_same_seed() -> None:
    async def played() -> set[int]:
        run = gem.rollout(lambda request: "heads", COIN, episodes=5, seed=7)
        return {episode.seed async for episode in run}

    made = list(rows(COIN, count=5, seed=7))

    assert {row["seed"] for row in made} == asyncio.run(played())


def test_a_row_names_no_task_where_there_is_no_set_of_tasks() -> None:
    [row] = rows(ENDLESS, count=1)

    assert "task" not in row
    assert start_of(row) == Start(row["seed"], None)


def test_all_rows_of_a_set_are_its_tasks_once_each() -> None:
    made = list(rows(THREE, count="all"))

    assert sorted(row["task"] for row in made) == [0, 1, 2]


def test_the_label_alone_gives_the_episode_back() -> None:
    [row] = rows(THREE, count=1)

    assert start_of(json.loads(row["label"])) == Start(row["seed"], row["task"])


def test_another_seed_gives_other_episodes() -> None:
    [one] = rows(COIN, count=1, seed=1)
    [other] = rows(COIN, count=1, seed=2)

    assert one["seed"] != other["seed"]


def test_every_row_has_the_same_columns_and_a_prompt_of_its_own() -> None:
    made = list(rows(THREE, count=7))

    assert {tuple(row) for row in made} == {tuple(made[0])}
    assert len({row["input"] for row in made}) == 7


def test_another_column_stands_for_a_missing_seed_where_the_caller_names_it() -> None:
    assert start_of({"index": 4}, otherwise="index") == Start(4, None)
    assert start_of({"index": 4, "seed": 9}, otherwise="index") == Start(9, None)


@pytest.mark.parametrize("row", [{}, {"seed": "nine"}, {"seed": 1, "task": "math"}, {"seed": 0.5}])
def test_a_row_that_fixes_no_episode_is_refused_with_the_way_to_make_one(
    row: dict[str, object],
) -> None:
    with pytest.raises(BadArguments, match=r"python -m gem_integrations\.rows"):
        start_of(row)


def test_the_command_writes_json_lines(tmp_path: Path) -> None:
    main([COIN, "--count", "3", "--seed", "5", "--out", str(tmp_path / "train.jsonl")])

    lines = (tmp_path / "train.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == list(rows(COIN, count=3, seed=5))


def test_the_command_hands_arguments_on_to_the_environment(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main([COIN, "--env-kwargs", '{"no": "such"}', "--out", str(tmp_path / "x")])

    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--count", "many"),
        ("--env-kwargs", "[1]"),
        ("--env-kwargs", "{no"),
        ("--wrappers", '{"id": "concat"}'),
    ],
)
def test_what_an_option_cannot_be_is_one_line(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([COIN, option, value, "--out", str(tmp_path / "x")])

    assert ended.value.code == 2
    assert f"argument {option}: {value!r} is no" in capsys.readouterr().err


def test_an_unknown_environment_ends_the_command_with_its_error_and_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rows:Cion", "--out", str(tmp_path / "train.jsonl")])

    assert ended.value.code == 2
    assert "rows:Coin" in capsys.readouterr().err
    assert not (tmp_path / "train.jsonl").exists()


def test_a_file_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "nowhere" / "train.jsonl"
    with pytest.raises(SystemExit) as ended:
        main([COIN, "--out", str(out)])

    assert ended.value.code == 2
    assert f"{out} cannot be written: No such file" in capsys.readouterr().err
