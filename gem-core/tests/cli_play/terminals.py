"""Standard input as a keyboard, a terminal in memory, and a process at a real one."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]
Play = Callable[..., str]
See = Callable[..., list[str]]
Open = Callable[..., "Terminal"]
TERMINAL = """
import fcntl, signal, sys, termios
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from gem.cli.main import main
sys.exit(main(["play", sys.argv[1], "--seed", "3"]))
"""
REDRAW = "\x1b[H\x1b[J"


class Tty(io.StringIO):
    """Text that says of itself that a person reads or types it."""

    def isatty(self) -> bool:
        return True


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
