"""The policy `human`: a person at a pipe, or at a real pseudo-terminal."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_eval
from gem import Message, TextPart, ToolCall, read_episodes
from gem.content import ImagePart
from gem.testing import registrations_undone
from gem_eval.errors import RunStopped

LOSING = "1\n1\n1\n1\n"  # of tiny:Guess with a thousand numbers
REDRAW = "\x1b[H\x1b[J"
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def _nothing_stays_registered() -> Iterator[None]:
    with registrations_undone():
        yield


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, gem_env_here: Command) -> Command:
    """Return a function that types these lines into `gem-env`, in an empty folder."""

    def run(lines: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        return gem_env_here(*arguments)

    return run


EVAL = ("eval", "tiny:Guess", "--policy", "human", "--out", "run")


def episodes(run: str = "run") -> list[gem.Episode]:
    return list(read_episodes(run))


def test_a_person_plays_what_is_typed(typed: Command) -> None:
    done = typed(LOSING, *EVAL, "--episodes", "1", "--env-kwargs", '{"highest": 1000}')

    assert done.returncode == 0
    assert "tiny:Guess. Type your action, or :help." in done.stdout
    assert "Guess a number from 1 to 1000." in done.stdout
    assert "No success after 4 turns (truncated), total reward 0." in done.stdout
    assert done.stderr == ""  # no line of progress
    [episode] = episodes()
    assert [turn.action for turn in episode.turns] == ["\\boxed{1}"] * 4
    assert gem.replay(episode).state == "same"


def test_the_end_of_input_ends_the_run_and_it_is_resumed(typed: Command) -> None:
    hard = ("--env-kwargs", '{"highest": 1000}')
    left = typed(LOSING + "2\n", *EVAL, "--episodes", "2", *hard)

    assert left.returncode == 1
    assert left.stderr.endswith(
        "gem-env eval: The player left. 1 of 2 episodes are kept in run. Go on with: gem-env eval "
        "--resume run\n"
    )
    assert len(episodes()) == 1  # what was begun is not counted

    assert typed(LOSING, "eval", "--resume", "run").returncode == 0
    assert [episode.episode_index for episode in episodes()] == [0, 1]
    assert not any(episode.is_error for episode in episodes())


def test_whoever_quits_at_once_has_played_nothing(typed: Command) -> None:
    done = typed(":quit\n5\n", *EVAL, "--episodes", "3", "--policy-retries", "2")

    assert done.returncode == 1
    assert "0 of 3 episodes are kept" in done.stderr
    assert done.stdout.count("Type your action") == 1
    assert episodes() == []


def test_every_answer_counts_and_no_command_does(typed: Command) -> None:
    lines = ":rules\n:log\n:tools\n:nonsense\n\n:send seven\n"

    assert typed(lines, *EVAL, "--episodes", "1").returncode == 0
    [episode] = episodes()
    assert [turn.action for turn in episode.turns] == ["seven"]  # no number: that ends the game


def test_help_has_every_command(typed: Command) -> None:
    shown = typed(":help\n", *EVAL, "--episodes", "1").stdout

    for name in (":rules", ":log", ":tools", ":send", ":lines", ":help", ":quit"):
        assert f"\n{name}" in shown or f"> {name}" in shown
    assert ":undo" not in shown
    assert ":hint" not in shown


def test_one_episode_is_played_at_a_time(typed: Command) -> None:
    hard = ("--env-kwargs", '{"highest": 1000}')
    done = typed(LOSING * 2, *EVAL, "--episodes", "2", "--concurrency", "8", *hard)

    assert done.stderr == (
        "gem-env eval: --concurrency 8 was asked for, and a person plays one episode at a time.\n"
    )
    assert [len(episode.turns) for episode in episodes()] == [4, 4]
    assert done.stdout.count("Type your action") == 2


def test_another_policy_plays_many_at_a_time(typed: Command) -> None:
    both = ("eval", "tiny:Echo", "--policy", "solver", "--policy", "human", "--out", "run")

    assert typed("a\n" * 3, *both, "--episodes", "3").returncode == 0
    assert [episode.policy for episode in episodes()] == ["solver"] * 3 + ["human"] * 3


def test_json_stands_alone_on_stdout(typed: Command) -> None:
    done = typed("a\n", "eval", "tiny:Echo", "--policy", "human", "--episodes", "1", "--json")

    assert json.loads(done.stdout)["results"][0]["policy"] == "human"
    assert "Type your action" in done.stderr


def test_a_dry_run_asks_nobody(typed: Command) -> None:
    done = typed("", "eval", "tiny:Echo", "--policy", "human", "--episodes", "1", "--dry-run")

    assert done.returncode == 0
    assert "Type your action" not in done.stdout


def test_a_branch_is_played_on_by_hand(typed: Command) -> None:
    hard = ("--env-kwargs", '{"highest": 1000}')
    typed("7\n1\n1\n1\n", *EVAL, "--episodes", "1", *hard)
    branch = ("branch", "run", "1", "--turn", "2", "--policy", "human", "--out", "children")

    done = typed("2\n3\n4\n", *branch, "--concurrency", "2")

    assert done.returncode == 0
    assert done.stderr.startswith("gem-env branch: --concurrency 2 was asked for")
    assert "Guess a number from 1 to 1000." in done.stdout
    [child] = episodes("children")
    assert [turn.action for turn in child.turns] == [f"\\boxed{{{n}}}" for n in (7, 2, 3, 4)]
    assert gem.replay(child).state == "same"


class Shows(gem.Env):
    """Shows a system message, an image, and the answer of a call."""

    tools = ({"type": "function", "function": {"name": "add"}},)

    def reset(self, seed: int | None = None) -> Any:
        example = Message("assistant", "", (ToolCall("c", "add", {"a": 1}),))
        parts = (TextPart("What is\x1b[2J"), ImagePart(b"P"))
        return (Message("system", "Be brief."), example, Message("user", parts)), {}

    def step(self, action: str) -> gem.Step:
        if action == "fail":
            raise RuntimeError("broken")
        return gem.Step("\\boxed{a}\n\\boxed{b}", 1.0, action == "\\boxed{b}")


def test_all_that_a_model_is_shown_is_shown(typed: Command) -> None:
    gem.register("human:Shows", Shows)
    run = ("eval", "human:Shows", "--policy", "human", "--episodes", "1", "--out", "run")

    done = typed(':log\n:tools\n{"name": "add"}\n2\n', *run)

    assert done.returncode == 0
    assert 'Be brief.\n> add {"a": 1}\nWhat is\\x1b[2J\n[image]' in done.stdout
    assert '"name": "add"' in done.stdout
    assert " 1  a\n   2  b" in done.stdout
    [episode] = episodes()
    assert [turn.action for turn in episode.turns] == ['{"name": "add"}', "\\boxed{b}"]


def test_a_whole_prompt_is_shown_as_it_is(typed: Command) -> None:
    class Prompt(gem.Env):
        prompt_is_finished = True
        rewrites_history = True

        def reset(self, seed: int | None = None) -> Any:
            return "<|user|>Say it.", {}

        def step(self, action: str) -> gem.Step:
            return gem.Step("", 1.0, True)

    gem.register("human:Prompt", Prompt)
    done = typed("it\n", "eval", "human:Prompt", "--policy", "human", "--episodes", "1")

    assert "<|user|>Say it." in done.stdout


def test_an_environment_that_fails_ends_its_episode_alone(typed: Command) -> None:
    gem.register("human:Shows", Shows)
    run = ("eval", "human:Shows", "--policy", "human", "--episodes", "2", "--out", "run")

    done = typed("fail\n:send \\boxed{b}\n", *run)

    assert "Ended by env_error: RuntimeError: broken" in done.stdout
    assert [episode.stop_reason for episode in episodes()] == ["env_error", "terminated"]


def test_an_environment_that_fails_before_it_asks_shows_nothing(typed: Command) -> None:
    class Unset(gem.Env):
        def reset(self, seed: int | None = None) -> Any:
            raise RuntimeError("broken")

    gem.register("human:Unset", Unset)
    done = typed("", "eval", "human:Unset", "--policy", "human", "--episodes", "2")

    assert "Type your action" not in done.stdout


def test_python_plays_it_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a\n"))

    with pytest.raises(RunStopped, match="The player left"):
        gem_eval.evaluate("tiny:Echo", "human", episodes=2, out=tmp_path / "run")

    assert len(episodes(str(tmp_path / "run"))) == 1


TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from gem.cli._main import main
sys.exit(main(sys.argv[1:]))
"""


