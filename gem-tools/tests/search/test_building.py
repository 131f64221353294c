"""Building an index, and opening one that was not built to its end."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gem.errors import BadArguments, DataError
from gem_tools.search import SearchIndexError, build_index, open_index

CORPUS = Path(__file__).with_name("corpus.jsonl")
BuildsIndex = Callable[..., Path]

pytest.importorskip("tantivy")

ROWS = [{"id": "a", "title": "Alpha", "text": "first"}, {"id": "b", "text": "second"}]


def manifest(folder: Path) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads((folder / "index.json").read_text())
    return plain


def change_manifest(folder: Path, **facts: object) -> None:
    (folder / "index.json").write_text(json.dumps({**manifest(folder), **facts}))


@pytest.fixture
def built(index_of: BuildsIndex, tmp_path: Path) -> Path:
    """Return an index of the corpus that may be spoiled."""
    return shutil.copytree(index_of(), tmp_path / "index")


def test_the_manifest_says_what_was_built(tmp_path: Path) -> None:
    built = build_index(CORPUS, tmp_path / "index", language="none")

    written = manifest(tmp_path / "index")
    assert written == built.model_dump()
    assert (written["format"], written["engine"], written["language"]) == (1, "tantivy", "none")
    assert (written["documents"], written["source"]) == (200, str(CORPUS))
    assert written["fields"] == {"id": "id", "title": "title", "text": "text"}
    assert open_index(tmp_path / "index").manifest == built


def test_the_digest_is_of_the_documents_wherever_they_come_from(tmp_path: Path) -> None:
    packed = tmp_path / "corpus.jsonl.gz"
    packed.write_bytes(gzip.compress(CORPUS.read_bytes()))
    rows = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    other = [*rows[:-1], {**rows[-1], "text": rows[-1]["text"] + "."}]

    sources: list[Any] = [CORPUS, packed, rows, (row for row in rows)]
    same = [
        build_index(source, tmp_path / str(number)).digest for number, source in enumerate(sources)
    ]

    assert len(set(same)) == 1
    assert build_index(other, tmp_path / "other").digest not in same
    assert build_index(rows[::-1], tmp_path / "reverse").digest not in same


def test_nothing_but_the_index_is_left(tmp_path: Path) -> None:
    build_index(ROWS, tmp_path / "deep" / "index")

    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["index"]


def test_an_empty_folder_becomes_the_index(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()

    assert build_index(ROWS, tmp_path / "index").documents == 2


def test_what_is_there_already_is_refused_and_unharmed(tmp_path: Path) -> None:
    build_index(ROWS, tmp_path / "index")

    with pytest.raises(SearchIndexError, match="it is there already"):
        build_index([{"text": "other"}], tmp_path / "index")

    assert open_index(tmp_path / "index").search(["first"], 1)[0][0].id == "a"


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(SearchIndexError, match="it is there already"):
        build_index(ROWS, tmp_path / "file")
    with pytest.raises(SearchIndexError, match="Check the folder"):
        build_index(ROWS, tmp_path / "file" / "index")


@pytest.mark.parametrize("rows", [[], [ROWS[0], {"text": 3}]])
def test_bad_documents_leave_nothing_behind(tmp_path: Path, rows: list[object]) -> None:
    with pytest.raises(DataError):
        build_index(rows, tmp_path / "index")  # type: ignore[arg-type]

    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_build_leaves_nothing_behind(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield ROWS[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(rows(), tmp_path / "index")

    assert list(tmp_path.iterdir()) == []


def test_a_killed_build_gives_no_index_and_the_next_one_works(tmp_path: Path) -> None:
    code = """if True:
        import sys
        from gem_tools.search import build_index
        def rows():
            yield {"text": "never seen"}
            print("building", flush=True)
            sys.stdin.read()
        build_index(rows(), sys.argv[1])
    """
    command = [sys.executable, "-c", code, str(tmp_path / "index")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "building\n"
        with pytest.raises(SearchIndexError, match="another process is building it"):
            build_index(ROWS, tmp_path / "index")
        process.send_signal(signal.SIGKILL)

    assert [path.name for path in tmp_path.iterdir()] == ["index.building"]
    for folder in ("index", "index.building"):
        with pytest.raises(SearchIndexError, match="no whole search index"):
            open_index(tmp_path / folder)

    build_index(ROWS, tmp_path / "index")

    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    index = open_index(tmp_path / "index")
    assert index.search(["never seen", "second"], 5)[0] == []
    assert index.search(["second"], 5)[0][0].id == "b"


@pytest.mark.parametrize("engine", ["tantivy", "bm25s"])
def test_a_disk_without_room_is_an_error_and_leaves_nothing_behind(
    tmp_path: Path, engine: str
) -> None:
    pytest.importorskip(engine)
    code = """if True:
        import resource, sys
        from gem_tools.search import SearchIndexError, build_index
        rows = [{"text": " ".join(f"w{n}{m}" for m in range(100))} for n in range(300)]
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            build_index(rows, sys.argv[1], engine=sys.argv[2])
        except SearchIndexError as error:
            print(error)
    """
    command = [sys.executable, "-c", code, str(tmp_path / "index"), engine]

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert "Check the folder and the room on its disk" in done.stdout, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_two_builds_of_one_index_do_not_mix(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield ROWS[0]
        with pytest.raises(SearchIndexError, match="another process is building it"):
            build_index([{"text": "intruder"}], tmp_path / "index")
        yield ROWS[1]

    assert build_index(rows(), tmp_path / "index").documents == 2
    assert open_index(tmp_path / "index").search(["intruder"], 1) == [[]]


def test_progress_is_told(tmp_path: Path) -> None:
    source = tmp_path / "corpus.jsonl"
    source.write_text('{"text": "again"}\n' * 2500)
    told: list[tuple[int, float | None]] = []

    build_index(source, tmp_path / "index", on_progress=lambda *facts: told.append(facts))

    assert [documents for documents, _ in told] == [1000, 2000]
    assert all(share is not None and 0 < share <= 1 for _, share in told)


@pytest.mark.parametrize("choice", [{"engine": "grep"}, {"language": "latin"}])
def test_an_unknown_choice_is_refused_with_those_there_are(
    tmp_path: Path, choice: dict[str, Any]
) -> None:
    with pytest.raises(BadArguments, match=r"tantivy|english"):
        build_index(ROWS, tmp_path / "index", **choice)


def test_a_folder_that_is_no_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SearchIndexError, match=r"no whole search index.*build-search"):
        open_index(tmp_path)


def test_an_index_without_one_of_its_files_is_refused(built: Path) -> None:
    next(built.glob("*.store")).unlink()

    with pytest.raises(SearchIndexError, match=r"no whole search index: .*\.store"):
        open_index(built)


def test_an_index_with_a_file_cut_short_is_refused(built: Path) -> None:
    file = next(built.glob("*.idx"))
    file.write_bytes(file.read_bytes()[:-1])

    with pytest.raises(SearchIndexError, match=r"is damaged: .*\.idx has \d+ bytes and had \d+"):
        open_index(built)


def test_an_index_whose_bytes_changed_is_refused(built: Path) -> None:
    file = next(built.glob("*.idx"))
    file.write_bytes(bytes(file.stat().st_size))

    with pytest.raises(SearchIndexError, match="cannot open the index"):
        open_index(built)


@pytest.mark.parametrize(
    ("facts", "what"),
    [({"format": 2}, "format"), ({"engine": "grep"}, "engine"), ({"files": None}, "files")],
)
def test_an_index_of_another_version_is_refused(
    built: Path, facts: dict[str, object], what: str
) -> None:
    change_manifest(built, **facts)

    with pytest.raises(SearchIndexError, match=f"for its index.json: {what}: .*another version"):
        open_index(built)


def test_a_manifest_that_is_no_json_is_refused(built: Path) -> None:
    (built / "index.json").write_text("{")

    with pytest.raises(SearchIndexError, match="Build it again"):
        open_index(built)


def test_an_index_of_bm25s_that_was_spoiled_is_refused(
    index_of: BuildsIndex, tmp_path: Path
) -> None:
    spoiled = shutil.copytree(index_of("bm25s"), tmp_path / "index")
    file = spoiled / "vocab.index.json"
    file.write_bytes(bytes(file.stat().st_size))

    with pytest.raises(SearchIndexError, match="cannot open the index"):
        open_index(spoiled)
