"""Without an id there is a menu."""

from __future__ import annotations

import io

import pytest

from gem.cli.main import main

from .terminals import Output, Play


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
