from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gem.errors import DataError
from gem_envs_math.rows import Keys, Problem, check_row, read_problems

KEYS = Keys("problem", "answer")
GOOD = b'{"problem": "1 + 1?", "answer": "2"}\n'


def problems(path: Path | str) -> list[Problem]:
    return list(read_problems(str(path), KEYS))


def refused(path: Path | str) -> DataError:
    """Return the one-line error that reading a file ends with."""
    with pytest.raises(DataError) as caught:
        problems(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


Write = Callable[[str, bytes], Path]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        *((18, "18"), (-18, "-18"), (18.0, "18.0"), (0.5, "0.5"), (Decimal("1.50"), "1.50")),
        *(("1,234", "1,234"), (" 18 ", "18"), ("1/2", "1/2")),
        ("He has 9 + 9 = <<9+9=18>>18.\n#### 18", "18"),
    ],
)
def test_answers_are_numbers_or_texts_of_numbers(answer: object, text: str) -> None:
    assert check_row({"problem": "?", "answer": answer}, 1, "rows", KEYS) == ("?", text)


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"problem": "?", "answer": None}, "answer"),
        ({"problem": "?", "answer": True}, "answer"),
        ({"problem": "?", "answer": ["18"]}, "answer"),
        ({"problem": "?", "answer": ""}, "answer"),
        ({"problem": "?", "answer": "eighteen"}, "answer"),
        ({"problem": "?", "answer": "18 #### "}, "answer"),
        ({"problem": "?", "answer": float("nan")}, "answer"),
        ({"problem": "?", "answer": 10**300}, "answer"),
        ({"problem": None, "answer": 18}, "problem"),
        ({"problem": 7, "answer": 18}, "problem"),
        ({"problem": " ", "answer": 18}, "problem"),
        ({"problem": "\ud800", "answer": 18}, "problem"),
        ({"answer": 18}, "problem"),
        ({"problem": "?", "solution": 18}, "answer"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_row_and_field(row: Any, field: str) -> None:
    with pytest.raises(DataError, match=f"rows, row 7: .*'{field}'") as caught:
        check_row(row, 7, "rows", KEYS)
    assert (caught.value.source, caught.value.row, caught.value.field) == ("rows", 7, field)


def test_a_missing_field_is_answered_by_those_that_exist() -> None:
    with pytest.raises(DataError, match="its fields are 'question', 'answer'"):
        check_row({"question": "?", "answer": 18}, 1, "rows", KEYS)


def test_a_jsonl_file_is_read_line_by_line(write: Write) -> None:
    path = write("rows.jsonl", b"\xef\xbb\xbf" + GOOD + b"\r\n" + GOOD.replace(b"2", b"3").strip())
    assert problems(path) == [("1 + 1?", "2"), ("1 + 1?", "3")]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b"{not json", "not JSON"),
        (b'{"problem": "half', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"problem": "?", "answer": ' + b"9" * 10_000 + b"}", "not JSON"),
        (b'["a"]', "a list, not a JSON object"),
        (b"null", "null, not a JSON object"),
        (b'{"problem": "caf\xe9", "answer": 1}', "not UTF-8"),
    ],
)
def test_a_malformed_line_is_refused_by_its_number(write: Write, line: bytes, cause: str) -> None:
    error = refused(write("rows.jsonl", GOOD + b"\n" + line + b"\n" + GOOD))
    assert error.row == 3
    assert "row 3" in str(error)
    assert cause in str(error)


def test_a_csv_file_is_read_record_by_record(write: Write) -> None:
    content = '\ufeffid,problem,answer\n1,"How many, in\nall?",2\n\n2,Café?,"1,234"\n'
    path = write("rows.csv", content.encode())
    assert problems(path) == [("How many, in\nall?", "2"), ("Café?", "1,234")]


@pytest.mark.parametrize(
    ("record", "cause"),
    [
        (b"1,2,3", "more than the 2 fields"),
        (b'"1 + 1?" or,2', "not CSV"),
        (b'"1 + 1?,2', "not CSV"),
        (b"caf\xe9,2", "not UTF-8"),
        (b"1 + 1?", "'answer' is None"),
        (b"1 + 1?,two", "'answer' is 'two'"),
    ],
)
def test_a_malformed_record_is_refused_by_its_number(
    write: Write, record: bytes, cause: str
) -> None:
    error = refused(write("rows.csv", b"problem,answer\n1 + 1?,2\n" + record + b"\n"))
    assert error.row == 2
    assert cause in str(error)


@pytest.fixture
def parquet(datasets: ModuleType, tmp_path: Path) -> Callable[[dict[str, list[Any]]], Path]:
    """Return a function that writes columns as a Parquet file, as the data library does."""

    def write(columns: dict[str, list[Any]]) -> Path:
        path = tmp_path / "rows.parquet"
        datasets.Dataset.from_dict(columns).to_parquet(str(path))
        return path

    return write


Parquet = Callable[[dict[str, list[Any]]], Path]


@pytest.fixture(autouse=True)
def _no_progress_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TQDM_DISABLE", "1")


def test_a_parquet_file_is_read_by_its_two_columns(parquet: Parquet) -> None:
    path = parquet({"id": [1, 2], "problem": ["1 + 1?", "1 + 2?"], "answer": [2, 3]})
    assert problems(path) == [("1 + 1?", "2"), ("1 + 2?", "3")]


def test_a_parquet_file_without_a_column_is_refused_by_its_name(parquet: Parquet) -> None:
    error = refused(parquet({"problem": ["1 + 1?"], "solution": [2]}))
    assert error.field == "answer"
    assert "'problem', 'solution'" in str(error)


def test_a_null_in_a_parquet_file_is_refused_by_its_row(parquet: Parquet) -> None:
    error = refused(parquet({"problem": ["1 + 1?", "1 + 2?"], "answer": ["2", None]}))
    assert (error.row, error.field) == (2, "answer")


@pytest.mark.parametrize("kept", [0, 1, 100, -1])
def test_a_half_written_parquet_file_is_refused(parquet: Parquet, kept: int) -> None:
    path = parquet({"problem": ["1 + 1?"] * 100, "answer": ["2"] * 100})
    path.write_bytes(path.read_bytes()[:kept])
    assert "not a whole Parquet file" in str(refused(path))


@pytest.mark.parametrize(
    ("name", "content"), [("e.jsonl", b""), ("e.jsonl", b"\n\n"), ("e.csv", b"")]
)
def test_a_file_without_rows_is_refused(write: Write, name: str, content: bytes) -> None:
    assert "holds no rows" in str(refused(write(name, content)))


def test_a_parquet_file_without_rows_is_refused(parquet: Parquet) -> None:
    assert "holds no rows" in str(refused(parquet({"problem": [], "answer": []})))


def test_a_kind_of_file_that_is_not_read_is_answered_by_those_that_are(write: Write) -> None:
    error = refused(write("rows.txt", GOOD))
    assert ".jsonl, .csv, .parquet" in str(error)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").mkdir()
    assert "cannot be read" in str(refused(tmp_path / "rows.jsonl"))


def test_capital_endings_are_read(write: Write) -> None:
    assert problems(write("ROWS.JSONL", GOOD)) == [("1 + 1?", "2")]


def test_other_keys_are_read(write: Write) -> None:
    row = {"q": "1 + 1?", "a": 2}
    path = write("rows.jsonl", json.dumps(row).encode())
    assert list(read_problems(str(path), Keys("q", "a"))) == [("1 + 1?", "2")]
