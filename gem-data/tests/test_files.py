from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gem.data import RowKind, load_table
from gem.errors import DataError
from gem_data._files import read_rows

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
        (b"7", "an int, not a list"),
        (b"[" + GOOD, "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[7]", "row 1: it is an int, not an object"),
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


@pytest.mark.parametrize("before", ["\n", "\r\n\r\n", "\ufeff\n"])
def test_empty_lines_before_the_header_of_a_csv_file_are_passed_over(
    write: Write, before: str
) -> None:
    content = f"{before}problem,answer\n\n1 + 1?,2\n"
    assert rows(write("rows.csv", content.encode())) == [{"problem": "1 + 1?", "answer": "2"}]


@pytest.mark.parametrize(
    ("record", "cause"),
    [
        (b"1,2,3", "more than the 2 fields"),
        (b"1", "fewer than the 2 fields"),
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


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("rows.csv", b"problem,answer\n1 + 1?,2\n2 + 2?,\n", "is empty"),
        ("rows.jsonl", GOOD + b'{"problem": "2 + 2?", "answer": ""}', "is empty"),
        ("rows.json", b"[" + GOOD + b', {"problem": "2 + 2?", "answer": null}]', "is null"),
    ],
)
def test_a_needed_field_without_a_value_is_refused_in_every_kind_of_file(
    write: Write, name: str, content: bytes, what: str
) -> None:
    error = refused(write(name, content))
    assert (error.row, error.field) == (2, "answer")
    assert f"the field 'answer' {what}" in str(error)


def test_a_long_field_of_a_csv_file_is_read_whole(write: Write) -> None:
    before = csv.field_size_limit()
    long = "x" * 200_000

    [row] = rows(write("rows.csv", f'problem,answer\n"{long}",{long}\n'.encode()))

    assert row == {"problem": long, "answer": long}
    assert csv.field_size_limit() == before


def test_a_quote_that_is_never_closed_ends_at_a_limit(write: Write) -> None:
    before = csv.field_size_limit()
    content = b'problem,answer\n1 + 1?,2\n"' + b"x" * (16 << 20) + b'y"'
    kind = RowKind("sum", read=dict, needs=("problem", "answer"))
    table = load_table(kind, data=write("rows.csv", content), limit=2, streaming=True)

    with pytest.raises(DataError, match=r"row 2: it has a field of more than 16,777,216 char"):
        table.check()

    assert csv.field_size_limit() == before


def test_threads_that_read_csv_files_leave_the_limit_as_it_was(write: Write) -> None:
    before = csv.field_size_limit()
    long = b"x" * 140_000
    content = b"problem,answer\n" + (long + b",2\n") * 20
    paths = [write(f"{number}.csv", content) for number in range(4)]

    with ThreadPoolExecutor(4) as threads:
        read = list(threads.map(lambda path: list(read_rows(str(path))), paths))

    assert [len(each) for each in read] == [20] * 4
    assert csv.field_size_limit() == before


def test_a_header_that_names_a_field_twice_is_refused(write: Write) -> None:
    error = refused(write("rows.csv", b"problem,answer,answer\n1 + 1?,2,3\n"))
    assert error.field == "answer"
    assert "'answer' twice" in str(error)


def test_columns_without_a_name_are_left_alone(write: Write) -> None:
    assert len(rows(write("rows.csv", b"problem,answer,,\n1 + 1?,2,,\n"))) == 1


@pytest.mark.parametrize("record", [b"1 + 1?,2,", b"1 + 1?,2,,,"])
def test_columns_without_a_name_are_counted(write: Write, record: bytes) -> None:
    error = refused(write("rows.csv", b"problem,answer,,\n" + record + b"\n"))
    assert "than the 4 fields of the header" in str(error)


@pytest.mark.parametrize(
    ("content", "row", "message"),
    [
        (b'[{"problem": "?",\n "answer" 2}]', 1, "Expecting ':' delimiter at line 2, column 11"),
        (b"[" + GOOD + b',\n {"answer": }]', 2, "at line 3, column 13"),
        (b"[" + GOOD + b" {}]", 2, "Expecting ',' delimiter at line 2, column 2"),
        (b'[{"problem": "?", "answer": 1}', 2, "Expecting ',' delimiter at line 1, column 31"),
        (b"[{}]\n]", 1, "no field 'problem'"),
        (b'[{"problem": "?", "answer": 1}]\n]', 2, "Extra data at line 2, column 1"),
        (b"[" * 100_000, 1, "nested too deeply"),
        (b'[{"problem": "?", "answer": ' + b"9" * 10_000 + b"}]", 1, "Exceeds the limit"),
        (b'{"problem": "?",\n"answer" 2}', None, "Expecting ':' delimiter at line 2, column 10"),
        (b'{"problem": "?", "problem": "!"}', None, "has the key 'problem' twice"),
        (GOOD + GOOD, None, "Name it .jsonl if it has one object a line"),
        (b'[{"problem":\n\n"caf\xe9"}]', None, "line 3: it is not UTF-8"),
        (b" \n", None, "is empty"),
    ],
)
def test_a_broken_json_file_is_told_what_is_wrong_and_where(
    write: Write, content: bytes, row: int | None, message: str
) -> None:
    error = refused(write("rows.json", content))
    assert error.row == row
    assert message in str(error)
    assert "one JSON object a line" not in str(error)


def test_an_error_in_a_line_names_its_column(write: Write) -> None:
    assert "(Expecting value at column 13)" in str(refused(write("r.jsonl", b'{"problem": }')))


@pytest.mark.parametrize("form", ["{}\n{}", "[{},\n{}]"])
@pytest.mark.parametrize(
    "row",
    ['{"answer": 2, "problem": "?", "answer": 3}', '{"problem": [{"answer": 1, "answer": 1}]}'],
)
def test_a_key_that_an_object_has_twice_is_refused_by_its_row(
    write: Write, form: str, row: str
) -> None:
    name = "rows.json" if form.startswith("[") else "rows.jsonl"
    error = refused(write(name, form.format(GOOD.decode().strip(), row).encode()))
    assert error.row == 2
    assert "row 2: it has the key 'answer' twice" in str(error)


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", '["2", {"or": [NaN]}]'])
def test_a_value_that_is_no_number_is_refused_by_row_and_field(write: Write, value: str) -> None:
    content = GOOD + f'{{"problem": "?", "answer": {value}, "score": NaN}}'.encode()
    error = refused(write("rows.jsonl", content))
    assert (error.row, error.field) == (2, "answer")
    assert "and must be a value" in str(error)


def test_nan_where_nothing_is_read_is_left_alone(write: Write) -> None:
    assert len(rows(write("rows.jsonl", b'{"problem": "?", "answer": "2", "score": NaN}'))) == 1


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
    ("name", "content"),
    [("e.jsonl", b""), ("e.jsonl", b"\n\n"), ("e.csv", b""), ("e.csv", b"\n\n")],
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
