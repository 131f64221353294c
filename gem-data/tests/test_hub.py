from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import pytest

from gem.data import DataSource, Misfit, RowKind, Table, load_table
from gem.errors import DataError

FIRST, SECOND = "a" * 40, "b" * 40
OLD = {"train.jsonl": b'{"problem": "1 + 1?", "answer": "2"}\n'}
NEW = {"train.jsonl": b'{"problem": "1 + 2?", "answer": "3"}\n'}
Load = Callable[..., Table[Mapping[str, Any]]]


class Hub(Protocol):
    """What the tests do with the hub on the loopback."""

    status: int

    def publish(self, commit: str, files: Mapping[str, bytes], *, name: str = ...) -> None: ...

    def stop(self) -> None: ...


@pytest.fixture
def load() -> Load:
    """Return a function that loads acme/sums anew, as `load(revision="v1")`."""

    def load(
        *, limit: int | None = None, streaming: bool = False, **facts: Any
    ) -> Table[Mapping[str, Any]]:
        kind = RowKind("sum", read=dict, needs=("question", "answer"))  # one of its own
        source = {"hub": "acme/sums", "fields": {"question": "problem"}, **facts}
        return load_table(kind, source=DataSource(**source), limit=limit, streaming=streaming)

    return load


def refused(load: Load, **facts: Any) -> str:
    with pytest.raises(DataError) as caught:
        load(**facts)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_newest_commit_is_taken_and_reported(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, OLD, name="v1")
    hub.publish(SECOND, NEW)
    table = load()
    assert list(table) == [{"question": "1 + 2?", "answer": "3"}]
    assert table.origin.revision == SECOND


@pytest.mark.parametrize("asked", ["v1", FIRST])
def test_a_revision_is_what_is_got(hub: Hub, load: Load, asked: str) -> None:
    hub.publish(FIRST, OLD, name="v1")
    hub.publish(SECOND, NEW)
    table = load(revision=asked)
    assert table[0]["answer"] == "2"
    assert table.origin.revision == FIRST


def test_a_revision_that_is_not_there_is_refused(hub: Hub, load: Load) -> None:
    hub.publish(SECOND, NEW)
    assert "'acme/sums' was asked for" in refused(load, revision="v9")


def test_a_data_set_that_is_not_there_is_refused(hub: Hub, load: Load) -> None:
    assert "'acme/absent' was asked for" in refused(load, hub="acme/absent")


def test_a_name_that_cannot_be_one_is_refused(hub: Hub, load: Load) -> None:
    assert "'a/b/c' was asked for" in refused(load, hub="a/b/c")


def test_the_only_split_is_taken(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, OLD)
    assert len(load()) == 1


def test_a_split_is_chosen(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, {**OLD, "test.jsonl": NEW["train.jsonl"]})
    assert load(split="test")[0]["answer"] == "3"


def test_several_splits_want_a_choice(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, {**OLD, "test.jsonl": NEW["train.jsonl"]})
    assert "'train', 'test'. Choose one with split=." in refused(load)


def test_an_unknown_split_is_named(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, OLD)
    assert "dev" in refused(load, split="dev")


@pytest.mark.parametrize(
    "lacking",
    [
        {"split": "dev"},
        {"split": "train[:1"},
        {"split": "dev", "streaming": True, "limit": 1},
        {"split": "train", "config": "hard"},
    ],
)
def test_what_a_data_set_lacks_is_not_to_be_fetched_again(
    hub: Hub, load: Load, lacking: dict[str, Any]
) -> None:
    hub.publish(FIRST, OLD)

    said = refused(load, **lacking)

    assert "does not have both" in said
    assert "Choose among those that it has." in said
    assert "fetch" not in said


def test_a_split_that_the_cache_lacks_is_not_blamed_on_the_hub(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, OLD)
    load()
    hub.stop()
    said = refused(load, split="dev")
    assert "does not have both" in said
    assert "out of reach" not in said


def test_the_split_of_the_call_goes_before_that_of_the_source(hub: Hub) -> None:
    hub.publish(FIRST, {**OLD, "test.jsonl": NEW["train.jsonl"]})
    kind = RowKind("sum", read=dict, needs=("answer",))
    table = load_table(kind, source=DataSource(hub="acme/sums", split="train"), split="test")
    assert table[0] == {"answer": "3"}
    assert table.origin.source is not None
    assert table.origin.source.split == "test"


def test_an_absent_field_is_named(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, OLD)
    said = refused(load, fields={})
    assert "no field 'question'; its fields are 'problem', 'answer'" in said
    assert 'fields={"question": "..."}' in said


def test_a_row_that_does_not_fit_is_refused(hub: Hub) -> None:
    hub.publish(FIRST, {"train.jsonl": b'{"answer": "2"}\n{"answer": "three"}\n'})

    def read(row: Mapping[str, Any]) -> int:
        if row["answer"] != "2":
            raise Misfit("answer", row["answer"], "2")
        return 2

    kind = RowKind("two", read=read, needs=("answer",))
    with pytest.raises(DataError, match=r"'acme/sums', row 2: the field 'answer' is 'three'"):
        load_table(kind, source=DataSource(hub="acme/sums"))


def test_it_is_one_table_for_the_process(hub: Hub) -> None:
    hub.publish(FIRST, OLD)
    kind, source = RowKind("sum", read=dict, needs=("answer",)), DataSource(hub="acme/sums")
    assert load_table(kind, source=source) is load_table(kind, source=source)


def test_the_first_rows_are_kept(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, {"train.jsonl": OLD["train.jsonl"] + NEW["train.jsonl"]})
    assert [row["answer"] for row in load(limit=1)] == ["2"]


