"""What the tests of the command line share: environments to play, a keyboard, a terminal."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from gem.cli._main import main

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]
Play = Callable[..., str]
See = Callable[..., list[str]]
REDRAW = "\x1b[H\x1b[J"


ENVS = '''
import sys
import time
import gem
from gem.testing.envs import Coin, Guess, Lamps

class Raises(Lamps):
    """Fails in its first step."""
    def step(self, action):
        raise RuntimeError("out of\\nwords")

class Unmade(Lamps):
    """Fails while it is made."""
    def __init__(self):
        raise RuntimeError("no\\nhands")

class Refuses(Lamps):
    """Misses its data in its first step."""
    def step(self, action):
        raise gem.errors.DataError("The table is gone.", source="table")

class NotPlain(Lamps):
    """Cannot be saved."""
    def reset(self, seed=None):
        self.stuck = object()
        return super().reset(seed)

class Hostile(Lamps):
    """Plays with the terminal."""
    def reset(self, seed=None):
        super().reset(seed)
        return "\\x1b[2J\\x07", {}

class Strict(Lamps):
    """Ends at an answer that is no number."""
    highlights = (("^Lit", "[0-9]", "green"),)
    def step(self, action):
        if not action.isdecimal():
            return gem.Step("Not a number.", -0.1, True, False, {"action_error": "format"})
        return super().step(action)

class Heavy(Lamps):
    """Steps until somebody has been told that it does."""
    def step(self, action):
        while "environment works" not in sys.stdout.getvalue():
            time.sleep(0)
        return super().step(action)

class SilentPlain(Lamps):
    """Reads nothing, and does not say so."""
    def step(self, action):
        return gem.Step("", 0.0, True, False, {"action_error": "format"})

class Silent(SilentPlain):
    """Wants boxes."""
    def sample_action(self):
        return "\\\\boxed{1}"

class Links(gem.Env):
    """Lists its answers, in the message or on the board."""
    def reset(self, seed=None):
        return "Go.\\n\\\\boxed{Iron}\\n\\\\boxed{Gold}", {}
    def step(self, action):
        board = "<answer>Up</answer>\\n<answer>Down</answer>"
        return gem.Step(f"You said {action}", 0.0, False, False, {"suffix": board})
    def sample_action(self):
        return "\\\\boxed{Iron}"

class Tooled(Guess):
    """Has a tool."""
    tools = ({"type": "function", "function": {"name": "add"}},)

class NoSample(Guess):
    """Has nothing to sample."""
    def sample_action(self):
        raise NotImplementedError
'''


NAMES = (
    "Raises",
    "Unmade",
    "Refuses",
    "NotPlain",
    "Hostile",
    "NoSample",
    "Strict",
    "Heavy",
    "Silent",
    "SilentPlain",
    "Links",
    "Tooled",
)


OURS = ("Guess", "Lamps", "Coin")


@pytest.fixture
def site(install: Install) -> Path:
    envs = {f"play:{name}": f"gem.testing.envs:{name}" for name in OURS}
    envs |= {f"play:{name}": f"acme_play.envs:{name}" for name in NAMES}
    return install("acme-play", envs=envs, files={"envs.py": ENVS})


@pytest.fixture
def play(site: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Return a function that plays a game with the lines given, and returns what it shows."""

    def run(name: str, *lines: str, status: int = 0, options: tuple[str, ...] = ()) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main(["play", f"play:{name}", "--seed", "3", *options]) == status
        return capsys.readouterr().out

    return run


class Tty(io.StringIO):
    """Text that says of itself that a person reads or types it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def typed(site: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Return a function that runs `play` with these arguments and lines from a keyboard."""
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments: str, lines: str = "", status: int = 0) -> str:
        monkeypatch.setattr("sys.stdin", Tty(lines))
        assert main(["play", *arguments]) == status
        output = capsys.readouterr()
        return output.out + output.err

    return run


@pytest.fixture
def seen(site: Path, monkeypatch: pytest.MonkeyPatch) -> See:
    """Return a function that plays on a terminal, and returns the screens that were drawn."""

    def run(
        name: str,
        *lines: str,
        status: int = 0,
        options: tuple[str, ...] = (),
        term: str = "xterm",
    ) -> list[str]:
        output = Tty()
        monkeypatch.setattr("sys.stdin", Tty("".join(f"{line}\n" for line in lines)))
        monkeypatch.setattr("sys.stdout", output)
        monkeypatch.setenv("TERM", term)
        assert main(["play", f"play:{name}", "--seed", "3", *options]) == status
        return output.getvalue().split(REDRAW)

    return run
