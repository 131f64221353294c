from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gem.errors import BadArguments, DataError
from gem_envs_math.rows import Keys
from gem_envs_math.tables import Table, load_file, load_hub, load_memory

KEYS = Keys("problem", "answer")
ROWS: list[dict[str, object]] = [
    {"problem": "1 + 1?", "answer": "2"},
    {"problem": "1 + 2?", "answer": 3},
]
PROBLEMS = [("1 + 1?", "2"), ("1 + 2?", "3")]
TEXTS = [{"problem": question, "answer": answer} for question, answer in PROBLEMS]
WriteRows = Callable[..., str]


def contents(table: Table) -> list[tuple[str, str]]:
    return [table[task] for task in range(len(table))]


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, where every warning is an error."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_file_holds_its_rows(datasets: ModuleType, write_rows: WriteRows) -> None:
    assert contents(load_file(write_rows(ROWS), KEYS)) == PROBLEMS


def test_a_file_is_one_table_for_the_process(datasets: ModuleType, write_rows: WriteRows) -> None:
    path = write_rows(ROWS)
    assert load_file(path, KEYS) is load_file(Path(path), KEYS)


def test_a_file_under_another_spelling_is_the_same_table(
    datasets: ModuleType, write_rows: WriteRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(write_rows(ROWS))
    table = load_file(path, KEYS)
    monkeypatch.chdir(path.parent)
    assert load_file(path.name, KEYS) is table


def test_threads_that_load_at_once_get_one_table(
    datasets: ModuleType, write_rows: WriteRows
) -> None:
    path, loaded = write_rows(ROWS), []
    threads = [
        threading.Thread(target=lambda: loaded.append(load_file(path, KEYS))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 8
    assert len(set(map(id, loaded))) == 1


def test_a_file_that_changed_is_read_again(datasets: ModuleType, write_rows: WriteRows) -> None:
    load_file(write_rows(ROWS), KEYS)
    assert contents(load_file(write_rows(ROWS[:1]), KEYS)) == PROBLEMS[:1]


def test_other_keys_make_another_table(datasets: ModuleType, write_rows: WriteRows) -> None:
    path = write_rows([{"problem": "1 + 1?", "easier": "1 + 0?", "answer": 2, "less": 1}])
    load_file(path, KEYS)
    assert contents(load_file(path, Keys("easier", "less"))) == [("1 + 0?", "1")]


LOAD = """
import json, sys
from pathlib import Path
from gem_envs_math.rows import Keys
from gem_envs_math.tables import load_file
table = load_file({path!r}, Keys("problem", "answer"))
maps = Path("/proc/self/maps").read_text() if sys.platform == "linux" else ".arrow"
print(json.dumps([len(table), ".arrow" in maps]))
"""


def test_a_file_is_written_as_arrow_once_and_mapped_from_there(
    datasets: ModuleType, write_rows: WriteRows, tmp_path: Path
) -> None:
    load, home = LOAD.format(path=write_rows(ROWS)), tmp_path / "home"
    runs, written = [], []
    for _ in range(2):
        runs.append(python(load, HF_HOME=str(home)))
        written.append([(path, path.stat().st_mtime_ns) for path in home.rglob("*.arrow")])
    assert [json.loads(run.stdout) for run in runs] == [[2, True], [2, True]]
    assert written[0] == written[1]
    assert len(written[0]) == 1


def test_loading_prints_nothing(
    datasets: ModuleType, write_rows: WriteRows, tmp_path: Path
) -> None:
    done = python(LOAD.format(path=write_rows(ROWS)), HF_HOME=str(tmp_path / "home"))
    assert (done.returncode, done.stderr) == (0, "")


def test_loading_leaves_the_settings_of_the_library_alone(
    datasets: ModuleType, write_rows: WriteRows
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
    load_file(write_rows(ROWS), KEYS)
    with pytest.raises(DataError):
        load_file(write_rows([]), KEYS)
    assert settings() == before


def test_an_error_in_a_row_comes_through_whole(datasets: ModuleType, write_rows: WriteRows) -> None:
    path = write_rows([ROWS[0], {"problem": "1 + 2?"}])
    with pytest.raises(DataError) as caught:
        load_file(path, KEYS)
    assert (caught.value.source, caught.value.row, caught.value.field) == (path, 2, "answer")


def test_a_corrected_file_loads(datasets: ModuleType, write_rows: WriteRows) -> None:
    with pytest.raises(DataError):
        load_file(write_rows([{"problem": "1 + 1?"}]), KEYS)
    assert contents(load_file(write_rows(ROWS), KEYS)) == PROBLEMS


@pytest.mark.parametrize("name", ["absent.jsonl", "absent/rows.csv", "", "nul\0.jsonl"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name) if name else "absent"
    with pytest.raises(DataError, match="cannot be opened") as caught:
        load_file(path, KEYS)
    assert path in str(caught.value)


@pytest.mark.parametrize("name", ["rows", "rows.jsonl"])
def test_a_folder_is_no_file(datasets: ModuleType, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match="cannot be opened"):
        load_file(tmp_path / name, KEYS)


def test_a_cache_folder_that_cannot_be_written_is_said(
    datasets: ModuleType, write_rows: WriteRows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match="cache folder"):
        load_file(write_rows(ROWS), KEYS)


def test_rows_in_memory_are_one_table_and_no_copy() -> None:
    rows = [dict(row) for row in ROWS]
    table = load_memory(rows, KEYS)
    rows[0]["problem"] = "2 + 0?"
    assert load_memory(rows, KEYS) is table
    assert table[0].question == "2 + 0?"


def test_equal_rows_in_memory_are_tables_of_their_own() -> None:
    assert load_memory(list(ROWS), KEYS) is not load_memory(list(ROWS), KEYS)


def test_rows_in_memory_are_let_go_with_their_table(datasets: ModuleType) -> None:
    import weakref

    rows = datasets.Dataset.from_list([{"problem": "1 + 1?", "answer": 2}])
    alive = weakref.ref(rows)
    table = load_memory(rows, KEYS)
    del rows, table
    gc.collect()
    assert alive() is None


def test_a_dataset_in_memory_is_read_as_it_is(datasets: ModuleType) -> None:
    rows = datasets.Dataset.from_dict(
        {"problem": ["1 + 1?", "1 + 2?"], "answer": [2, 3], "other": [None, None]}
    ).with_format("numpy")
    assert contents(load_memory(rows, KEYS)) == PROBLEMS


def test_a_dataset_without_a_column_is_refused_by_its_name(datasets: ModuleType) -> None:
    rows = datasets.Dataset.from_dict({"question": ["1 + 1?"], "answer": [2]})
    with pytest.raises(DataError, match=r"no field 'problem'.*'question', 'answer'"):
        load_memory(rows, KEYS)


def test_a_dictionary_of_splits_is_answered_by_their_names(datasets: ModuleType) -> None:
    rows = datasets.Dataset.from_list([{"problem": "1 + 1?", "answer": 2}])
    with pytest.raises(BadArguments, match="'train', 'test'"):
        load_memory(datasets.DatasetDict(train=rows, test=rows), KEYS)


@pytest.mark.parametrize("rows", [{"problem": "1 + 1?"}, {1, 2}, object()])
def test_what_is_no_table_is_refused(rows: Any) -> None:
    with pytest.raises(BadArguments, match="Give the path of a file"):
        load_memory(rows, KEYS)


@pytest.mark.parametrize(
    ("rows", "row"), [([], None), ([ROWS[0], 7], 2), ([ROWS[0], None], 2), ([{"a": 1}], 1)]
)
def test_rows_that_do_not_fit_are_refused(rows: Any, row: int | None) -> None:
    with pytest.raises(DataError) as caught:
        load_memory(rows, KEYS)
    assert caught.value.row == row


MAKE = """
import sys, gem, gem.errors
try:
    gem.make("math:GSM8K")
except gem.errors.DataError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "variables", [{"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:9"}]
)
def test_a_data_set_out_of_reach_is_one_line_without_retries(
    datasets: ModuleType, tmp_path: Path, variables: dict[str, str]
) -> None:
    done = python(MAKE, HF_HOME=str(tmp_path), **variables)
    assert (done.returncode, done.stderr) == (0, "")  # the library's log would tell of retries
    assert done.stdout.count("\n") == 1
    assert "'axon-rl/GSM-8k'" in done.stdout
    assert """--env-kwargs '{"data": "path/to/test.jsonl"}'""" in done.stdout


@pytest.fixture
def hub(datasets: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the hub out of reach; a folder is then still read, in the place of a data set."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


@pytest.mark.usefixtures("hub")
class TestDataSetsByName:
    def test_the_only_split_is_taken(self, write_rows: WriteRows, tmp_path: Path) -> None:
        write_rows(TEXTS, "train.jsonl")
        assert contents(load_hub(str(tmp_path), None, KEYS)) == PROBLEMS

    def test_a_split_is_chosen(self, write_rows: WriteRows, tmp_path: Path) -> None:
        write_rows(TEXTS, "train.jsonl")
        write_rows(TEXTS[1:], "test.jsonl")
        assert contents(load_hub(str(tmp_path), "test", KEYS)) == PROBLEMS[1:]

    def test_several_splits_want_a_choice(self, write_rows: WriteRows, tmp_path: Path) -> None:
        write_rows(TEXTS, "train.jsonl")
        write_rows(TEXTS, "test.jsonl")
        with pytest.raises(DataError, match=r"'train', 'test'.*split="):
            load_hub(str(tmp_path), None, KEYS)

    def test_an_unknown_split_is_named(self, write_rows: WriteRows, tmp_path: Path) -> None:
        write_rows(TEXTS, "train.jsonl")
        with pytest.raises(DataError, match="dev"):
            load_hub(str(tmp_path), "dev", KEYS)

    def test_an_absent_field_is_named(self, write_rows: WriteRows, tmp_path: Path) -> None:
        write_rows([{"question": "1 + 1?", "answer": 2}], "train.jsonl")
        with pytest.raises(DataError, match=r"no field 'problem'.*'question', 'answer'"):
            load_hub(str(tmp_path), None, KEYS)

    def test_it_is_one_table_for_the_process(self, write_rows: WriteRows, tmp_path: Path) -> None:
        write_rows(TEXTS, "train.jsonl")
        name = str(tmp_path)
        assert load_hub(name, None, KEYS) is load_hub(name, None, KEYS)

    def test_one_in_the_cache_is_read_offline(
        self, datasets: ModuleType, write_rows: WriteRows, tmp_path: Path
    ) -> None:
        write_rows(TEXTS, "train.jsonl")
        made = datasets.load_dataset(str(tmp_path), split="train").cache_files[0]["filename"]
        # as the library lays out what it has downloaded
        cache = Path(datasets.config.HF_DATASETS_CACHE, "acme___sums", "default", "0.0.0", "0" * 40)
        shutil.copytree(Path(made).parent, cache)
        (cache / Path(made).name).rename(cache / "sums-train.arrow")

        assert load_hub("acme/sums", None, KEYS)[1] == PROBLEMS[1]
