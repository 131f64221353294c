"""`gem-env eval` at a real terminal, in a log, and when Ctrl-C is pressed."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

GONE = "\x1b[?25h\r\x1b[1A\x1b[2K"  # the cursor is back; up to the line, and nothing left of it
EVALUATION = ("eval", "tiny:Lamps", "--policy", "solver", "--policy", "random", "--out", "run")


class Shown(NamedTuple):
    status: int
    err: str
    out: str


Terminal = Callable[..., Shown]


@pytest.fixture
def terminal(variables: dict[str, str], tmp_path: Path) -> Terminal:
    """Return a function that runs `gem-env` with a terminal as stderr, in an empty folder.

    As soon as the terminal was told `stop_at`, Ctrl-C is pressed; with `then`, that is called.
    """

    def run(
        *arguments: str,
        stop_at: str | None = None,
        then: Callable[[], None] | None = None,
        **more: str,
    ) -> Shown:
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "gem", *arguments],
            cwd=tmp_path,
            env={**variables, "TERM": "xterm", "COLUMNS": "200", **more},
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            start_new_session=True,
        ) as process:
            os.close(theirs)
            told = ""
            with contextlib.suppress(OSError):  # Linux answers so once the other side is closed
                while chunk := os.read(ours, 4096):
                    told += chunk.decode()
                    if stop_at is not None and stop_at in told:
                        stop_at = None
                        if then is None:
                            # As a terminal does to all in front.
                            os.killpg(process.pid, signal.SIGINT)
                        else:
                            then()
            os.close(ours)
            assert process.stdout is not None
            out = process.stdout.read()
        return Shown(process.returncode, told.replace("\r\n", "\n"), out)

    return run


@pytest.mark.slow
def test_a_terminal_shows_the_figures_until_the_table_comes(terminal: Terminal) -> None:
    done = terminal(*EVALUATION, "--episodes", "100")

    assert done.status == 0
    assert "0/200 episodes  errors 0" in done.err
    assert " steps/s  p50 " in done.err
    assert "200/200 episodes" in done.err
    assert "tiny:Lamps random" in done.err
    assert done.err.endswith(GONE)
    assert "tiny:Lamps" in done.out


@pytest.mark.slow
def test_a_resumed_run_counts_on(terminal: Terminal, tmp_path: Path) -> None:
    terminal(*EVALUATION, "--episodes", "100")
    log = tmp_path / "run" / "episodes.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:150]))

    done = terminal("eval", "--resume", "run")

    assert "150/200 episodes  errors 0" in done.err
    assert "200/200 episodes" in done.err


@pytest.mark.slow
def test_no_colour_is_wanted_and_none_is_shown(terminal: Terminal) -> None:
    done = terminal(*EVALUATION, "--episodes", "10", NO_COLOR="1")

    assert "20/20 episodes" in done.err
    assert "\x1b[3" not in done.err


@pytest.mark.slow
def test_what_a_policy_is_called_cannot_colour_the_line(terminal: Terminal) -> None:
    done = terminal(*EVALUATION, "--policy", "parrot:\x1b[31m", "--episodes", "10")

    assert "tiny:Lamps parrot:\\x1b[31m" in done.err


@pytest.mark.slow
def test_json_hides_the_line(terminal: Terminal) -> None:
    assert terminal(*EVALUATION, "--episodes", "10", "--json").err == ""


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["inline", "thread", "process"])
def test_ctrl_c_shows_what_is_there_and_says_how_to_go_on(terminal: Terminal, backend: str) -> None:
    # So many that none of them can end before the key is pressed, however late.
    options = ("--episodes", "50000", "--backend", backend)

    done = terminal(
        *EVALUATION, *options, stop_at=" left  "
    )  # which is told once episodes have ended

    assert done.status == 130
    assert done.out.startswith("environment  policy  episodes ")
    _, _, last = done.err.rpartition(GONE)
    assert last.startswith("gem-env eval: interrupted. ")
    assert last.endswith(
        " of 100000 episodes are kept in run. Go on with: gem-env eval --resume run\n"
    )


@pytest.mark.slow
def test_a_server_that_is_waited_for_is_said(terminal: Terminal, server: Any, answers: Any) -> None:
    server.answers = [answers.Answer(503, b"loading")]
    policy = f"openai:m@{server.url}"

    def come_back() -> None:
        server.answers = [answers.chat(r"\boxed{8}")]

    done = terminal(
        *("eval", "tiny:Guess", "--policy", policy, "--episodes", "5", "--max-turns", "1"),
        *("--wait-for-server", "600", "--out", "run"),
        stop_at="waiting ",
        then=come_back,
    )

    assert done.status == 0
    assert re.search(rf"0/5 episodes  waiting \d+ of 600 s for {re.escape(server.url)}", done.err)
    assert "5/5 episodes" in done.err


@pytest.mark.slow
def test_a_server_that_is_asked_less_is_said(terminal: Terminal, server: Any, answers: Any) -> None:
    good = answers.chat(r"\boxed{8}")
    # All five are refused at once, and the pause is long enough to be drawn on a busy machine.
    pause = (("Retry-After", "3"),)
    busy = answers.Answer(429, b"busy", pause, meets=threading.Barrier(5))
    server.answers = [good, *[busy] * 5, good]
    policy = f"openai:m@{server.url}"

    done = terminal(
        *("eval", "tiny:Guess", "--policy", policy, "--episodes", "5", "--max-turns", "1"),
        *("--out", "run"),
    )

    assert done.status == 0
    assert "0/5 episodes  throttled to 2 at once, paused, as the server asks" in done.err
    assert "5/5 episodes" in done.err
