"""Games of several seats: what each seat is told and paid, by direct steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gem
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

GAMES: list[type[Any]] = [
    ConnectFour,
    KuhnPoker,
    LeducPoker,
    LiarsDice,
    Nim,
    PrisonersDilemma,
    RockPaperScissors,
    TicTacToe,
]
EVERY_GAME = pytest.mark.parametrize("game", GAMES, ids=lambda game: str(game.__name__))
Player = Callable[[Any], str | None]


def boxed(move: str) -> str:
    return f"\\boxed{{{move}}}"


def taken(env: gem.SeatedEnv, *moves: str, seed: int = 0) -> list[gem.Step]:
    """The steps of an episode in which these moves are made, each in a box."""
    env.reset(seed=seed)
    return [env.step(boxed(move)) for move in moves]


def played(env: gem.SeatedEnv, players: list[Player], seed: int) -> list[gem.Step]:
    """The steps of an episode that these players play, one a seat."""
    env.reset(seed=seed)
    steps: list[gem.Step] = []
    while not steps or not (steps[-1].terminated or steps[-1].truncated):
        steps.append(env.step(players[env.seat](env) or ""))
    return steps


def sampled(env: Any) -> str:
    return str(env.sample_action())


def solved(env: Any) -> str:
    return str(env.solve())


def totals(steps: list[gem.Step]) -> list[float]:
    return [sum(amounts) for amounts in zip(*[step.rewards for step in steps], strict=True)]


@EVERY_GAME
def test_a_game_pays_in_all_what_its_tree_returns(game: type[Any]) -> None:
    env = game()
    for seed in range(20):
        steps = played(env, [sampled, sampled], seed)

        assert totals(steps) == pytest.approx(list(env.position.returns()))
        assert steps[-1].info["success"] == all(steps[-1].info["successes"])


@EVERY_GAME
def test_rewards_have_the_sum_0_where_that_is_declared_and_stay_in_their_range(
    game: type[Any],
) -> None:
    env = game()
    low, high = env.reward_range
    for seed in range(20):
        for step in played(env, [sampled, sampled], seed):
            assert not env.zero_sum or sum(step.rewards) == 0
            assert all(low <= reward <= high for reward in step.rewards)


@EVERY_GAME
def test_one_seed_is_one_episode_and_a_snapshot_goes_on_as_it_was(game: type[Any]) -> None:
    for seed in range(5):
        steps = played(game(), [sampled, sampled], seed)
        assert played(game(), [sampled, sampled], seed) == steps

        env = game()
        env.reset(seed=seed)
        env.step(env.sample_action())
        copy = game()
        copy.set_state(gem.Snapshot.from_json(env.get_state().to_json()))
        while not copy.position.is_over:
            action = copy.sample_action()
            assert copy.step(action) == env.step(action)


@EVERY_GAME
def test_no_secret_is_shown_to_another_seat_before_the_end(game: type[Any]) -> None:
    env = game()
    for seed in range(20):
        _, info = env.reset(seed=seed)
        secrets = env.secrets()
        shown = dict(info["observations"])
        while True:
            for seat, texts in secrets.items():
                other = str(shown.get(1 - seat, ""))
                assert not any(text in other for text in texts if text not in secrets[1 - seat])
            step = env.step(env.sample_action())
            if step.terminated:
                break
            shown = dict(step.observations)


@EVERY_GAME
def test_each_seat_is_told_the_rules_and_its_own_secret_when_it_is_first_asked(
    game: type[Any],
) -> None:
    env = game()
    _, info = env.reset(seed=0)
    observations = dict(info["observations"])
    while len(observations) < 2:
        observations |= env.step(env.sample_action()).observations

    for seat, text in observations.items():
        assert text.startswith(env.instructions(seat))
        assert all(secret in text for secret in env.secrets().get(seat, []))


@EVERY_GAME
@pytest.mark.parametrize("answer", ["", "no", "\\boxed{}", "\\boxed{what}", "[", "\\boxed{1 2 3}"])
def test_an_answer_that_cannot_be_read_is_asked_again_and_then_forfeits(
    game: type[Any], answer: str
) -> None:
    env = game()
    env.reset(seed=0)
    asked_again = env.step(answer)
    if env.seat != 0:  # the other seat of the round is heard first
        asked_again = env.step(env.sample_action())
    end = env.step(answer)

    assert (asked_again.seat, asked_again.rewards) == (0, (0.0, 0.0))
    assert list(asked_again.observations) == [0]
    assert "could not be read. Expected" in str(asked_again.observation)
    assert end.terminated
    assert end.info["action_error"] == "format"
    assert end.rewards == tuple(env.forfeit_rewards([0]))
    assert end.info["successes"] == (False, True)
    assert "You forfeit" in str(end.observations[0])
    assert str(end.observations[1]).endswith("gave no valid answer and forfeits.")


@EVERY_GAME
def test_nobody_earns_more_by_a_forfeit_than_by_the_worst_play(game: type[Any]) -> None:
    env = game()
    env.reset(seed=0)
    forfeit = env.forfeit_rewards([0])[0]

    assert all(totals(played(env, [sampled, sampled], seed))[0] >= forfeit for seed in range(30))


@EVERY_GAME
def test_megabytes_are_read_and_refused(game: type[Any]) -> None:
    env = game(error_allowance=10)
    env.reset(seed=0)

    for answer in ("\\boxed{" * 150_000, "[" * 1_000_000, "[1" * 500_000, "9" * 1_000_000):
        env.step(answer)


@EVERY_GAME
def test_nobody_errs_less_than_never(game: type[Any]) -> None:
    with pytest.raises(BadArguments, match="Pass 0 or more"):
        game(error_allowance=-1)


@EVERY_GAME
def test_what_solve_answers_is_allowed_and_the_same_whenever_it_is_asked(game: type[Any]) -> None:
    env = game()
    env.reset(seed=3)
    while not env.position.is_over:
        answer = env.solve()
        assert answer == env.solve()
        assert "action_error" not in env.step(answer).info

    assert env.solve() is None
    assert env.sample_action() == ""


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
