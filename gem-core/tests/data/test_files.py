from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gem.data import RowKind, load_table
from gem.errors import DataError

GOOD = b'{"problem": "1 + 1?", "answer": "2"}\n'
Write = Callable[[str, bytes], Path]


def rows(path: Path | str) -> list[Mapping[str, Any]]:
    kind = RowKind("sum", read=dict, needs=("problem", "answer"))
    return list(load_table(kind, data=path))


def refused(path: Path | str) -> DataError:
    """Return the one-line error that reading a file ends with."""
    with pytest.raises(DataError) as caught:
        rows(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def test_a_jsonl_file_is_read_line_by_line(write: Write) -> None:
    path = write("rows.jsonl", b"\xef\xbb\xbf" + GOOD + b"\r\n" + GOOD.replace(b"2", b"3").strip())
    assert [row["answer"] for row in rows(path)] == ["2", "3"]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b"{not json", "not JSON"),
        (b'{"problem": "half', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"problem": "?", "answer": ' + b"9" * 10_000 + b"}", "not JSON"),
        (b'["a"]', "a list, not an object"),
        (b"null", "null, not an object"),
        (b'{"problem": "caf\xe9", "answer": 1}', "not UTF-8"),
    ],
)
def test_a_malformed_line_is_refused_by_its_number(write: Write, line: bytes, cause: str) -> None:
    error = refused(write("rows.jsonl", GOOD + b"\n" + line + b"\n" + GOOD))
    assert error.row == 3
    assert "row 3" in str(error)
    assert cause in str(error)


def test_a_json_file_is_a_list_of_rows(write: Write) -> None:
    path = write("rows.json", b"\xef\xbb\xbf[\n" + GOOD + b",\n" + GOOD.replace(b"2", b"3") + b"]")
    assert [row["answer"] for row in rows(path)] == ["2", "3"]


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (GOOD, "a dict, not a list"),
        (b"7", "a int, not a list"),
        (b"[" + GOOD, "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[7]", "row 1: it is a int, not an object"),
        (b"[]", "holds no rows"),
    ],
)
def test_another_json_file_is_refused(write: Write, content: bytes, cause: str) -> None:
    assert cause in str(refused(write("rows.json", content)))


def test_a_csv_file_is_read_record_by_record(write: Write) -> None:
    content = '\ufeffid,problem,answer\n1,"How many, in\nall?",2\n\n2,Café?,"1,234"\n'
    assert rows(write("rows.csv", content.encode())) == [
        {"problem": "How many, in\nall?", "answer": "2"},
        {"problem": "Café?", "answer": "1,234"},
    ]


@pytest.mark.parametrize(
    ("record", "cause"),
    [
        (b"1,2,3", "more than the 2 fields"),
        (b'"1 + 1?" or,2', "not CSV"),
        (b'"1 + 1?,2', "not CSV"),
        (b"caf\xe9,2", "not UTF-8"),
    ],
)
def test_a_malformed_record_is_refused_by_its_number(
    write: Write, record: bytes, cause: str
) -> None:
    error = refused(write("rows.csv", b"problem,answer\n1 + 1?,2\n" + record + b"\n"))
    assert error.row == 2
    assert cause in str(error)


def test_values_are_kept_as_json_has_them(write: Write) -> None:
    content = (
        b'{"problem": [{"in": "1\\n", "out": ["1"]}, {"in": "2", "more": null}], "answer": 1.5}\n'
        b'{"problem": {"big": 123456789012345678901234567890}, "answer": ["a", "\\ud800"]}\n'
    )
    assert rows(write("rows.jsonl", content)) == [
        {"problem": [{"in": "1\n", "out": ["1"]}, {"in": "2", "more": None}], "answer": 1.5},
        {
            "problem": {"big": 123456789012345678901234567890},
            "answer": ["a", "\ud800"],
        },
    ]


@pytest.mark.parametrize(
    ("name", "content"), [("e.jsonl", b""), ("e.jsonl", b"\n\n"), ("e.csv", b"")]
)
def test_a_file_without_rows_is_refused(write: Write, name: str, content: bytes) -> None:
    assert "holds no rows" in str(refused(write(name, content)))


def test_a_kind_of_file_that_is_not_read_is_answered_by_those_that_are(write: Write) -> None:
    assert ".jsonl, .json, .csv, .parquet" in str(refused(write("rows.txt", GOOD)))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").mkdir()
    assert "cannot be read" in str(refused(tmp_path / "rows.jsonl"))


@pytest.mark.parametrize("name", ["absent.jsonl", "absent/rows.csv", "nul\0.jsonl"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    assert "cannot be opened" in str(refused(tmp_path / name))


def test_capital_endings_are_read(write: Write) -> None:
    assert len(rows(write("ROWS.JSONL", GOOD))) == 1
