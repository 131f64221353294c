"""Plots of runs: what is in them, that they come out the same, and what cannot be drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import gem_eval
from gem.cli._main import main
from gem_eval import Evaluation, ExportError, RunFolderError

pytest.importorskip("matplotlib", reason="gem-eval's extra `plot` is not installed")

Run = Callable[..., Evaluation]


def texts(path: Path) -> list[str]:
    """Return the texts of an SVG."""
    root = ET.parse(path).getroot()
    return ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]


def test_each_policy_on_each_environment_has_a_line(run: Run, tmp_path: Path) -> None:
    path = run("run", envs=["tiny:Guess", "tiny:Echo"], policies=["solver", "noop"]).path

    drawn = gem_eval.plot(path, tmp_path / "run.svg")

    found = texts(drawn)
    lines = {f"tiny:{env}, {policy}" for env in ("Guess", "Echo") for policy in ("solver", "noop")}
    assert lines <= {*found}
    assert {"success", "return", "turns"} <= {*found}


def test_several_runs_are_named(run: Run, tmp_path: Path) -> None:
    first = run("first", policies="noop").path
    second = run("second", policies="noop").path

    found = texts(gem_eval.plot([first, second], tmp_path / "both.svg"))

    assert sum(text.endswith(("first", "second")) for text in found) == 2


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_run_gives_the_same_file(run: Run, tmp_path: Path, kind: str) -> None:
    path = run("run").path

    first = gem_eval.plot(path, tmp_path / f"first.{kind}").read_bytes()

    assert gem_eval.plot(path, tmp_path / f"second.{kind}").read_bytes() == first
    assert first[:4] in (b"<?xm", b"\x89PNG", b"%PDF")


def test_a_name_of_dollars_and_controls_is_text(run: Run, tmp_path: Path) -> None:
    class Odd:
        name = r"a$\frac{$ b <script> \u202e"

        def __call__(self, request: object) -> str:
            return ""

    path = run("odd", policies=Odd()).path

    [label] = [text for text in texts(gem_eval.plot(path, tmp_path / "odd.svg")) if "tiny" in text]

    assert r"a$\frac{$ b <script>" in label


def test_what_cannot_be_drawn_is_one_line_and_no_file(run: Run, tmp_path: Path) -> None:
    path = run("run").path

    with pytest.raises(ExportError, match=r"ends? in \.png"):
        gem_eval.plot(path, tmp_path / "run.bmp")
    with pytest.raises(RunFolderError):
        gem_eval.plot(tmp_path / "nowhere", tmp_path / "run.svg")
    (tmp_path / "there.svg").write_text("mine")
    with pytest.raises(ExportError, match="overwrites nothing"):
        gem_eval.plot(path, tmp_path / "there.svg")

    assert (tmp_path / "there.svg").read_text() == "mine"
    assert [each.name for each in tmp_path.glob("*.svg")] == ["there.svg"]


def test_a_run_without_episodes_has_nothing_to_draw(run: Run, tmp_path: Path) -> None:
    path = run("run").path
    (path / "episodes.jsonl").write_text("")

    with pytest.raises(ExportError, match="no episode yet"):
        gem_eval.plot(path, tmp_path / "run.svg")


def test_more_lines_than_can_be_read_are_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem_eval.plotting._MOST_ROWS", 1)

    with pytest.raises(ExportError, match="would be 2"):
        gem_eval.plot(run("run", policies=["solver", "noop"]).path, tmp_path / "run.svg")


def test_the_command_draws_and_says_where(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run.png"

    assert main(["plot", str(run("run").path), "--out", str(out)]) == 0

    assert capsys.readouterr().out == f"Drawn: {out}\n"
    assert main(["plot", str(tmp_path / "run"), "--out", str(out)]) == 2
    assert "overwrites nothing" in capsys.readouterr().err
