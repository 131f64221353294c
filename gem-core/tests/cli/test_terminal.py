"""Playing in a real pseudo-terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Open = Callable[..., "Terminal"]
REDRAW = "\x1b[H\x1b[J"


TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from gem.cli._main import main
sys.exit(main(["play", sys.argv[1], "--seed", "3"]))
"""


class Terminal:
    """A process at a pseudo-terminal of its own."""

    def __init__(self, site: Path, name: str, term: str) -> None:
        self._ours, theirs = pty.openpty()
        variables = {**os.environ, "PYTHONPATH": str(site), "TERM": term}
        self._process = subprocess.Popen(
            [sys.executable, "-c", TERMINAL, f"play:{name}"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={key: variables[key] for key in variables if key not in {"COLUMNS", "LINES"}},
            start_new_session=True,
        )
        os.close(theirs)
        self._stat = Path(f"/proc/{self._process.pid}/stat")
        self.shown = ""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def screen(self) -> str:
        return self.shown.rpartition(REDRAW)[2].replace("\r\n", "\n")

    def read_until(self, text: str) -> None:
        while text not in self.shown:
            self.shown += os.read(self._ours, 4096).decode()

    def type(self, keys: str) -> None:
        self.shown = ""
        os.write(self._ours, keys.encode())

    def wait_for_a_read(self) -> None:
        """Wait until the process sleeps: a signal between its prompt and its read would be lost."""
        while self._stat.read_text().rpartition(")")[2].split()[0] != "S":
            assert self._process.poll() is None, "it has ended"
            os.sched_yield()

    def left(self) -> int:
        """Read to the end and return the exit status."""
        with contextlib.suppress(OSError):  # Linux answers so once the other side is closed
            self.read_until("never shown")
        return self._process.wait()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)


@pytest.fixture
def terminal(site: Path) -> Iterator[Open]:
    """Return a function that plays at a pseudo-terminal."""
    with contextlib.ExitStack() as opened:

        def play_at(name: str = "Guess", term: str = "xterm") -> Terminal:
            found = Terminal(site, name, term)
            opened.callback(found.close)
            found.read_until("> ")
            return found

        yield play_at


def test_a_real_terminal_is_redrawn(terminal: Open) -> None:
    player = terminal()
    player.type("8\n")
    player.read_until("sent as")

    assert player.screen.startswith("play:Guess. Seed 3.")
    assert "Guess a number" not in player.screen
    assert "It is higher." in player.screen


def test_hints_lead_to_the_end_in_a_real_terminal(terminal: Open) -> None:
    player = terminal()
    player.type(":hint\n")
    player.read_until("\\boxed{8}")
    player.type(":hint!\n" * 3)
    player.read_until("It is over")
    player.type(":quit\n")

    assert player.left() == 0
    assert "Left after" not in player.shown


def test_turns_are_taken_back_in_a_real_terminal(terminal: Open) -> None:
    player = terminal()
    player.type("8\n4\n:undo\n:undo\n")
    player.read_until("Turn 0 of 4, total reward 0.\r\n\r\nTaken back.")

    assert "Guess a number from 1 to 15." in player.screen


def test_a_real_terminal_may_change_its_size(terminal: Open) -> None:
    player = terminal()
    player.resize(rows=12, columns=30)
    player.type("\n")
    player.read_until("Turn 0 of 4")

    assert "\nGuess a number from 1 to 15.\n" in player.screen


def test_a_dumb_terminal_scrolls(terminal: Open) -> None:
    player = terminal(term="dumb")
    player.type("8\n")
    player.read_until("It is higher.")
    player.type(":quit\n")

    assert player.left() == 0
    assert "\x1b[H" not in player.shown


def test_a_real_terminal_shows_what_an_environment_raises(terminal: Open) -> None:
    player = terminal("Raises")
    player.type("1\n")

    assert player.left() == 1
    assert "The environment raised RuntimeError: out of words (" in player.shown


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_a_real_terminal_is_left_without_a_traceback_by(key: str, terminal: Open) -> None:
    player = terminal()
    player.wait_for_a_read()
    player.type(key)

    assert player.left() == 0
    assert "Left after 0 turns" in player.shown
    assert "Traceback" not in player.shown
