"""In a real pseudo-terminal."""

from __future__ import annotations

import pytest

from .terminals import Open


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


def test_an_environment_that_raises_in_a_real_terminal(terminal: Open) -> None:
    player = terminal("Raises")
    player.type("1\n")

    assert player.left() == 1
    assert player.shown.endswith("The environment raised RuntimeError: out of words\r\n")


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_leaving_a_real_terminal_by(key: str, terminal: Open) -> None:
    player = terminal()
    player.wait_for_a_read()
    player.type(key)

    assert player.left() == 0
    assert "Left after 0 turns" in player.shown
    assert "Traceback" not in player.shown
