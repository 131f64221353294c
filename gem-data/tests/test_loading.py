from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gem.data import DataSource, RowKind, Table, load_table
from gem.errors import BadArguments, DataError, MissingRequirement

SUMS: RowKind[tuple[str, object]] = RowKind(
    "sum", read=lambda row: (row["question"], row["answer"]), needs=("question", "answer")
)
ROWS: list[dict[str, object]] = [
    {"question": "1 + 1?", "answer": "2"},
    {"question": "1 + 2?", "answer": 3},
]
SAME = [("1 + 1?", "2"), ("1 + 2?", 3)]
WriteRows = Callable[..., str]


def test_a_list_is_one_table_and_no_copy() -> None:
    rows = [dict(row) for row in ROWS]
    table = load_table(SUMS, data=rows)
    rows[0]["question"] = "2 + 0?"
    assert load_table(SUMS, data=rows) is table
    assert table[0] == ("2 + 0?", "2")


def test_a_list_that_grew_is_another_table() -> None:
    rows = [dict(row) for row in ROWS]
    table = load_table(SUMS, data=rows)
    rows.append({"question": "2 + 2?", "answer": "4"})
    assert load_table(SUMS, data=rows)[2] == ("2 + 2?", "4")
    assert list(table) == SAME
    rows.append({"question": "2 + 3?", "answer": None})
    with pytest.raises(DataError, match="row 4: the field 'answer' is null"):
        load_table(SUMS, data=rows)


def test_equal_lists_are_tables_of_their_own() -> None:
    assert load_table(SUMS, data=list(ROWS)) is not load_table(SUMS, data=list(ROWS))


def test_a_list_is_let_go_with_its_table() -> None:
    class Rows(list[Any]):
        """A list that can be referred to weakly."""

    rows = Rows(ROWS)
    alive = weakref.ref(rows)
    table = load_table(SUMS, data=rows)
    del rows, table
    gc.collect()
    assert alive() is None


def test_a_dataset_is_read_as_it_is(datasets: ModuleType) -> None:
    columns = {"question": ["1 + 1?", "1 + 2?"], "answer": [2, 3], "other": [None, None]}
    rows = datasets.Dataset.from_dict(columns).with_format("numpy")
    table = load_table(SUMS, data=rows)
    assert list(table) == [("1 + 1?", 2), ("1 + 2?", 3)]
    assert load_table(SUMS, data=rows) is table


def test_a_dataset_without_a_column_is_refused_by_its_name(datasets: ModuleType) -> None:
    rows = datasets.Dataset.from_dict({"problem": ["1 + 1?"], "answer": [2]})
    with pytest.raises(DataError, match=r"no field 'question'.*'problem', 'answer'"):
        load_table(SUMS, data=rows)


def test_a_split_of_a_dictionary_of_splits_is_chosen(datasets: ModuleType) -> None:
    splits = datasets.DatasetDict(
        train=datasets.Dataset.from_list([{"question": "1 + 1?", "answer": 2}]),
        test=datasets.Dataset.from_list([{"question": "1 + 2?", "answer": 3}]),
    )
    assert list(load_table(SUMS, data=splits, split="test")) == [("1 + 2?", 3)]
    for asked in (None, "dev"):
        with pytest.raises(BadArguments, match=r"'train', 'test'. Choose one with split="):
            load_table(SUMS, data=splits, split=asked)


def test_a_table_of_another_making_is_read() -> None:
    class Squares:
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> dict[str, object]:
            return {"question": f"{index} * {index}?", "answer": index**2}

        def __iter__(self) -> Iterator[dict[str, object]]:
            return map(self.__getitem__, range(3))

    Sequence.register(Squares)
    assert load_table(SUMS, data=Squares())[2] == ("2 * 2?", 4)
    assert len(list(load_table(SUMS, data=Squares()))) == 3


@pytest.mark.parametrize("rows", [{"question": "1 + 1?"}, {1, 2}, object(), 7])
def test_what_is_no_table_is_refused(rows: Any) -> None:
    with pytest.raises(BadArguments, match="Give the path of a file"):
        load_table(SUMS, data=rows)


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(DataError, match="The list given as data= holds no rows"):
        load_table(SUMS, data=[])


