"""The rows of a table as questions: of a list, of files, of a kind of the author's own."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem import DatasetEnv
from gem.data import DataSource, RowKind
from gem.errors import BadArguments, DataError
from gem.testing import check_env

ROWS: list[dict[str, Any]] = [
    {"question": "What is the capital of Peru?", "answer": "Lima"},
    {"question": "What is 6 * 7?", "answer": 42},
    {"question": "Is ice cold?", "answer": True},
]


class Capitals(DatasetEnv[dict[str, Any]]):
    """Name the capital of a country."""

    kind = RowKind("country", needs=("country", "capital"))

    def pose(self) -> str:
        return f"What is the capital of {self.row['country']}?"

    def gold(self) -> str:
        return str(self.row["capital"])


COUNTRIES = [{"country": "Peru", "capital": "Lima"}, {"country": "Mali", "capital": "Bamako"}]


def written_json(path: Path) -> None:
    path.write_text(json.dumps(ROWS), encoding="utf-8")


def written_jsonl(path: Path) -> None:
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")


def written_csv(path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["question", "answer"])
        writer.writeheader()
        writer.writerows(ROWS)


@pytest.mark.parametrize(
    ("name", "write"),
    [("q.json", written_json), ("q.jsonl", written_jsonl), ("q.csv", written_csv)],
)
def test_a_file_of_questions_is_an_environment(
    tmp_path: Path, name: str, write: Callable[[Path], None]
) -> None:
    write(tmp_path / name)
    gem.register("demo:Mine", DatasetEnv, data=str(tmp_path / name))

    with gem.make("demo:Mine") as env:
        assert env.num_tasks == 3
        for task, said in enumerate(["lima", "42", "true"]):
            text, info = env.reset(task=task)
            assert str(text).startswith(ROWS[task]["question"])
            assert info == {"task": task}
            assert env.step(rf"\boxed{{{said}}}").info["success"]


def test_an_environment_over_a_table_is_good_by_every_check() -> None:
    gem.register("demo:Capitals", Capitals, data=COUNTRIES * 5)

    report = check_env("demo:Capitals", backends=["sync"], seeds=range(5))

    assert report.is_good, report.failures


def test_rows_of_a_kind_of_one_s_own_are_dictionaries() -> None:
    env = Capitals(data=COUNTRIES, fields={"capital": "capital"})
    text, _ = env.reset(task=1)

    assert env.row == {"country": "Mali", "capital": "Bamako"}
    assert str(text).startswith("What is the capital of Mali?")
    assert env.solve() == r"\boxed{Bamako}"


def test_a_kind_may_be_given_to_the_constructor() -> None:
    kind = RowKind("word", read=lambda row: row["word"], needs=("word",))

    env = DatasetEnv(kind=kind, data=[{"word": "kettle"}])
    env.task = 0

    assert env.row == "kettle"
    assert env.gold() is None
    with pytest.raises(NotImplementedError, match="does not define pose"):
        env.reset()


def test_fields_split_and_limit_are_those_of_every_table() -> None:
    rows = [{"q": "1 + 1?", "a": 2}, {"q": "1 + 2?", "a": 3}]
    env = DatasetEnv(data=rows, fields={"question": "q", "answer": "a"}, limit=1)

    assert env.num_tasks == 1
    with pytest.raises(BadArguments, match="split='test' was asked for"):
        DatasetEnv(data=ROWS, split="test")


def test_arguments_are_checked_by_name_and_type() -> None:
    gem.register("demo:Mine", DatasetEnv, data=ROWS)

    with pytest.raises(BadArguments, match="limit='3' does not fit"):
        gem.make("demo:Mine", limit="3")
    with pytest.raises(BadArguments, match=r"takes no 'file'.*data: .* = None.*streaming: bool"):
        gem.make("demo:Mine", file="q.csv")


def test_a_short_list_that_is_registered_is_as_it_was_then() -> None:
    rows = [{"question": "1 + 1?", "answer": 2}]
    gem.register("demo:Mine", DatasetEnv, data=rows)
    rows.append({"question": "1 + 2?", "answer": 3})

    assert gem.make("demo:Mine").num_tasks == 1
    assert gem.make("demo:Mine", data=rows).num_tasks == 2


def test_a_long_list_that_is_registered_is_read_where_it_is() -> None:
    rows = [{"question": f"{number} + 1?" * 50, "answer": number + 1} for number in range(400)]
    gem.register("demo:Mine", DatasetEnv, data=rows)
    rows.append({"question": "1 + 2?", "answer": 3})

    assert gem.make("demo:Mine").num_tasks == 401


def test_without_rows_the_error_says_what_to_give() -> None:
    with pytest.raises(BadArguments, match="Give data="):
        DatasetEnv()


def test_data_of_which_only_the_page_is_known_is_asked_for() -> None:
    source = DataSource(homepage="https://example.org/set", licence="MIT")

    with pytest.raises(DataError, match=r"Get https://example.org/set \(licence: MIT\)") as caught:
        DatasetEnv(source=source)
    assert "the fields 'question', 'answer'" in str(caught.value)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"question": " ", "answer": "x"}, "'question' is ' ', and must be text"),
        ({"question": "\ud800", "answer": "x"}, "'question' is .*, and must be text"),
        ({"question": "?", "answer": ["x"]}, "'answer' is .*, and must be a text or a number"),
        ({"question": "?"}, "there is no field 'answer'"),
    ],
)
def test_a_row_that_does_not_fit_is_one_clear_error(row: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataError, match=f"row 2: .*{problem}"):
        DatasetEnv(data=[ROWS[0], row])


def test_instances_share_a_table_that_no_snapshot_holds() -> None:
    rows = [{"question": f"Is it {n}?", "answer": n} for n in range(1000)]
    one, other = DatasetEnv(data=rows), DatasetEnv(data=rows)
    one.reset(task=7)

    assert one.table is other.table
    assert len(one.snapshot().to_json()) < 10_000
    assert one.fork().step(r"\boxed{7}").reward == 1.0
