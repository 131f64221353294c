"""The line that says how far a training is."""

from __future__ import annotations

import io
import sys

import pytest

from gem_baselines.training.progress_line import ProgressLine

FIGURES = {"update": 3, "success": 0.5, "turns": 2.25, "reward": 0.75, "errors": 0}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_elsewhere_it_is_a_plain_line_and_not_one_an_update(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressLine(updates=10, done=0) as line:
        line.show(FIGURES)
        line.show({**FIGURES, "update": 4})

    [text] = capsys.readouterr().err.splitlines()
    assert text.startswith("update 3/10  ")
    assert text.endswith("left  success 0.500  turns 2.25  reward 0.750")


def test_errors_are_shown_once_there_are_any(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine(updates=10, done=0) as line:
        line.show({**FIGURES, "errors": 2})

    assert capsys.readouterr().err.endswith("errors 2\n")


def test_on_a_terminal_nothing_stays_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "20")

    with ProgressLine(updates=10, done=0) as line:
        line.show(FIGURES)

    _, drawn, cleared = terminal.getvalue().split("\r\x1b[K")
    assert len(drawn) == 19
    assert cleared == ""
