"""Files that are memory-mapped: large ones, and Parquet."""

from __future__ import annotations

import functools
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gem.data import Misfit, RowKind, Table, load_table
from gem.errors import DataError

WriteRows = Callable[..., str]
PADDING = "x" * 1_000_000
VALUES = [
    [{"in": "1\n", "out": ["1"]}, {"in": "2", "more": None}],
    {"fn": "add"},
    12345678901234567890,
    "\ud800",
    *range(6),
]
ROWS = [{"question": f"{n}?", "answer": answer, "pad": PADDING} for n, answer in enumerate(VALUES)]


def read(row: Mapping[str, Any]) -> Mapping[str, Any]:
    if row["answer"] is None:
        raise Misfit("answer", None, "anything else")
    return row


def load(path: str, **options: Any) -> Table[Mapping[str, Any]]:
    kind = RowKind("sum", read=read, needs=("question", "answer"))  # one of its own: a new load
    return load_table(kind, data=path, **options)


@pytest.fixture
def large(write_rows: WriteRows) -> str:
    return write_rows(ROWS)


def test_a_large_file_keeps_its_values(datasets: ModuleType, large: str) -> None:
    table = load(large)
    assert [row["answer"] for row in table] == VALUES
    assert table[3] == {"question": "3?", "answer": "\ud800"}


def test_a_large_file_is_kept_to_its_limit(datasets: ModuleType, large: str) -> None:
    assert [row["question"] for row in load(large, limit=2)] == ["0?", "1?"]


def test_a_large_file_is_written_to_the_cache_once(datasets: ModuleType, large: str) -> None:
    def written() -> list[tuple[str, int]]:
        cache = Path(datasets.config.HF_DATASETS_CACHE)
        return [(str(path), path.stat().st_mtime_ns) for path in cache.rglob("*.arrow")]

    load(large)
    first = written()
    load(large)
    assert len(first) == 1
    assert written() == first


def test_a_large_file_that_changed_is_read_again(
    datasets: ModuleType, large: str, write_rows: WriteRows
) -> None:
    load(large)
    assert len(load(write_rows(ROWS[:9]))) == 9


OTHERS = [{**row, "question": f"{9 - n}?"} for n, row in enumerate(ROWS)]
"""Rows that take as many bytes."""


def test_a_large_file_of_equal_size_and_date_is_read_again(
    datasets: ModuleType, large: str, write_rows: WriteRows
) -> None:
    kind = RowKind("sum", read=read, needs=("question", "answer"))
    old = Path(large).stat()
    load_table(kind, data=large)
    write_rows(OTHERS)
    os.utime(large, ns=(old.st_atime_ns, old.st_mtime_ns))

    new = Path(large).stat()
    assert (new.st_size, new.st_mtime_ns) == (old.st_size, old.st_mtime_ns)
    assert load_table(kind, data=large)[0]["question"] == "9?"  # in this process
    assert load(large)[0]["question"] == "9?"  # in the cache of every process


def test_a_file_of_equal_size_and_date_that_takes_its_place_is_read_instead(
    datasets: ModuleType, large: str, write_rows: WriteRows
) -> None:
    old = Path(large).stat()
    other = write_rows(OTHERS, "other.jsonl")
    os.utime(other, ns=(old.st_atime_ns, old.st_mtime_ns))
    load(large)

    Path(other).rename(large)

    assert load(large)[0]["question"] == "9?"


def test_a_file_that_changes_while_it_is_read_is_refused(
    datasets: ModuleType, large: str, write_rows: WriteRows
) -> None:
    def read(row: Mapping[str, Any]) -> Mapping[str, Any]:
        Path(large).touch()
        return row

    with pytest.raises(DataError, match="changed while it was read"):
        load_table(RowKind("sum", read=read, needs=("question",)), data=large)


def test_an_error_in_a_row_of_a_large_file_comes_through_whole(
    datasets: ModuleType, write_rows: WriteRows
) -> None:
    path = write_rows([*ROWS, {"question": "?", "answer": None}])
    with pytest.raises(DataError) as caught:
        load(path)
    assert (caught.value.source, caught.value.row, caught.value.field) == (path, 11, "answer")


def test_kinds_that_read_by_other_rules_are_checked_apart(datasets: ModuleType, large: str) -> None:
    def read(row: Mapping[str, Any], *, refused: object) -> object:
        if row["answer"] == refused:
            raise Misfit("answer", refused, "anything else")
        return row["answer"]

    lax = RowKind("sum", read=functools.partial(read, refused=None), needs=("answer",))
    strict = RowKind("sum", read=functools.partial(read, refused=3), needs=("answer",))
    assert list(load_table(lax, data=large)) == VALUES
    with pytest.raises(DataError, match="row 8"):
        load_table(strict, data=large)


def test_another_default_is_not_taken_from_the_cache(datasets: ModuleType, large: str) -> None:
    for default in ("a", "b"):
        kind = RowKind("sum", read=dict, needs=("question",), optional={"hint": default})
        assert load_table(kind, data=large)[0]["hint"] == default


def test_a_cache_folder_that_cannot_be_written_is_said(
    datasets: ModuleType, large: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match="cache folder"):
        load(large)


LOAD = """
import json, sys
from pathlib import Path
from gem.data import RowKind, load_table
table = load_table(RowKind("sum", read=dict, needs=("question",)), data={path!r})
maps = Path("/proc/self/maps").read_text() if sys.platform == "linux" else ".arrow"
print(json.dumps([len(table), ".arrow" in maps]))
"""