class Terminal:
    """A process at a pseudo-terminal of its own."""

    def __init__(self, arguments: Sequence[str], variables: dict[str, str], folder: Path) -> None:
        self._ours, theirs = pty.openpty()
        kept = {key: variables[key] for key in variables if key not in {"COLUMNS", "LINES"}}
        self.process = subprocess.Popen(
            [sys.executable, "-c", TERMINAL, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env={**kept, "TERM": "xterm"},
            start_new_session=True,
        )
        os.close(theirs)
        self._stat = Path(f"/proc/{self.process.pid}/stat")
        self.shown = ""

    def read_until(self, text: str) -> None:
        while text not in self.shown:
            self.shown += os.read(self._ours, 4096).decode()

    def type(self, keys: str) -> None:
        # Only when it sleeps: a signal between its prompt and its read would be lost.
        while self._stat.read_text().rpartition(")")[2].split()[0] != "S":
            assert self.process.poll() is None, "it has ended"
            os.sched_yield()
        self.shown = ""
        os.write(self._ours, keys.encode())

    def left(self) -> int:
        """Read to the end and return the exit status."""
        with contextlib.suppress(OSError):  # Linux answers so once the other side is closed
            self.read_until("never shown")
        return self.process.wait()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


@pytest.fixture
def terminal(variables: dict[str, str], tmp_path: Path) -> Iterator[Terminal]:
    """Return a terminal at which two hard games are to be played."""
    options = ("--episodes", "2", "--env-kwargs", '{"highest": 1000, "max_turns": 2}')
    opened = Terminal([*EVAL, *options], variables, tmp_path)
    yield opened
    opened.close()


@pytest.mark.slow
def test_two_episodes_at_a_real_terminal(terminal: Terminal, tmp_path: Path) -> None:
    terminal.read_until("\r\nTurn 0.\r\n> ")
    terminal.type("7\n")
    terminal.read_until("\r\nTurn 1.\r\n> ")
    assert "> \\boxed{7}\r\nIt is " in terminal.shown
    terminal.type("8\n")
    terminal.read_until("Enter: the next episode, :q leave> ")
    assert "No success after 2 turns (truncated), total reward 0." in terminal.shown
    terminal.type("\n")
    terminal.read_until("\r\nTurn 0.\r\n> ")
    terminal.type("7\n8\n")

    assert terminal.left() == 0
    # After the last screen is the table; nothing of a progress line is between them.
    after = terminal.shown.rpartition(REDRAW)[2]
    assert "total reward 0.\r\n\x1b[1menvironment " in after
    assert len(episodes(str(tmp_path / "run"))) == 2


@pytest.mark.slow
@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_what_was_played_is_kept_where_a_real_terminal_is_left_by(
    key: str, terminal: Terminal, tmp_path: Path
) -> None:
    terminal.read_until("> ")
    terminal.type("7\n8\n")
    terminal.read_until("leave> ")
    terminal.type(key)

    assert terminal.left() == 1
    assert "The player left. 1 of 2 episodes are kept in run." in terminal.shown
    assert "Traceback" not in terminal.shown
    assert len(episodes(str(tmp_path / "run"))) == 1
