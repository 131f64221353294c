"""Playing in the terminal: with standard input from a file, and in a real pseudo-terminal."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gem.cli.main import main

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]
Play = Callable[..., str]

ENVS = '''
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

class NoSample(Guess):
    """Has nothing to sample."""
    def sample_action(self):
        raise NotImplementedError
'''
NAMES = ("Raises", "Unmade", "Refuses", "NotPlain", "Hostile", "NoSample")
OURS = ("Guess", "Lamps", "Coin")
TERMINAL = """
import fcntl, signal, sys, termios
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from gem.cli.main import main
sys.exit(main(["play", "play:Guess", "--seed", "3"]))
"""


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


def test_the_first_observation_and_the_seed_are_shown(play: Play) -> None:
    shown = play("Guess")

    assert "Seed 3." in shown
    assert "  Guess a number from 1 to 15." in shown


def test_a_game_is_played_to_its_end(play: Play) -> None:
    lines = ["\\boxed{8}", "\\boxed{4}", "\\boxed{2}", "\\boxed{1}", "\\boxed{3}"]

    shown = play("Guess", *lines, options=("--env-kwargs", '{"highest": 4, "max_turns": 9}'))

    assert "Success after" in shown
    assert "total reward 1." in shown


def test_a_game_that_is_lost_says_so(play: Play) -> None:
    assert "No success after 1 turn, total reward -0.1." in play("Guess", ":send nothing at all")


def test_what_is_typed_is_put_into_the_box_that_is_asked_for(play: Play) -> None:
    assert "sent as \\boxed{8}" in play("Guess", "8")


def test_a_box_that_is_typed_stays_as_it_is(play: Play) -> None:
    assert "sent as" not in play("Guess", "\\boxed{8}")


def test_the_box_is_read_from_the_text_where_there_is_no_sample(play: Play) -> None:
    assert "sent as \\boxed{8}" in play("NoSample", "8")


def test_plain_answers_stay_plain(play: Play) -> None:
    assert "Lit: [2]" in play("Lamps", "2")


def test_a_hint_is_what_solve_says(play: Play) -> None:
    assert "> " + "  \\boxed{8}" in play("Guess", ":hint")


def test_a_hint_where_nothing_is_known_says_so(play: Play) -> None:
    assert "No solution is known here." in play("Coin", ":hint")


def test_an_action_can_be_taken_back(play: Play) -> None:
    shown = play("Lamps", "1", "2", ":undo", ":undo", "3")

    before, _, after = shown.rpartition("Taken back.")
    assert "Taken back." in before
    assert "Four lamps" in after
    assert "Lit: [3]" in after
    assert "Left after 1 turn" in after


def test_there_may_be_nothing_to_take_back(play: Play) -> None:
    assert "There is nothing to take back." in play("Lamps", ":undo")


def test_what_cannot_be_saved_cannot_be_taken_back(play: Play) -> None:
    assert "There is nothing to take back." in play("NotPlain", "1", ":undo")


def test_help_lists_the_players_commands(play: Play) -> None:
    assert ":undo         take the last action back" in play("Lamps", ":help")


def test_an_unknown_command_is_not_an_action(play: Play) -> None:
    shown = play("Lamps", ":hnit")

    assert "There is no :hnit" in shown
    assert "Left after 0 turns" in shown


def test_quitting_leaves_politely(play: Play) -> None:
    assert "Left after 1 turn, total reward 0 so far." in play("Lamps", "1", ":quit")


def test_the_end_of_input_leaves_politely(play: Play) -> None:
    assert play("Lamps", "1").endswith("\nLeft after 1 turn, total reward 0 so far.\n")


def test_hostile_text_reaches_the_terminal_escaped(play: Play) -> None:
    shown = play("Hostile")

    assert "\\x1b[2J\\x07" in shown
    assert "\x1b" not in shown


def test_wrappers_are_put_around_it(play: Play) -> None:
    shown = play("Lamps", "1", "2", options=("--wrappers", "concat"))

    assert shown.count("Four lamps") == 3


def test_an_environment_that_raises_is_reported_in_one_line(play: Play) -> None:
    assert "The environment raised RuntimeError: out of words\n" in play("Raises", "1", status=1)


def test_an_environment_that_cannot_be_made_is_reported_in_one_line(play: Play) -> None:
    assert play("Unmade", status=1) == "The environment raised RuntimeError: no hands\n"


def test_an_error_of_ours_is_wrong_use(play: Play) -> None:
    play("Refuses", "1", status=2)


def test_without_a_seed_it_is_any_episode(
    site: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    assert main(["play", "play:Lamps"]) == 0
    assert "Seed " in capsys.readouterr().out


def test_an_unknown_id_is_wrong_use(site: Path, capsys: Output) -> None:
    assert main(["play", "play:Lamp"]) == 2
    assert "Did you mean 'play:Lamps'" in capsys.readouterr().err


class Terminal:
    """A process at a pseudo-terminal of its own."""

    def __init__(self, site: Path) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", TERMINAL],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "PYTHONPATH": str(site)},
            start_new_session=True,
        )
        os.close(theirs)
        self._stat = Path(f"/proc/{self._process.pid}/stat")
        self.shown = ""

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


@pytest.fixture
def terminal(site: Path) -> Iterator[Terminal]:
    found = Terminal(site)
    yield found
    found.close()


def test_a_hint_in_a_real_terminal(terminal: Terminal) -> None:
    terminal.read_until("> ")
    terminal.type(":hint\n")
    terminal.read_until("\\boxed{8}")
    terminal.type(":quit\n")

    assert terminal.left() == 0
    assert "Left after 0 turns" in terminal.shown


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_leaving_a_real_terminal_by(key: str, terminal: Terminal) -> None:
    terminal.read_until("> ")
    terminal.wait_for_a_read()
    terminal.type(key)

    assert terminal.left() == 0
    assert "Left after 0 turns" in terminal.shown
    assert "Traceback" not in terminal.shown
