"""What holds of every game of several seats."""

from __future__ import annotations

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

from .playing import played, sampled, totals

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
