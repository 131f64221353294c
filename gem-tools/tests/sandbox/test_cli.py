"""`gem-env sandbox`, through the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gem.cli._main import main
from gem_tools.sandbox.bwrap import BwrapSandbox


@pytest.mark.slow
def test_every_wall_of_bubblewrap_holds(
    sandbox: BwrapSandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sandbox", "--json"]) == 0

    answer = json.loads(capsys.readouterr().out)
    assert answer["backend"] == sandbox.name
    assert {wall["name"]: wall["holds"] for wall in answer["walls"]} == {
        wall["name"]: True for wall in answer["walls"]
    }


@pytest.mark.slow
def test_a_wall_that_falls_is_shown_and_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "--backend", "process"]) == 1

    shown = capsys.readouterr()
    assert "holds  runs programs" in shown.out
    assert "FALLS  hides processes: this process could be signalled" in shown.out
    assert "no boundary" in shown.err


def test_a_missing_bubblewrap_is_one_line_that_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    assert main(["sandbox"]) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert "apt-get install bubblewrap" in line


def test_a_bubblewrap_that_may_not_work_says_what_it_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert main(["sandbox"]) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert "No permissions to create new namespace" in line
    assert "AppArmor" in line