def test_a_file_is_one_table_for_the_process(write_rows: WriteRows) -> None:
    path = write_rows(ROWS)
    table = load_table(SUMS, data=path)
    assert list(table) == SAME
    assert load_table(SUMS, data=Path(path)) is table


def test_a_file_under_another_spelling_is_the_same_table(
    write_rows: WriteRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(write_rows(ROWS))
    table = load_table(SUMS, data=path)
    monkeypatch.chdir(path.parent)
    assert load_table(SUMS, data=path.name) is table


def test_threads_that_load_at_once_get_one_table(write_rows: WriteRows) -> None:
    path, loaded = write_rows(ROWS), list[Table[Any]]()
    threads = [
        threading.Thread(target=lambda: loaded.append(load_table(SUMS, data=path)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 8
    assert len(set(map(id, loaded))) == 1


def test_a_file_that_changed_is_read_again(write_rows: WriteRows) -> None:
    load_table(SUMS, data=write_rows(ROWS))
    assert list(load_table(SUMS, data=write_rows(ROWS[:1]))) == SAME[:1]


def test_other_fields_make_another_table(write_rows: WriteRows) -> None:
    path = write_rows([{**ROWS[0], "easier": "1 + 0?"}])
    load_table(SUMS, data=path)
    assert load_table(SUMS, data=path, fields={"question": "easier"})[0] == ("1 + 0?", "2")


def test_another_kind_makes_another_table(write_rows: WriteRows) -> None:
    path = write_rows(ROWS)
    load_table(SUMS, data=path)
    answers = RowKind("answer", read=lambda row: row["answer"], needs=("answer",))
    assert list(load_table(answers, data=path)) == ["2", 3]


def test_a_corrected_file_loads(write_rows: WriteRows) -> None:
    with pytest.raises(DataError):
        load_table(SUMS, data=write_rows([{"question": "1 + 1?"}]))
    assert list(load_table(SUMS, data=write_rows(ROWS))) == SAME


def test_the_fields_of_a_source_hold_for_a_file(write_rows: WriteRows) -> None:
    path = write_rows([{"problem": "1 + 1?", "gold": 2, "easy": 1}])
    source = DataSource(hub="acme/sums", fields={"question": "problem", "answer": "gold"})
    assert load_table(SUMS, source=source, data=path)[0] == ("1 + 1?", 2)
    changed = load_table(SUMS, source=source, data=path, fields={"answer": "easy"})
    assert changed[0] == ("1 + 1?", 1)


@pytest.mark.parametrize("form", ["file", "list"])
def test_a_file_and_a_list_are_the_split_train(write_rows: WriteRows, form: str) -> None:
    data = write_rows(ROWS) if form == "file" else ROWS
    assert list(load_table(SUMS, data=data, split="train")) == list(load_table(SUMS, data=data))
    with pytest.raises(BadArguments, match=rf"of the {form} .*, which is one split, 'train'"):
        load_table(SUMS, data=data, split="test")


def test_a_dataset_is_the_split_that_it_states(datasets: ModuleType) -> None:
    rows = [{"question": "1 + 1?", "answer": 2}]
    stated = datasets.Dataset.from_list(rows, split="test")
    assert list(load_table(SUMS, data=stated, split="test")) == [("1 + 1?", 2)]
    with pytest.raises(BadArguments, match=r"of the Dataset .*, which is one split, 'test'"):
        load_table(SUMS, data=stated, split="train")
    unstated = datasets.Dataset.from_list(rows)
    assert list(load_table(SUMS, data=unstated, split="train")) == [("1 + 1?", 2)]


@pytest.mark.parametrize("source", [None, DataSource()])
def test_nothing_to_read_from_is_refused(source: DataSource | None) -> None:
    wanted = r"^A table was asked for, each row a sum, .*Give data=, a path or a table, or source="
    with pytest.raises(BadArguments, match=wanted):
        load_table(SUMS, source=source)


@pytest.mark.parametrize("form", ["file", "list"])
def test_a_limit_keeps_the_first_rows(write_rows: WriteRows, form: str) -> None:
    data = write_rows(ROWS) if form == "file" else ROWS
    assert list(load_table(SUMS, data=data, limit=1)) == SAME[:1]
    assert list(load_table(SUMS, data=data, limit=9)) == SAME


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(BadArguments, match="Give 1 or more"):
        load_table(SUMS, data=ROWS, limit=limit)


def test_a_stream_wants_a_limit(write_rows: WriteRows) -> None:
    with pytest.raises(BadArguments, match="limit="):
        load_table(SUMS, data=write_rows(ROWS), streaming=True)


class TestAStreamedFile:
    @pytest.fixture
    def path(self, tmp_path: Path) -> str:
        """Return a file whose fourth line is not reached in any of these tests."""
        good = '{"question": "1 + 1?", "answer": 2}\n'
        (tmp_path / "rows.jsonl").write_text(good * 3 + "broken\n")
        return str(tmp_path / "rows.jsonl")

    def test_is_read_no_further_than_needed(self, path: str) -> None:
        table = load_table(SUMS, data=path, streaming=True, limit=3)
        assert len(table) == 3
        assert table[2] == table[0] == ("1 + 1?", 2)
        assert list(table) == [("1 + 1?", 2)] * 3

    def test_is_checked_as_it_comes(self, path: str) -> None:
        table = load_table(SUMS, data=path, streaming=True, limit=4)
        with pytest.raises(DataError, match="row 4: it is not JSON"):
            table[3]

    def test_has_no_row_from_the_first_that_does_not_fit(self, write_rows: WriteRows) -> None:
        path = write_rows([ROWS[0], {"answer": 1}, ROWS[1]])
        table = load_table(SUMS, data=path, streaming=True, limit=3)
        for index in (1, 1, 2):
            with pytest.raises(DataError, match="row 2: there is no field 'question'"):
                table[index]
        assert table[0] == SAME[0]

    def test_that_is_changed_meanwhile_is_said(self, write_rows: WriteRows) -> None:
        path = write_rows([*ROWS, *ROWS])
        table = load_table(SUMS, data=path, streaming=True, limit=4)
        assert table[0] == SAME[0]
        write_rows([*ROWS, *ROWS, *ROWS])
        with pytest.raises(DataError, match="was changed while it was read"):
            table[1]

    def test_that_ends_early_is_said(self, write_rows: WriteRows) -> None:
        table = load_table(SUMS, data=write_rows(ROWS), streaming=True, limit=3)
        assert table[1] == SAME[1]
        with pytest.raises(DataError, match="asked for limit=3 rows, and has 2"):
            table[2]


@pytest.mark.parametrize("index", [2, -3])
def test_an_index_outside_the_table_is_refused(index: int) -> None:
    with pytest.raises(IndexError):
        load_table(SUMS, data=ROWS)[index]


def test_a_row_is_had_as_the_kind_reads_it() -> None:
    table = load_table(SUMS, data=ROWS)
    assert table.record(1) == ROWS[1]
    assert list(table.records()) == ROWS


IMPORT = """
import sys, gem, gem.data
kind = gem.data.RowKind("sum", read=dict, needs=("question",))
gem.data.load_table(kind, data=[{"question": "?"}])
gem.data.load_table(kind, data=sys.argv[1])
heavy = {"datasets", "pyarrow", "huggingface_hub", "pandas", "fsspec", "numpy"}
print(sorted(heavy & set(sys.modules)))
"""


def test_small_tables_import_nothing_heavy(write_rows: WriteRows) -> None:
    command = [sys.executable, "-c", IMPORT, write_rows(ROWS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.skipif(find_spec("datasets") is not None, reason="the extra `datasets` is installed")
def test_without_the_extra_the_answer_is_the_pip_command(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").touch()
    with pytest.raises(MissingRequirement, match='pip install "datasets>='):
        load_table(SUMS, source=DataSource(hub="acme/sums"))
    with pytest.raises(MissingRequirement, match='pip install "datasets>='):
        load_table(SUMS, data=tmp_path / "rows.parquet")
