"""`gem-env view`: an address until Ctrl-C, a file, or one line that says what is wrong."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from gem.cli._main import main
from gem_eval.viewing.runs import Run

from .conftest import episode

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("uvicorn", reason="gem-eval's extra `view` is not installed")

MakeRun = Callable[..., Run]
SECRET = "sk-planted-9f3a7c"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home-cache"))


@pytest.fixture
def folder(make_run: MakeRun) -> str:
    return str(make_run(episode(), total=1).folder.path)


@contextmanager
def viewing(*arguments: str, **more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command, and give its process and what it prints first."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gem", "view", *arguments],
        env={**os.environ, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


def address(line: str) -> str:
    return line.partition(" at ")[2].partition(" .")[0]


def fetched(line: str) -> httpx.Response:
    """Return the page at the address of a line, however long a busy machine takes for it."""
    return httpx.get(address(line), follow_redirects=True, timeout=60)


@pytest.mark.slow
def test_it_serves_until_ctrl_c_and_ends_quietly(folder: str, tmp_path: Path) -> None:
    with viewing(folder, "--port", "0", OPENAI_API_KEY=SECRET) as (process, line):
        answer = fetched(line)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()

    assert line.startswith("Showing 1 run at http://127.0.0.1:")
    assert "Run run · GEM" in answer.text
    assert (process.returncode, out, err) == (0, "", "")
    assert SECRET not in answer.text
    for path in [*tmp_path.rglob("*")]:
        assert path.is_dir() or SECRET.encode() not in path.read_bytes()
    assert list((tmp_path / "home-cache").rglob("*.sqlite")) != []


@pytest.mark.slow
def test_it_opens_a_browser_where_it_is_told_to(folder: str, tmp_path: Path) -> None:
    note = tmp_path / "opened"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {note}.part && mv {note}.part {note}\n')
    browser.chmod(0o755)

    with viewing(folder, "--port", "0", "--open", "--no-cache", BROWSER=str(browser)) as (_, line):
        assert fetched(line).status_code == 200

    assert note.read_text() == address(line)
    assert list((tmp_path / "home-cache").rglob("*.sqlite")) == []


@pytest.mark.slow
def test_where_others_can_reach_it_says_so(folder: str) -> None:
    with viewing(folder, "--port", "0", "--host", "0.0.0.0") as (process, line):
        assert fetched(line).status_code == 200
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate()

    assert line.startswith("Showing 1 run at http://127.0.0.1:")
    assert "0.0.0.0 can be reached from other machines" in err


def wrong_use(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["view", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_a_port_that_is_taken_is_told_with_one_that_is_free(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        err = wrong_use(capsys, folder, "--port", str(port))

    assert err.count("\n") == 1
    assert f"at 127.0.0.1 port {port}, and cannot" in err
    assert "and cannot (Address already in use). A free port: --port " in err


def test_an_address_that_is_not_here_is_told(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for host in ("192.0.2.1", "no such name"):
        err = wrong_use(capsys, folder, "--host", host)
        assert err.count("\n") == 1
        assert "Leave --host out for this machine alone." in err


def test_environments_are_run_for_this_machine_alone(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    err = wrong_use(capsys, folder, "--solve", "--host", "0.0.0.0", "--port", "0")

    assert err.count("\n") == 1
    assert "--solve was given with --host 0.0.0.0" in err


def test_a_run_that_does_not_exist_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    err = wrong_use(capsys, "nowhere")

    assert err.count("\n") == 1
    assert "nowhere is no run folder" in err


def test_a_damaged_run_of_a_folder_is_named_and_hides_no_other(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(episode(), name="runs/good", total=1)
    bad = make_run(name="runs/bad").folder.path
    (bad / "run.json").write_text("{", encoding="utf-8")
    folder = str(tmp_path / "runs")

    status = main(["view", folder, "--export", str(tmp_path / "good.html")])

    out, err = capsys.readouterr()
    assert (status, "1 episode" in out) == (0, True)
    assert err.startswith(f"gem-env view: left out: The run.json of {bad} ")
    assert err.count("\n") == 1
    assert str(bad) in wrong_use(capsys, folder, str(bad))


def test_where_every_run_of_a_folder_is_damaged_that_is_told(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = make_run(name="runs/bad").folder.path
    (bad / "run.json").write_text("{", encoding="utf-8")

    assert str(bad) in wrong_use(capsys, str(tmp_path / "runs"))


@pytest.mark.parametrize(
    "options",
    [["--port", "x"], ["--port", "65536"], ["--export-limit", "0"], ["--export-limit", "x"]],
)
def test_numbers_that_are_none_are_told(
    folder: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "is no" in wrong_use(capsys, folder, *options)


def test_a_run_is_exported(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.html"

    assert main(["view", folder, "--export", str(path)]) == 0

    size = path.stat().st_size / 1e6
    assert capsys.readouterr().out == f"Wrote {path}: 1 episode, {size:.1f} MB.\n"


def test_what_does_not_fit_is_told(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.html"

    assert main(["view", folder, "--export", str(path), "--export-limit", "0.1"]) == 0

    assert "the first 0 of 1 episode (a larger --export-limit has more)" in capsys.readouterr().out


def test_several_runs_are_no_file(
    make_run: MakeRun, folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = str(make_run(name="other").folder.path)

    err = wrong_use(capsys, folder, other, "--export", str(tmp_path / "x.html"))

    assert "2 runs were to be exported, and a file holds one." in err


def test_an_export_to_nowhere_is_told(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "cannot be written" in wrong_use(capsys, folder, "--export", "no/such/folder.html")


def test_without_the_extra_it_says_what_to_install(
    folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from gem_eval.cli import view

    monkeypatch.setattr(view, "_NEEDED", ("gem-no-such-package>=1",))

    err = wrong_use(capsys, folder)

    assert err.count("\n") == 1
    assert "gem-env view needs gem-no-such-package>=1, not installed here. Run: pip install" in err


def test_a_tokenizer_that_is_none_is_told_before_anything_is_served(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tokenizers", reason="gem-eval's extra `tokens` is not installed")

    err = wrong_use(capsys, folder, "--tokenizer", str(tmp_path / "nowhere"))

    assert err.count("\n") == 1
    assert "and there is no tokenizer.json. Name the folder of a model that has one" in err


def test_a_file_has_no_token_page(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--tokenizer", str(tmp_path), "--export", str(tmp_path / "x.html")]

    assert "a file has no token page. Leave one of the two out." in wrong_use(
        capsys, folder, *options
    )


def test_without_tokenizers_it_says_what_to_install(
    folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem_eval.viewing.token_text.NEEDED", ("gem-no-such-package>=1",))

    err = wrong_use(capsys, folder, "--tokenizer", ".")

    assert err.count("\n") == 1
    assert "gem-env view --tokenizer needs gem-no-such-package>=1" in err
