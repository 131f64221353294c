"""`gem-env export`: what it prints, and the wrong uses."""

from __future__ import annotations

import json
import os
import pty
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem.cli._main import main
from gem.errors import GemError
from gem_eval.exporting.formats import FORMATS

from . import runs

MakeRun = Callable[..., Path]


def test_it_says_what_is_in_it_and_what_was_left_out(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = make_run(runs.episode(), runs.failed(runs.turn("9")), runs.broken(seed=2))
    out = tmp_path / "pairs.jsonl"

    status = main(["export", str(run), "--to", "dpo", "--out", str(out)])

    assert status == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{out}: 1 pair of 2 episodes",
        "left out: 1 ended by an error",
    ]


def test_json_has_the_same(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = make_run(runs.episode(), runs.failed())
    out = tmp_path / "x.jsonl"

    main(["export", str(run), "--to", "sft", "--out", str(out), "--json"])

    assert json.loads(capsys.readouterr().out) == {
        "format": 1,
        "to": "sft",
        "path": str(out),
        "episodes": 1,
        "rows": 1,
        "left_out": {"not solved": 1},
        "notes": [],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "csv"], "invalid choice: 'csv'"),
        (["--to", "dpo", "--margin", "0"], "'0' is no number above 0"),
        (["--to", "sft", "--min-return", "much"], "'much' is no number, such as 0.5"),
        (["--to", "sft", "--margin", "1"], "margin says what the format dpo takes"),
        (["--to", "sft", "--policy", "nobody"], "'nobody' is not in"),
        (["--to", "sft", "--policy", "bad"], "gives no rows of the format sft"),
    ],
)
def test_wrong_use_is_one_line(
    make_run: MakeRun,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: list[str],
    message: str,
) -> None:
    run = make_run(runs.episode())

    status = main(["export", str(run), "--out", str(tmp_path / "x"), *arguments])

    captured = capsys.readouterr()
    assert status == 2
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_seeds_without_a_pair_are_told(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = make_run(
        runs.episode(), runs.failed(runs.turn("9")), runs.episode(seed=2, episode_index=1)
    )

    main(["export", str(run), "--to", "dpo", "--out", str(tmp_path / "x.jsonl")])

    assert capsys.readouterr().out.splitlines()[1:] == ["seeds played once: 1"]


def test_on_a_terminal_a_bar_shows_how_far_it_is(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = make_run(runs.episode())
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")

    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        status = main(["export", str(run), "--to", "sft", "--out", str(tmp_path / "x.jsonl")])
    drawn = ""
    with suppress(OSError):  # Linux answers so at the end, once the other side is closed
        while chunk := os.read(ours, 65536):
            drawn += chunk.decode()
    os.close(ours)

    assert status == 0
    assert "export to sft" in drawn
    assert "100%" in drawn


def test_no_key_is_in_any_export(
    run: Callable[..., Any], server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-planted-and-never-to-be-seen"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    played = run("run", policies=[f"openai:small@{server.url}", "solver"], episodes=2)
    assert any(key in asked.headers["authorization"] for asked in server.asked)

    formats = [name for name in FORMATS if _is_installed(name)]
    for name in formats:
        gem_eval.export(played.path, to=name, out=played.path / f"out-{name}")

    assert {"sft", "dpo", "inspect"} <= {*formats}
    files = [path for path in played.path.rglob("*") if path.is_file()]
    assert not [path for path in files if key.encode() in _content(path)]


def _is_installed(name: str) -> bool:
    try:
        FORMATS[name].writer()
    except GemError:
        return False
    return True


def _content(path: Path) -> bytes:
    """Return what a file says: some are compressed."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as log:
            return b"".join(map(log.read, log.namelist()))
    if path.name == "out-parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        return repr(pq.read_table(path).to_pylist()).encode()
    return path.read_bytes()