@pytest.mark.slow
def test_processes_map_one_file_and_print_nothing(
    datasets: ModuleType, large: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", LOAD.format(path=large)],
            env={**os.environ, "HF_HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stderr, json.loads(done.stdout)) == ("", [10, True])
    assert len(list(home.rglob("*.arrow"))) == 1


def test_loading_leaves_the_settings_of_the_library_alone(
    datasets: ModuleType, large: str, write_rows: WriteRows
) -> None:
    def settings() -> tuple[object, ...]:
        hub = importlib.import_module("huggingface_hub.utils")
        return (
            datasets.logging.get_verbosity(),
            hub.logging.get_verbosity(),
            datasets.are_progress_bars_disabled(),
            hub.are_progress_bars_disabled(),
            datasets.config.HF_HUB_OFFLINE,
        )

    before = settings()
    load(large)
    with pytest.raises(DataError):
        load(write_rows([*ROWS, {"question": "?"}]))
    assert settings() == before


def test_bars_that_are_off_stay_off(datasets: ModuleType, large: str) -> None:
    datasets.disable_progress_bars()
    try:
        load(large)
        assert datasets.are_progress_bars_disabled()
    finally:
        datasets.enable_progress_bars()


@pytest.fixture
def parquet(
    datasets: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Mapping[str, Sequence[object]]], Path]:
    """Return a function that writes columns as a Parquet file, as the data library does."""
    monkeypatch.setenv("TQDM_DISABLE", "1")

    def write(columns: Mapping[str, Sequence[object]]) -> Path:
        path = tmp_path / "rows.parquet"
        datasets.Dataset.from_dict(dict(columns)).to_parquet(str(path))
        return path

    return write


Parquet = Callable[[Mapping[str, Sequence[object]]], Path]


def test_a_parquet_file_is_read_by_the_columns_that_matter(parquet: Parquet) -> None:
    path = parquet({"id": [1, 2], "question": ["a", "b"], "answer": [["x", "y"], []]})
    assert list(load(str(path))) == [
        {"question": "a", "answer": ["x", "y"]},
        {"question": "b", "answer": []},
    ]


def test_bytes_of_a_parquet_file_stay_bytes(parquet: Parquet) -> None:
    path = parquet({"question": ["a"], "answer": [b"\xff\x00"]})
    assert load(str(path))[0]["answer"] == b"\xff\x00"


def test_a_parquet_file_without_a_column_is_refused_by_its_name(parquet: Parquet) -> None:
    with pytest.raises(DataError, match="no field 'answer'; its fields are 'question', 'gold'"):
        load(str(parquet({"question": ["a"], "gold": [2]})))


def test_a_null_in_a_parquet_file_is_refused_by_its_row(parquet: Parquet) -> None:
    with pytest.raises(DataError) as caught:
        load(str(parquet({"question": ["a", "b"], "answer": ["2", None]})))
    assert (caught.value.row, caught.value.field) == (2, "answer")


@pytest.mark.parametrize("kept", [0, 1, 100, -1])
def test_a_half_written_parquet_file_is_refused(parquet: Parquet, kept: int) -> None:
    path = parquet({"question": ["a"] * 100, "answer": ["2"] * 100})
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match="not a whole Parquet file"):
        load(str(path))


def test_a_parquet_file_with_broken_pages_is_refused(parquet: Parquet) -> None:
    path = parquet({"question": ["a"] * 100, "answer": ["2"] * 100})
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * 40 + content[44:])
    with pytest.raises(DataError, match="cannot be turned into a table"):
        load(str(path))


def test_a_parquet_file_without_rows_is_refused(parquet: Parquet) -> None:
    with pytest.raises(DataError, match="holds no rows"):
        load(str(parquet({"question": [], "answer": []})))


def test_a_parquet_file_that_changed_is_read_again(parquet: Parquet) -> None:
    assert load(str(parquet({"question": ["a"], "answer": ["2"]})))[0]["answer"] == "2"
    assert load(str(parquet({"question": ["a"], "answer": ["3"]})))[0]["answer"] == "3"


def test_a_parquet_file_of_equal_date_is_read_again(parquet: Parquet) -> None:
    path = parquet({"question": ["a"], "answer": ["2"]})
    old = path.stat()
    before = load(str(path))[0]["answer"]
    parquet({"question": ["a"], "answer": ["3"]})
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert (before, load(str(path))[0]["answer"]) == ("2", "3")


def test_nan_in_a_parquet_file_is_refused_by_its_row(parquet: Parquet) -> None:
    with pytest.raises(DataError) as caught:
        load(str(parquet({"question": ["a", "b"], "answer": [2.0, float("nan")]})))
    assert (caught.value.row, caught.value.field) == (2, "answer")


def test_a_null_that_a_kind_needs_is_refused_though_its_read_takes_it(parquet: Parquet) -> None:
    kind: RowKind[Any] = RowKind("sum", needs=("question", "answer"))
    path = str(parquet({"question": ["a", "b"], "answer": ["2", None]}))
    with pytest.raises(DataError, match="is null, and must be a value") as caught:
        load_table(kind, data=path)
    assert (caught.value.row, caught.value.field) == (2, "answer")


def test_images_of_a_parquet_file_are_not_decoded(
    datasets: ModuleType, images: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "pictures.parquet"
    path.write_bytes(images)
    kind: RowKind[Any] = RowKind("picture", needs=("images",), optional={"image": None})
    table = load_table(kind, data=path)
    assert list(table) == [
        {"image": {"bytes": b"2", "path": "x.png"}, "images": [{"bytes": b"1", "path": None}]},
        {"image": None, "images": []},
    ]
