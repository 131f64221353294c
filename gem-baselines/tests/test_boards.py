"""The view of TicTacToe: boards that are alike are one state, and answers fit the board shown."""

from __future__ import annotations

import pytest

from gem.content import Message
from gem.conversation import Request
from gem.errors import BadArguments
from gem_baselines.boards import board_of, cells_of


def shown(*texts: str) -> Request:
    return Request(tuple(Message("user", text) for text in texts))


def test_boards_that_a_turn_or_a_mirror_makes_equal_are_one_state() -> None:
    corners = ["X 1 2\n3 4 5\n6 7 8", "0 1 X\n3 4 5\n6 7 8", "0 1 2\n3 4 5\n6 7 X"]

    assert len({board_of(shown(board)) for board in corners}) == 1
    assert board_of(shown("0 X 2\n3 4 5\n6 7 8")) != board_of(shown(corners[0]))


def test_an_answer_names_the_cell_of_the_board_that_was_shown() -> None:
    one = shown("X O O\n3 X O\nO X 8")
    other = shown("X O O\nO X O\n6 X O")

    assert {answer for answer in cells_of(one) if answer} == {r"\boxed{3}", r"\boxed{8}"}
    assert {answer for answer in cells_of(other) if answer} == {r"\boxed{6}"}


def test_a_refused_answer_leaves_the_board_as_it_was() -> None:
    board = "X 1 2\n3 O 5\n6 7 8"

    assert board_of(shown(board, "The move 0 is not allowed now.")) == board_of(shown(board))


def test_without_a_board_the_view_does_not_fit() -> None:
    with pytest.raises(BadArguments, match="shows no board"):
        board_of(shown("Pass or bet?"))
