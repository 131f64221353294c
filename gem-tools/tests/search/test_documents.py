"""Reading documents: their forms, and what is wrong with those that are none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gem.errors import DataError
from gem_tools.search.documents import Document, Fields, read_documents


def read(source: Any, **fields: str) -> list[Document]:
    return [document for document, _ in read_documents(source, Fields(**fields))]


def lines(rows: Iterable[object]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_a_row_has_an_id_a_title_and_a_text() -> None:
    assert read([{"id": "a", "title": " A  title\n", "text": "Text.\n"}]) == [
        Document("a", "A title", "Text.\n")
    ]


def test_a_row_without_an_id_or_title_has_its_number() -> None:
    rows = [{"text": "x"}, {"text": "y", "title": None}]

    assert read(rows) == [Document("1", "", "x"), Document("2", "", "y")]


def test_contents_begin_with_a_title() -> None:
    row = {"id": 3, "contents": '"The Orrery"\nA model.\nOf planets.'}

    assert read([row]) == [Document("3", "The Orrery", "A model.\nOf planets.")]


def test_other_fields_can_be_named() -> None:
    row = {"key": "k", "name": "n", "body": "b", "text": "not this"}

    assert read([row], id="key", title="name", text="body") == [Document("k", "n", "b")]


def test_text_that_cannot_be_encoded_is_replaced() -> None:
    assert read([{"id": "\ud800", "title": "\ud800", "text": "\udfff"}]) == [
        Document("\ufffd", "\ufffd", "\ufffd")
    ]


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.jsonl.gz"])
def test_a_file_of_lines_is_read_with_its_progress(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    plain = lines({"text": str(number)} for number in range(100))
    path.write_bytes(gzip.compress(plain) if name.endswith("gz") else plain)

    found = list(read_documents(path, Fields()))

    assert [document.text for document, _ in found] == [str(number) for number in range(100)]
    assert [share for _, share in found] == sorted(share or 0 for _, share in found)
    assert found[-1][1] == 1


def test_a_table_of_datasets_is_read(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_list([{"id": "a", "text": "x"}, {"id": "b", "text": "y"}])
    table.save_to_disk(str(tmp_path / "table"))

    assert (
        read(table) == read(tmp_path / "table") == [Document("a", "", "x"), Document("b", "", "y")]
    )


def test_a_folder_of_several_tables_is_refused_by_their_names(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_list([{"text": "x"}])
    datasets.DatasetDict({"train": table, "test": table}).save_to_disk(str(tmp_path / "tables"))

    with pytest.raises(DataError, match=r"several tables.*train.*test"):
        read(tmp_path / "tables")


def test_a_folder_that_is_no_table_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    with pytest.raises(DataError, match="no table that `datasets` saved"):
        read(tmp_path)


def test_a_path_where_nothing_is_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"There is no .*absent"):
        read(tmp_path / "absent.jsonl")


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({}, "text"),
        ({"text": 3}, "text"),
        ({"text": None}, "text"),
        ({"contents": 3}, "text"),
        ({"text": "x", "title": 3}, "title"),
        ({"text": "x", "id": None}, "id"),
        ({"text": "x", "id": True}, "id"),
        ({"text": "x", "id": 1.5}, "id"),
        ("text", None),
        (["text"], None),
    ],
)
def test_what_is_no_document_is_named_by_row_and_field(row: object, field: str | None) -> None:
    with pytest.raises(DataError, match="Row 2 of list is no document") as caught:
        read([{"text": "fine"}, row])

    assert (caught.value.row, caught.value.field) == (2, field)


@pytest.mark.parametrize("line", [b"{", b"", b"\xff", b"[" * 100_000], ids=repr)
def test_a_line_that_is_no_json_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(lines([{"text": "fine"}]) + line + b"\n")

    with pytest.raises(DataError, match=r"Row 2 of .* is no JSON") as caught:
        read(path)

    assert caught.value.row == 2


def test_a_gzip_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl.gz"
    whole = gzip.compress(lines({"text": str(number)} for number in range(1000)))
    path.write_bytes(whole[: len(whole) // 2])

    with pytest.raises(DataError, match="Check that the file is whole"):
        read(path)
