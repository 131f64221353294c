"""What every engine's index does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gem.errors import BadArguments
from gem_tools.search import Hit, SearchIndex, SearchIndexError, build_index, open_index
from gem_tools.search.manifest import LANGUAGES

BuildsIndex = Callable[..., Path]

ENGINES = ["tantivy", "bm25s"]


@pytest.fixture(params=ENGINES)
def index(request: pytest.FixtureRequest, index_of: BuildsIndex) -> Any:
    opened = open_index(index_of(request.param))
    yield opened
    opened.close()


def ids(index: SearchIndex, query: str, k: int = 5) -> list[str]:
    return [hit.id for hit in index.search([query], k)[0]]


def test_a_hit_has_the_document_and_its_id(index: SearchIndex) -> None:
    hit = index.search(["Sund, a village under ash"], 1)[0][0]

    assert hit == Hit(
        "d008",
        hit.score,
        "Sund",
        "Sund was a village on Tarsk until ash from the eruption of 1804 covered it. "
        "Its bell was dug out in 1911.",
    )


def test_the_best_come_first_and_no_more_than_asked(index: SearchIndex) -> None:
    scores = [hit.score for hit in index.search(["the geese of Castor"], 4)[0]]

    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


def test_each_query_of_a_batch_gets_its_own_hits(index: SearchIndex) -> None:
    queries = ["drone box", "", "comet of 1858", "qqqq", "drone box"]

    found = index.search(queries, 2)

    assert found == [index.search([query], 2)[0] for query in queries]
    assert [bool(hits) for hits in found] == [True, False, True, False, True]


def test_no_queries_find_nothing(index: SearchIndex) -> None:
    assert index.search([], 5) == []


def test_more_hits_than_documents_may_be_asked_for(index: SearchIndex) -> None:
    assert len(index.search(["Velmoor"], 1000)[0]) < 100


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("+mule -ferry", "mule ferry"),
        ("mule^100 AND NOT ferry", "mule 100 and not ferry"),
        ('"mule ferry"~0', "mule ferry 0"),
        ("title:mule (ferry", "title mule ferry"),
        ("mule* ferr?", "mule ferr"),
        ("/mule|ferry/", "mule ferry"),
        ("[mule TO ferry]", "mule to ferry"),
        ("mule\x00ferry", "mule ferry"),
        ("mule \u202eferry\u202c", "mule ferry"),
        ("mule\ud800 ferry\udfff", "mule ferry"),
        ("\tMULE\n\n\u2003FERRY!!!", "mule ferry"),
    ],
)
def test_a_query_is_only_words(index: SearchIndex, query: str, words: str) -> None:
    assert ids(index, query) == ids(index, words) != []


@pytest.mark.parametrize("query", ["", " ", "*", "*:*", "\x00", "\ud800", "\u200f", "((((", "\\"])
def test_a_query_without_words_finds_nothing(index: SearchIndex, query: str) -> None:
    assert ids(index, query) == []


@pytest.mark.parametrize(
    "flood",
    ["a" * 10**6, "q " * 10**6, "( " * 10**6, "q\x00" * 10**6, "\ud800" * 10**6, "*" * 10**6],
    ids=["word", "words", "brackets", "nul", "surrogates", "stars"],
)
def test_a_huge_query_is_answered_by_its_beginning(index: SearchIndex, flood: str) -> None:
    assert ids(index, f"glass flute {flood}") == ids(index, "glass flute")


def test_only_the_first_words_of_a_query_count(index: SearchIndex) -> None:
    unknown = " ".join(f"q{number}" for number in range(64))

    assert ids(index, f"{unknown} flute") == []


def test_a_query_of_stop_words_alone_still_searches(tmp_path: Path) -> None:
    for engine in ENGINES:
        pytest.importorskip(engine)
        rows = [{"id": "band", "text": "Who is on?"}, {"id": "other", "text": "Nobody at all"}]
        build_index(rows, tmp_path / engine, engine=engine)  # type: ignore[arg-type]

        assert ids(open_index(tmp_path / engine), "who is") == ["band"]


def test_endings_and_accents_make_no_difference(tmp_path: Path) -> None:
    for engine in ENGINES:
        pytest.importorskip(engine)
        rows = [{"id": "yes", "text": "The na\u00efve cheeses"}, {"id": "no", "text": "Bread"}]
        build_index(rows, tmp_path / engine, engine=engine)  # type: ignore[arg-type]

        assert ids(open_index(tmp_path / engine), "NAIVE cheese") == ["yes"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_there(tmp_path: Path, engine: Any, language: Any) -> None:
    pytest.importorskip(engine)
    build_index(
        [{"id": "7", "text": "Gem Gem"}], tmp_path / "index", engine=engine, language=language
    )

    assert ids(open_index(tmp_path / "index"), "gem") == ["7"]


def test_without_a_language_endings_do_make_a_difference(index_of: BuildsIndex) -> None:
    for engine in ENGINES:
        assert ids(open_index(index_of(engine, "none")), "forgers") == []
        assert ids(open_index(index_of(engine, "english")), "forgers") != []


@pytest.mark.parametrize("k", [0, -1, 1001, True, 2.0, None])
def test_a_number_of_hits_that_is_none_is_refused(index: SearchIndex, k: Any) -> None:
    with pytest.raises(BadArguments, match="from 1 to 1000"):
        index.search(["goose"], k)


@pytest.mark.parametrize("queries", ["goose", [b"goose"], [None]])
def test_queries_are_a_list_of_strings(index: SearchIndex, queries: Any) -> None:
    with pytest.raises(BadArguments, match="a list of strings"):
        index.search(queries, 5)


def test_threads_share_an_index(index: SearchIndex) -> None:
    queries = [f"{word} of Halden" for word in ("mint", "gates", "heron", "canal")] * 8
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda query: ids(index, query), queries))

    assert found == [ids(index, query) for query in queries]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_processes_share_an_index_and_nothing_is_written_to_it(
    index_of: BuildsIndex, engine: str
) -> None:
    folder = index_of(engine)
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    code = (
        "import sys; from gem_tools.search import open_index\n"
        "print(open_index(sys.argv[1]).search(['ferry mules'], 1)[0][0].id)"
    )
    command = [sys.executable, "-c", code, str(folder)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]

    assert [process.communicate(timeout=60)[0] for process in processes] == ["d045\n"] * 4
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before


@pytest.fixture
def late_files(index_of: BuildsIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a file's name that is gone when the file has come into a folder as that is removed.

    It comes as a thread of tantivy's brings it that takes its lock late. Temporary folders are in
    the folder `temporary`.
    """
    index_of("tantivy")  # first: who builds it removes folders too
    late = [".tantivy-meta.lock"]
    remove = os.rmdir

    def rmdir(path: Any, **options: Any) -> None:
        if late:
            Path(path, late.pop()).touch()
        remove(path, **options)

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(os, "rmdir", rmdir)
    return late


def test_opening_an_index_leaves_no_folder_behind(
    index_of: BuildsIndex, tmp_path: Path, late_files: list[str]
) -> None:
    assert ids(open_index(index_of("tantivy")), "ferry mules", 1) == ["d045"]
    assert not late_files
    assert not list((tmp_path / "temporary").iterdir())


def test_an_index_that_cannot_be_opened_leaves_no_folder_behind(
    index_of: BuildsIndex, tmp_path: Path, late_files: list[str]
) -> None:
    spoiled = shutil.copytree(index_of("tantivy"), tmp_path / "index")
    file = next(spoiled.glob("*.idx"))
    file.write_bytes(bytes(file.stat().st_size))

    with pytest.raises(SearchIndexError, match="cannot open the index"):
        open_index(spoiled)
    assert not late_files
    assert not list((tmp_path / "temporary").iterdir())
