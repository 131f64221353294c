"""The rules of each game, by positions whose outcome anybody can check."""

from __future__ import annotations

import pytest

from gem_envs_games.trees import (
    ConnectFour,
    KuhnPoker,
    LeducPoker,
    LiarsDice,
    Nim,
    PrisonersDilemma,
    RockPaperScissors,
    TicTacToe,
)

from .games import played, random_play


def has_line(rows: list[str], length: int) -> bool:
    """Whether a line of this length is on the board, by walking over it as it is drawn."""
    for row in range(len(rows)):
        for column in range(len(rows[0])):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + i * down, column + i * right) for i in range(length)]
                if all(r < len(rows) and 0 <= c < len(rows[0]) for r, c in cells):
                    marks = {rows[r][c] for r, c in cells}
                    if len(marks) == 1 and marks != {"."}:
                        return True
    return False


def test_tic_tac_toe_is_over_when_a_line_of_three_is_drawn_or_no_cell_is_free() -> None:
    for seed in range(300):
        for position in random_play(TicTacToe(), seed):
            board = position.known_to(0)
            is_won = has_line([board[:3], board[3:6], board[6:]], 3)
            assert position.is_over == (is_won or "." not in board)
            assert any(position.returns()) == is_won


def test_who_completes_the_line_wins_tic_tac_toe() -> None:
    assert played(TicTacToe(), *"03142").returns() == (1.0, -1.0)
    assert played(TicTacToe(), *"031485").returns() == (-1.0, 1.0)


@pytest.mark.parametrize("size", [(6, 7), (4, 4), (5, 4), (4, 9)])
def test_connect_four_is_over_when_a_line_of_four_is_drawn_or_no_cell_is_free(
    size: tuple[int, int],
) -> None:
    root = ConnectFour(rows=size[0], columns=size[1])

    for seed in range(60):
        for position in random_play(root, seed):
            is_won = has_line(position.known_to(0).split("/"), 4)
            assert position.is_over == (is_won or "." not in position.known_to(0))
            assert any(position.returns()) == is_won


def test_who_completes_the_line_wins_connect_four() -> None:
    assert played(ConnectFour(), *"0101010").returns() == (1.0, -1.0)
    assert played(ConnectFour(), *"20101010").returns() == (-1.0, 1.0)


def test_a_disc_falls_onto_those_of_its_column() -> None:
    position = played(ConnectFour(rows=4, columns=4), *"1120")

    assert position.known_to(1) == "..../..../.O../OXX."


def test_a_full_column_takes_no_disc() -> None:
    assert played(ConnectFour(rows=4, columns=4), *"1111").legal(0) == ("0", "2", "3")


@pytest.mark.parametrize(("misere", "returns"), [(False, (1.0, -1.0)), (True, (-1.0, 1.0))])
def test_who_takes_the_last_object_wins_nim_and_loses_misere(
    misere: bool, returns: tuple[float, float]
) -> None:
    position = played(Nim((1, 2), misere=misere), "1 1", "1 1", "0 1")

    assert position.returns() == returns


def test_who_folds_in_kuhn_poker_loses_the_ante_and_the_higher_card_wins_the_rest() -> None:
    dealt = played(KuhnPoker(), "J", "K")

    assert played(dealt, "bet", "pass").returns() == (1.0, -1.0)
    assert played(dealt, "pass", "bet", "pass").returns() == (-1.0, 1.0)
    assert played(dealt, "pass", "pass").returns() == (-1.0, 1.0)
    assert played(dealt, "pass", "bet", "bet").returns() == (-2.0, 2.0)
    assert played(dealt, "bet", "bet").returns() == (-2.0, 2.0)


@pytest.mark.parametrize(
    ("moves", "stakes", "returns"),
    [
        ("J K bet fold", (3, 1), (1.0, -1.0)),
        ("J K bet raise fold", (3, 5), (-3.0, 3.0)),
        ("J K check check Q check check", (1, 1), (-1.0, 1.0)),
        ("J K check check J check check", (1, 1), (1.0, -1.0)),  # a pair beats a king
        ("J K bet raise call J bet raise call", (13, 13), (13.0, -13.0)),
        ("J J bet call K check bet call", (7, 7), (0.0, 0.0)),
        ("Q K check bet raise call Q check bet fold", (5, 9), (-5.0, 5.0)),
    ],
)
def test_leduc_poker_pays_what_the_loser_put_in(
    moves: str, stakes: tuple[int, int], returns: tuple[float, float]
) -> None:
    position = played(LeducPoker(), *moves.split())

    assert position.is_over
    assert position.stakes() == stakes
    assert position.returns() == returns


def test_a_round_of_leduc_poker_has_two_bets_at_most() -> None:
    facing_bet = played(LeducPoker(), "J", "K", "check", "bet")

    assert facing_bet.legal(0) == ("fold", "call", "raise")
    assert played(facing_bet, "raise").legal(1) == ("fold", "call")


def test_the_cards_left_in_leduc_poker_decide_the_chances() -> None:
    assert played(LeducPoker(), "J").chances() == (("J", 0.2), ("Q", 0.4), ("K", 0.4))
    assert played(LeducPoker(), "J", "J", "check", "check").chances() == (("Q", 0.5), ("K", 0.5))


@pytest.mark.parametrize(
    ("dice", "bid", "holds"),
    [
        ("3 4", "1 4", True),
        ("3 4", "1 5", False),
        ("3 3", "2 3", True),
        ("3 4", "2 3", False),
        ("3 6", "2 3", True),  # a six counts as any
        ("3 4", "1 6", False),
        ("6 6", "2 6", True),
    ],
)
def test_a_bid_that_holds_wins_against_who_doubts_it(dice: str, bid: str, holds: bool) -> None:
    position = played(LiarsDice(), *dice.split(), bid, "liar")

    assert position.returns() == ((1.0, -1.0) if holds else (-1.0, 1.0))


def test_a_bid_must_be_higher_and_the_first_cannot_doubt() -> None:
    dealt = played(LiarsDice(), "1", "2")

    assert len(dealt.legal(0)) == 12
    assert played(dealt, "2 4").legal(1) == ("2 5", "2 6", "liar")
    assert played(dealt, "2 6").legal(1) == ("liar",)


def test_who_defects_alone_earns_five() -> None:
    position = played(
        PrisonersDilemma(rounds=4),
        ("cooperate", "cooperate"),
        ("defect", "cooperate"),
        ("cooperate", "defect"),
        ("defect", "defect"),
    )

    assert position.returns() == (9.0, 9.0)
    assert played(PrisonersDilemma(), ("defect", "cooperate")).returns() == (5.0, 0.0)


def test_each_of_rock_paper_and_scissors_beats_one_other() -> None:
    choices = ("rock", "paper", "scissors")

    won = {
        (first, second): played(RockPaperScissors(), (first, second)).returns()[0]
        for first in choices
        for second in choices
    }

    assert {pair for pair, value in won.items() if value == 1} == {
        ("paper", "rock"),
        ("scissors", "paper"),
        ("rock", "scissors"),
    }
    assert all(won[first, second] == -won[second, first] for first, second in won)
