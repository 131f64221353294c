"""A game of PettingZoo is an environment of seats: told, asked, paid and dropped as its agents."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

import gem
from gem.errors import BadArguments, MissingRequirement, TargetError
from gem.testing import SeatedEnvContract

pytest.importorskip("pettingzoo", reason="gem-integrations' extra `pettingzoo` is not installed")

import numpy as np
from gymnasium import spaces

from gem_integrations.pettingzoo import PettingZooGame

from . import games

FILE = str(Path(games.__file__))  # other processes know it by its path
ID = "pettingzoo:Game-v0"
THREE = {"game": games.Pick, "options": {"players": 3}}


def running(env: PettingZooGame) -> Any:
    """Return the environment of PettingZoo that is played."""
    assert env._playing is not None
    return env._playing.env


def seed_that_draws(number: int, **kwargs: Any) -> PettingZooGame:
    """Return a game of Pick that was reset, in which this number was drawn."""
    env = PettingZooGame(**{"game": games.Pick, **kwargs})
    for seed in range(100):
        env.reset(seed=seed)
        if running(env).drawn == number:
            return env
    raise AssertionError("no seed draws it")


class TestRounds(SeatedEnvContract):
    env_id = "gem_integrations.pettingzoo:PettingZooGame"
    env_kwargs: ClassVar[dict[str, Any]] = {"game": f"{FILE}:Push"}
    seeds = range(4)
    backends = ("sync",)
    # To look for an answer takes seconds, and this game has none.
    test_leaks = None


def test_a_seat_is_told_the_rules_its_observation_and_how_to_answer() -> None:
    env = PettingZooGame(games.Pick, rules="One number loses.")

    observation, info = env.reset(seed=1)

    assert env.seats == ("player_0", "player_1")
    assert (env.seat, set(info["observations"])) == (0, {0})
    assert observation == (
        "You are player_0 in told_v0, with player_1.\n"
        "One number loses.\n"
        "You see: 0 0 0 0 0\n"
        "Legal now: 0, 1, 2, 3, 4. Give your action in \\boxed{}: a whole number from 0 to 4."
    )


def test_an_observation_and_an_action_can_be_the_authors_own() -> None:
    env = gem.make(ID, game=f"{FILE}:Pick", render=f"{FILE}:mark", read=f"{FILE}:number_word")
    env.reset(seed=1)

    step = env.step("four")

    assert "player_1 sees ....x" in str(step.observation)
    assert "action_error" not in step.info
    assert env.step("some").info["action_error"] == "format"
    assert env.step(r"\boxed{1}").seat == 0  # as samples are written
    assert env.step("nine").info["action_error"] == "invalid"  # it is no number of the game


def test_rewards_and_ends_are_those_of_the_agents() -> None:
    env = seed_that_draws(3)

    first = env.step(r"\boxed{0}")
    last = env.step(r"\boxed{3}")

    assert (first.rewards, first.seat, first.terminated) == ((0.0, 0.0), 1, False)
    assert (last.rewards, last.terminated) == ((0.0, -1.0), True)
    assert last.ends == {0: "terminated", 1: "terminated"}


def test_an_agent_that_is_out_is_asked_no_more_and_the_others_go_on() -> None:
    env = seed_that_draws(0, options={"players": 3})

    out = env.step(r"\boxed{0}")
    steps = [out, env.step(r"\boxed{2}"), env.step(r"\boxed{1}")]

    assert out.ends == {0: "terminated"}
    assert [step.seat for step in steps] == [1, 2, 2]
    assert [step.rewards for step in steps] == [(-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)]
    assert steps[-1].terminated
    assert "The game is over for you." in str(steps[-1].observations[0])


@pytest.mark.parametrize(
    ("action", "kind", "reason"),
    [
        (r"\boxed{7}", "invalid", "It is not a whole number from 0 to 4."),
        (r"\boxed{4}", "invalid", "It is not legal now."),
        (r"\boxed{true}", "invalid", "It is not a whole number from 0 to 4."),
        (r"\boxed{[1]}", "invalid", "It is not a whole number from 0 to 4."),
        ("\\boxed{" + "9" * 5000 + "}", "format", "It could not be read: a number"),
        ("I take it.", "format", "It could not be read: it is not JSON"),
        ("[" * 100_000, "format", "It could not be read"),
    ],
)
def test_what_is_no_legal_action_is_an_error_and_asks_the_seat_again(
    action: str, kind: str, reason: str
) -> None:
    env = seed_that_draws(0)
    env.step(r"\boxed{4}")

    step = env.step(action)

    assert (step.info["action_error"], step.seat, step.terminated) == (kind, 1, False)
    assert f"Your action was refused. {reason}" in str(step.observation)
    assert "Legal now: 0, 1, 2, 3." in str(step.observation)
    assert "action_error" not in env.step(r"\boxed{1}").info


def test_one_error_more_than_allowed_in_a_row_ends_it_for_all() -> None:
    env = PettingZooGame(games.Pick, error_allowance=1, illegal_reward=-5)
    env.reset(seed=1)

    env.step("what?")
    step = env.step("what?")

    assert (step.terminated, step.rewards) == (True, (-5.0, 0.0))
    assert step.observations[1] == "player_0 gave no valid action. The game is over."


def test_where_no_mask_is_what_the_game_raises_on_is_refused_and_leaves_no_trace() -> None:
    env = PettingZooGame(games.Strict)
    env.reset(seed=1)
    env.step("1")

    refused = env.step("2")
    counts = [env.step("1"), env.step("1")]

    assert refused.info["action_error"] == "invalid"
    assert "The game does not take it (ValueError: 2 is too much)." in str(refused.observation)
    assert "You see: 2" in str(counts[0].observation)
    assert (counts[1].terminated, counts[1].rewards) == (True, (1.0, 1.0))


def test_what_the_game_raises_on_counts_as_an_error_in_a_row() -> None:
    env = PettingZooGame(games.Strict)
    env.reset(seed=1)

    first = env.step("2")
    second = env.step("2")

    assert (first.terminated, second.terminated) == (False, True)
    assert (second.rewards, second.info["action_error"]) == ((-1.0, 0.0), "invalid")


def test_agents_that_act_at_once_are_a_round() -> None:
    env = PettingZooGame(games.Push)
    observation, info = env.reset(seed=1)

    heard = [env.step("[0.5, 0]"), env.step("[1, 0]")]
    done = env.step("[0, 0]")

    assert set(info["observations"]) == {0, 1, 2}
    assert "cart: " in str(observation)
    assert [step.observations for step in heard] == [{}, {}]
    assert (done.rewards, set(done.observations)) == ((1.5, 1.5, 1.5), {0, 1, 2})


def test_in_a_round_an_unreadable_answer_alone_is_asked_again() -> None:
    env = PettingZooGame(games.Push)
    env.reset(seed=1)
    env.step("[0.5, 0]")
    env.step("[7, 0]")

    again = env.step("[0, 0]")
    done = env.step("[1, 0]")

    assert (set(again.observations), again.seat) == ({1}, 1)
    assert again.info["action_errors"] == {1: "invalid"}
    assert "action_error" not in again.info
    assert "each" not in str(again.observation)
    assert done.rewards == (1.5, 1.5, 1.5)


def test_an_agent_that_a_limit_takes_out_of_a_round_is_truncated() -> None:
    env = PettingZooGame(games.Push)
    env.reset(seed=1)

    steps = [env.step("[0, 0]") for _ in range(8)]

    assert steps[5].ends == {2: "truncated"}
    assert steps[-1].ends == {0: "terminated", 1: "terminated"}
    assert (steps[-1].terminated, steps[-1].truncated) == (True, False)


def test_a_fork_goes_its_own_way_and_closing_it_leaves_the_first_open() -> None:
    env = seed_that_draws(4)
    env.step("0")
    twin = env.fork()

    taken = twin.step("1")
    twin.close()
    step = env.step("1")

    assert step.observation == taken.observation
    assert not running(env).is_closed


def test_sampled_actions_are_legal_and_do_not_move_the_game() -> None:
    env = seed_that_draws(4, error_allowance=0)
    for _ in range(4):
        if env.step(env.sample_action()).terminated:
            break

    assert running(env).terminations == {} or running(env).left.sum() == 1


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"game": "told_v0"}, "is in no registry of PettingZoo."),
        ({"game": "classic/tictactoe_v9"}, "Did you mean 'classic/tictactoe-v3'"),
        ({"game": "tictactoe_v3"}, "Did you mean 'classic/tictactoe-v3'"),
        ({"game": "classic/go_v5", "form": "parallel"}, "leave `form` out"),
        ({"game": games.Pick, "form": "both"}, "Pass 'aec' or 'parallel'."),
        (
            {"game": games.Pick, "form": "parallel"},
            "made Pick. Pass what makes PettingZoo's ParallelEnv.",
        ),
        ({"game": games.Pick, "options": {"players": 3, "x": 1}}, "Pass options= as it takes them"),
        ({"game": games.Pick()}, "is a Pick, and no maker of a game."),
        ({"game": ModuleType("empty")}, "has no env and no parallel_env"),
        ({"game": lambda: 3}, "made int."),
        ({"game": games.Pick, "options": {"players": 1}}, "told_v0 has 1 possible_agents"),
    ],
)
def test_what_is_no_game_for_seats_is_refused_in_one_line(
    kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadArguments) as caught:
        PettingZooGame(**kwargs)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_target_that_is_not_there_is_named() -> None:
    with pytest.raises(TargetError, match="nowhere:Game"):
        PettingZooGame("nowhere:Game")


def test_a_game_that_lacks_its_own_packages_says_what_to_install() -> None:
    with pytest.raises(MissingRequirement, match=r"Run: pip install .?pettingzoo\[atari\]"):
        PettingZooGame("atari/pong_v3")


def test_a_game_that_nobody_can_read_asks_for_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = spaces.Box(0, 255, (210, 160, 3), np.uint8)
    monkeypatch.setattr(games.Strict, "places", screen)

    with pytest.raises(BadArguments, match=r"strict_v0 shows 100,800 numbers .* Pass render="):
        PettingZooGame(games.Strict)

    monkeypatch.setattr(games.Strict, "moves", spaces.Sequence(spaces.Discrete(2)))
    with pytest.raises(BadArguments, match=r"strict_v0 has actions of Sequence.* Pass read="):
        PettingZooGame(games.Strict)