def test_what_was_fetched_is_read_when_the_hub_is_down(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, OLD)
    load()
    hub.stop()
    table = load()
    assert (table[0]["answer"], table.origin.revision) == ("2", FIRST)


def test_what_was_fetched_is_read_when_the_hub_is_in_trouble(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, OLD)
    load()
    hub.status = 503
    assert load()[0]["answer"] == "2"


def test_a_pinned_commit_is_read_when_the_hub_is_down(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, OLD)
    load(revision=FIRST)
    hub.stop()
    assert load(revision=FIRST)[0]["answer"] == "2"


def test_what_was_fetched_is_read_where_the_library_is_told_to_stay_offline(
    hub: Hub, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.publish(FIRST, OLD)
    load()
    hub.publish(SECOND, NEW)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert load().origin.revision == FIRST


@pytest.mark.parametrize("asked", [SECOND, "v1"])
def test_no_other_commit_stands_in_for_the_one_asked_for(hub: Hub, load: Load, asked: str) -> None:
    hub.publish(FIRST, OLD)
    load()
    hub.stop()
    said = refused(load, revision=asked)
    assert asked in said
    assert f"holds the commit {FIRST}" in said


def test_one_that_is_not_here_is_answered_by_what_to_do(hub: Hub, load: Load) -> None:
    hub.stop()
    said = refused(load, licence="MIT")
    for part in (
        "'acme/sums'",
        "out of reach",
        "MIT",
        "gem-env data ID --prefetch",
        "'problem', 'answer'",
        """--env-kwargs '{"data": "path/to/test.jsonl"}'""",
    ):
        assert part in said


def test_a_licence_that_is_not_stated_is_not_named(hub: Hub, load: Load) -> None:
    hub.stop()
    assert "licence" not in refused(load)


def test_one_that_was_checked_is_not_checked_again(hub: Hub) -> None:
    hub.publish(FIRST, OLD)
    read: list[object] = []

    def reads(row: Mapping[str, Any]) -> str:
        read.append(row)
        return str(row["answer"])

    for _ in range(2):
        kind = RowKind("counted", read=reads, needs=("answer",))
        table = load_table(kind, source=DataSource(hub="acme/sums"))
    assert len(read) == 1
    assert table[0] == "2"


def test_one_that_is_kept_in_memory_is_checked_by_each_process(
    hub: Hub, datasets: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.publish(FIRST, OLD)
    monkeypatch.setattr(datasets.config, "IN_MEMORY_MAX_SIZE", 1 << 30)
    read: list[object] = []

    def reads(row: Mapping[str, Any]) -> None:
        read.append(row)

    for _ in range(2):
        kind = RowKind("counted", read=reads, needs=("answer",))
        load_table(kind, source=DataSource(hub="acme/sums"))
    assert len(read) == 2


def test_rows_are_streamed_as_they_are_needed(hub: Hub, load: Load) -> None:
    rows = b"".join(b'{"problem": "?", "answer": "%d"}\n' % n for n in range(9))
    hub.publish(FIRST, {"train.jsonl": rows})
    table = load(split="train", streaming=True, limit=5)
    assert len(table) == 5
    assert [table[at]["answer"] for at in (3, 0, 4)] == ["3", "0", "4"]
    assert table.origin.revision == FIRST


def test_a_stream_that_breaks_off_is_said(hub: Hub, load: Load) -> None:
    hub.publish(FIRST, {"train.jsonl": b'{"problem": "?", "answer": "1"}\n{"pro'})
    table = load(split="train", streaming=True, limit=2)
    with pytest.raises(DataError, match="broke off"):
        table[1]


def test_a_stream_that_broke_off_is_had_anew_by_who_asks_again(hub: Hub) -> None:
    kind: RowKind[Any] = RowKind("sum", needs=("answer",))
    arguments: Any = {
        "source": DataSource(hub="acme/sums", split="train"),
        "streaming": True,
        "limit": 2,
    }
    row = b'{"answer": "%d"}\n'
    hub.publish(FIRST, {"train.jsonl": row % 1 + b'{"ans'})
    broken = load_table(kind, **arguments)
    with pytest.raises(DataError, match="broke off"):
        broken[1]
    hub.publish(SECOND, {"train.jsonl": row % 1 + row % 2})
    table = load_table(kind, **arguments)
    assert table[1]["answer"] == "2"
    assert load_table(kind, **arguments) is table
    with pytest.raises(DataError, match="broke off"):
        broken[1]


def test_media_arrive_as_they_are_stored(hub: Hub, images: bytes) -> None:
    hub.publish(FIRST, {"train.parquet": images})
    kind: RowKind[Any] = RowKind(
        "picture", needs=("images", "more", "text"), optional={"image": None}
    )
    source = DataSource(hub="acme/sums", split="train")
    streamed = load_table(kind, source=source, streaming=True, limit=2)
    assert list(streamed) == list(load_table(kind, source=source))
    assert streamed[0]["image"] == {"bytes": b"2", "path": "x.png"}


ASK = """
from gem.data import DataSource, Misfit, RowKind, load_table
from gem.errors import DataError
try:
    load_table(RowKind("sum", read=dict, needs=("answer",)), source=DataSource(hub="acme/sums"))
except DataError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables", [{"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:9"}]
)
def test_a_data_set_out_of_reach_is_one_line_without_retries(
    datasets: ModuleType, tmp_path: Path, variables: dict[str, str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ASK],
        env={**os.environ, "HF_HOME": str(tmp_path), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")  # the library's log would tell of retries
    assert done.stdout.count("\n") == 1
    assert "not in its cache here" in done.stdout
