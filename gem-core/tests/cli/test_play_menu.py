"""What a player may choose from: a menu of environments, answers by their numbers."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from gem.cli._main import main

Output = pytest.CaptureFixture[str]
Play = Callable[..., str]


def test_a_number_takes_an_answer_that_is_listed(play: Play) -> None:
    shown = play("Links", "2", "1", "3", ":undo", "2")

    assert " 1  Iron\n   2  Gold" in shown
    assert "You said \\boxed{Gold}" in shown
    assert "You said <answer>Up</answer>" in shown
    assert "You said \\boxed{3}" in shown
    assert "You said <answer>Down</answer>" in shown


def test_a_call_of_a_tool_is_not_put_into_a_box(play: Play) -> None:
    assert "sent as" not in play("Tooled", '<tool_call>{"name": "add"}</tool_call>')
    assert "sent as \\boxed{8}" in play("Tooled", "8")
    assert "sent as" in play("Guess", "<8>")


def test_without_an_id_there_is_a_menu(typed: Play) -> None:
    shown = typed(lines="play\nnonsense\n99\nplay:Lamps\n1\n:q\n")

    assert "What to play?" in shown
    assert "Give a number from 1 to" in shown
    assert "Left after 1 turn" in shown


def test_the_menu_takes_numbers_and_can_be_left(typed: Play) -> None:
    assert "What to play?" in typed(lines="1\n:q\n")
    assert "What to play?" in typed(lines=":q\n")
    assert "What to play?" in typed(lines="")  # the keyboard's end


def test_a_number_of_the_menu_may_have_zeros_before_it(typed: Play) -> None:
    assert "Give a number from 1 to" in typed(lines="0000000012345\n:q\n")


def test_without_an_id_and_a_terminal_an_id_is_asked_for(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())

    assert main(["play"]) == 2
    assert "was given no environment. Name one" in capsys.readouterr().err
