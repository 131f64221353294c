"""`gem-env build-search`: what it prints, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gem_tools.search import open_index

CORPUS = Path(__file__).with_name("corpus.jsonl")

pytest.importorskip("tantivy")


def build(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gem", "build-search", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_it_says_what_it_built_and_what_comes_next(tmp_path: Path) -> None:
    folder = tmp_path / "my index"

    done = build(CORPUS, "--out", folder)

    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert first.startswith(f"Indexed 200 documents of {CORPUS} in {folder} (tantivy ")
    assert second == f"Serve it: gem-env serve-search '{folder}'"
    assert open_index(folder).search(["comet"], 1)[0][0].title == "Comet of 1858"


def test_json_is_the_manifest(tmp_path: Path) -> None:
    done = build(CORPUS, "--out", tmp_path / "index", "--json", "--language", "none")

    assert json.loads(done.stdout) == json.loads((tmp_path / "index" / "index.json").read_text())


def test_fields_can_be_named(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text('{"key": "k7", "name": "The name", "body": "a goose"}\n')

    fields = ["--id-field", "key", "--title-field", "name", "--text-field", "body"]
    assert build(source, "--out", tmp_path / "index", *fields).returncode == 0

    [[hit]] = open_index(tmp_path / "index").search(["goose"], 1)
    assert (hit.id, hit.title, hit.text) == ("k7", "The name", "a goose")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--engine", "grep"], "one of tantivy, bm25s"),
        (["--language", "latin"], "one of dutch"),
        (["--text-field", "body"], "Row 1 of"),
    ],
)
def test_what_cannot_be_built_is_one_line(tmp_path: Path, options: list[str], what: str) -> None:
    done = build(CORPUS, "--out", tmp_path / "index", *options)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert what in done.stderr
    assert list(tmp_path.iterdir()) == []
