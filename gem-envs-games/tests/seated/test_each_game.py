"""What each game of several seats tells and pays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gem.errors import BadArguments
from gem_envs_games.seated.connect_four import ConnectFour
from gem_envs_games.seated.kuhn_poker import KuhnPoker
from gem_envs_games.seated.leduc_poker import LeducPoker
from gem_envs_games.seated.liars_dice import LiarsDice
from gem_envs_games.seated.nim import Nim
from gem_envs_games.seated.prisoners_dilemma import PrisonersDilemma
from gem_envs_games.seated.rock_paper_scissors import RockPaperScissors
from gem_envs_games.seated.tic_tac_toe import TicTacToe
from gem_envs_games.seated.tree_game import TreeGame

from .playing import boxed, played, sampled, solved, taken, totals


def test_tic_tac_toe_is_told_move_by_move() -> None:
    steps = taken(TicTacToe(), "4", "0", "1", "7", "3", "2", "5")

    assert steps[1].observation == ("O chose 0.\nO 1 2\n3 X 5\n6 7 8\nYou are X. Enter your move.")
    assert steps[-1].rewards == (1.0, -1.0)
    assert steps[-1].observations[1] == "X chose 5.\nO X O\nX X X\n6 O 8\nX wins."
    assert steps[-1].observations[0] == "O X O\nX X X\n6 O 8\nX wins."
    assert steps[-1].info["successes"] == (True, False)


def test_a_draw_is_nobodys_success() -> None:
    end = played(TicTacToe(), [solved, solved], 0)[-1]

    assert end.rewards == (0.0, 0.0)
    assert end.info["successes"] == (False, False)
    assert str(end.observation).endswith("It is a draw.")


def test_a_move_that_is_not_allowed_says_so() -> None:
    env = TicTacToe()
    taken(env, "4")

    refused = env.step("\\boxed{4}")

    assert (refused.seat, refused.info["action_error"]) == (1, "invalid")
    assert str(refused.observation).startswith("The move 4 is not allowed now. Expected the number")
    assert env.step("[0]").seat == 0


def test_a_good_move_wipes_out_the_error_before_it() -> None:
    env = TicTacToe()
    env.reset(seed=0)
    for move in ("4", "0", "1"):
        assert not env.step("no").terminated
        assert "action_error" not in env.step(boxed(move)).info


def test_connect_four_shows_its_columns() -> None:
    step = taken(ConnectFour(rows=4, columns=5), "1", "1", "4")[-1]

    assert step.observation is not None
    assert str(step.observation).endswith(
        "X chose 4.\n0 1 2 3 4\n. . . . .\n. . . . .\n. O . . .\n. X . . X\n"
        "You are O. Enter your move."
    )
    wide = taken(ConnectFour(rows=4, columns=11), "10")[-1]
    assert " 8  9 10\n" in str(wide.observation)
    assert str(wide.observation).splitlines()[-2].endswith(" .  .  X")


def test_connect_four_reads_a_named_column() -> None:
    assert taken(ConnectFour(), "col 3")[-1].seat == 1
    assert taken(ConnectFour(), "3 4")[-1].info["action_error"] == "format"


def test_the_first_seat_wins_nim_by_solve_and_loses_misere_of_even_ones() -> None:
    assert totals(played(Nim(), [solved, sampled], 0)) == [1.0, -1.0]
    assert totals(played(Nim((1, 1), misere=True), [solved, solved], 0)) == [1.0, -1.0]
    assert totals(played(Nim((1, 1)), [solved, solved], 0)) == [-1.0, 1.0]


@pytest.mark.parametrize("move", ["3 1", "0 4", "0 0", "0 -1"])
def test_nim_refuses_what_is_not_there(move: str) -> None:
    assert taken(Nim(), move)[-1].info["action_error"] == "invalid"


def test_cards_are_shown_at_the_end_unless_somebody_folded() -> None:
    shown = taken(KuhnPoker(), "bet", "call", seed=1)[-1]
    folded = taken(KuhnPoker(), "bet", "fold", seed=1)[-1]

    assert "The first player had" in str(shown.observation)
    assert "had" not in str(folded.observation)
    assert folded.rewards == (1.0, -1.0)


def test_the_public_card_of_leduc_poker_is_told_to_both() -> None:
    env = LeducPoker()
    steps = taken(env, "check", "check", "check", seed=3)
    told = f"The public card is {env.position.public}."

    assert told in str(steps[1].observation)
    assert told in str(steps[2].observation)
    assert str(steps[1].observation).endswith(
        "You have put in 1, the other player 1. You may check, bet."
    )


def test_both_dice_are_shown_when_a_bid_is_doubted() -> None:
    env = LiarsDice()
    last = taken(env, "2 6", "Liar", seed=2)[-1]
    first, second = env.position.dice

    won = 0 if first == second == 6 else 1
    assert last.rewards[won] == 1.0
    assert f"The first player's die shows {first}, the second's {second}." in str(last.observation)


def test_in_a_round_nobody_learns_the_other_choice_before_all_are_made() -> None:
    steps = taken(RockPaperScissors(rounds=2), "rock", "paper", "paper", "paper")

    assert steps[0].observations == {}
    assert steps[1].observations[0] == (
        "You chose rock. The second player chose paper.\nRound 2 of 2. Enter your choice."
    )
    assert steps[1].rewards == (-1.0, 1.0)
    assert steps[3].observations[1] == (
        "You chose paper. The first player chose paper.\n"
        "The game is over. Points: first -1, second 1."
    )


def test_a_seat_that_is_asked_again_in_a_round_does_not_see_the_other_choice() -> None:
    env = RockPaperScissors(rounds=1)
    env.reset(seed=0)
    env.step("no")
    asked_again = env.step("\\boxed{rock}")
    end = env.step("\\boxed{paper}")

    assert asked_again.seat == 0
    assert "rock" not in str(asked_again.observation).partition("Expected")[0]
    assert "action_error" not in asked_again.info
    assert asked_again.info["action_errors"] == {0: "format"}
    assert "action_errors" not in end.info
    assert end.rewards == (1.0, -1.0)


def test_two_seats_may_forfeit_at_once() -> None:
    env = PrisonersDilemma(error_allowance=0)
    env.reset(seed=0)
    env.step("no")
    end = env.step("no")

    assert end.rewards == (0.0, 0.0)
    assert end.info["successes"] == (False, False)
    both = RockPaperScissors(error_allowance=0)
    both.reset(seed=0)
    both.step("no")
    assert both.step("no").rewards == (0.0, 0.0)


def test_a_forfeit_loses_the_rounds_that_are_left() -> None:
    env = RockPaperScissors(rounds=3, error_allowance=0)
    taken(env, "rock", "scissors")
    env.step(boxed("rock"))

    end = env.step("no")

    assert end.rewards == (2.0, -2.0)
    assert end.info["successes"] == (True, False)


@pytest.mark.parametrize(
    ("game", "choices"),
    [(RockPaperScissors, ("rock", "scissors")), (PrisonersDilemma, ("defect", "cooperate"))],
)
def test_who_leads_and_forfeits_has_not_succeeded(
    game: type[RockPaperScissors | PrisonersDilemma], choices: tuple[str, str]
) -> None:
    env = game(rounds=4, error_allowance=0)
    taken(env, *choices, *choices, *choices)
    env.step("no")

    end = env.step(boxed(choices[1]))

    assert end.terminated
    assert end.info["successes"] == (False, False)


def test_mutual_cooperation_is_a_success_and_defection_none() -> None:
    kind = taken(PrisonersDilemma(rounds=1), "cooperate", "cooperate")[-1]
    solving = played(PrisonersDilemma(), [solved, solved], 0)

    assert (kind.rewards, kind.info["success"]) == ((3.0, 3.0), True)
    assert totals(solving) == [5.0, 5.0]
    assert solving[-1].info["successes"] == (False, False)


@pytest.mark.parametrize("game", [KuhnPoker, LeducPoker, LiarsDice])
def test_solve_mixes_and_does_not_lose_to_random_play(game: type[TreeGame[Any]]) -> None:
    env = game()  # type: ignore[call-arg]  # a subclass has a root of its own
    gained = 0.0
    for seed in range(150):
        gained += totals(played(env, [solved, sampled], seed))[0]
        gained += totals(played(env, [sampled, solved], seed))[1]

    assert gained > 0


def test_solve_bets_a_jack_or_a_king_of_kuhn_poker_sometimes() -> None:
    env = KuhnPoker()
    answers: dict[str, set[str | None]] = {}
    for seed in range(60):
        env.reset(seed=seed)
        env.step("\\boxed{pass}")
        answers.setdefault(env.position.cards[1], set()).add(env.solve())

    assert answers["K"] == {"\\boxed{bet}"}
    assert answers["J"] == {"\\boxed{bet}", "\\boxed{pass}"}


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Nim(()), "Pass 1 to 20 piles of 1 to 100 objects"),
        (lambda: Nim((0, 1)), "Pass 1 to 20 piles"),
        (lambda: ConnectFour(rows=3), "from 4 to 16"),
        (lambda: RockPaperScissors(rounds=0), "a number from 1 to 1000"),
        (lambda: PrisonersDilemma(rounds=1001), "PrisonersDilemma was given rounds=1001"),
    ],
)
def test_a_size_that_is_no_game_is_refused(make: Callable[[], object], text: str) -> None:
    with pytest.raises(BadArguments, match=text):
        make()
