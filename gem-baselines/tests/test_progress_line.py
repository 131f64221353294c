"""The line that says how far a training is."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import termios

import pytest

from gem_baselines.training.progress_line import ProgressLine

FIGURES = {"update": 3, "success": 0.5, "turns": 2.25, "reward": 0.75, "errors": 0}


def test_elsewhere_it_is_a_plain_line_and_not_one_an_update(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressLine(updates=10, done=0) as line:
        line.show(FIGURES)
        line.show({**FIGURES, "update": 4})

    [text] = capsys.readouterr().err.splitlines()
    assert text.startswith("update 3/10  ")
    assert text.endswith("left  success 0.500  turns 2.25  reward 0.750")


def test_of_self_play_it_has_the_reward_of_each_seat(capsys: pytest.CaptureFixture[str]) -> None:
    seats = {"X": {"reward": 0.25}, "O": {"reward": -0.25}}

    with ProgressLine(updates=10, done=0) as line:
        line.show({**FIGURES, "reward": 0.0, "self_play": {"seats": seats}})

    assert capsys.readouterr().err.endswith("reward of X 0.250  reward of O -0.250\n")


def test_errors_are_shown_once_there_are_any(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine(updates=10, done=0) as line:
        line.show({**FIGURES, "errors": 2})

    assert capsys.readouterr().err.endswith("errors 2\n")


def test_on_a_terminal_nothing_stays_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
    # Of another terminal, which stdout may be: not of the one that is drawn on.
    monkeypatch.setenv("COLUMNS", "40")
    with os.fdopen(writing, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)

        with ProgressLine(updates=10, done=0) as line:
            line.show(FIGURES)

        written = ""
        while written.count("\x1b[K") < 2:  # a terminal hands it over in pieces
            written += os.read(reading, 1000).decode()
        _, drawn, cleared = written.split("\r\x1b[K")
    os.close(reading)
    assert len(drawn) == 19
    assert cleared == ""
