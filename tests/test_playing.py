"""Every family of games is played at a real terminal, by `gem-env play` and its own hints."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import Iterator

import pytest

import gem

REDRAW = "\x1b[H\x1b[J"
MOST_TURNS = 60
EASY = {spec.id.partition("-")[0]: spec.id for spec in gem.list_envs("game:*-easy")}


def test_every_family_has_an_easy_game() -> None:
    assert len(EASY) == 13


@pytest.mark.parametrize("id", EASY.values(), ids=EASY)
def test_hints_win_an_easy_game_at_a_terminal(id: str) -> None:
    screens = list(played(id, [":rules", *[":hint!"] * MOST_TURNS, ":quit"]))

    assert any("Success after" in screen for screen in screens)
    assert not any("raised" in screen or "Traceback" in screen for screen in screens)


@pytest.mark.parametrize("id", EASY.values(), ids=EASY)
def test_a_turn_taken_back_leaves_the_board_as_it_was(id: str) -> None:
    _, first, *_, last = played(id, [":hint!", ":undo", "", ":quit"])

    assert first.partition("> ")[0] == last.partition("> ")[0]


def played(id: str, lines: list[str]) -> Iterator[str]:
    """Type the lines at a pseudo-terminal of its own, and return the screens that were drawn."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gem", "play", id, "--seed", "1"]
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "60"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=variables, start_new_session=True
    ) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # Linux answers so once the other side is closed
            while not shown.endswith(b"> "):
                shown += os.read(ours, 4096)
            os.write(ours, "".join(f"{line}\n" for line in lines).encode())
            while chunk := os.read(ours, 4096):
                shown += chunk
        os.close(ours)
    assert process.returncode == 0, shown.decode(errors="replace")
    yield from shown.decode().replace("\r\n", "\n").split(REDRAW)
