"""An environment of ours is a PettingZoo environment: its own tests pass, and misuse is told."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, ResetNeeded
from gem.testing import registrations_undone
from gem.testing.envs import Coin, Guess, Kuhn, LastOne, Signs

pytest.importorskip("pettingzoo", reason="gem-integrations' extra `pettingzoo` is not installed")

import numpy as np
import pettingzoo

from gem_integrations.pettingzoo import PettingZooGame, aec_env, parallel_env, register

from . import games

# Importing them imports a game in a way that warns, and this import passes warnings over.
zoo_tests = pytest.importorskip("pettingzoo.test")

# These tests advise: that spaces be of numbers, and agents be called `player_0`.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo.test")


class Bids(gem.SeatedEnv):
    """Three seats bid at once without an end, and each sees what all bid; "?" is asked again."""

    seats = ("red", "green", "blue")

    def reset(self, seed: int | None = None, start: int = 0) -> Any:
        self.bids: dict[int, str] = {}
        self.tell_all(f"Bid above {start or self.rng.randint(1, 9)}.")
        return self.begin(0, 1, 2)

    def step(self, action: str) -> gem.Step:
        return self.step_all({self.seat: action})

    def step_all(self, actions: Mapping[int, str]) -> gem.Step:
        self.bids |= {seat: bid for seat, bid in actions.items() if bid != "?"}
        again = [seat for seat in range(3) if seat not in self.bids]
        for seat in again:
            self.tell(seat, "Bid a number.")
        if again:
            return self.ask(*again, info={"action_error": "format"})
        rewards = {seat: float(bid) for seat, bid in self.bids.items()}
        self.tell_all(", ".join(self.bids[seat] for seat in range(3)))
        self.bids = {}
        return self.ask(0, 1, 2, rewards=rewards)

    def sample_action(self) -> str:
        return str(self.sample_rng.randint(1, 100))


def one_seat() -> gem.Env:
    return gem.SeatView(Kuhn(), "second", lambda request: r"\boxed{bet}")


def pick() -> gem.Env:
    return PettingZooGame(games.Pick, options={"players": 3})


TURNS: list[Callable[[], gem.Env]] = [Kuhn, LastOne, Signs, Bids, Guess, one_seat, pick]
ROUNDS: list[Callable[[], gem.Env]] = [Signs, Bids, Coin]


@pytest.mark.parametrize("make", TURNS)
def test_pettingzoos_own_tests_of_the_aec_form_pass(make: Callable[[], gem.Env]) -> None:
    zoo_tests.api_test(aec_env(make()), num_cycles=40)
    zoo_tests.seed_test(lambda: aec_env(make()), num_cycles=40)


@pytest.mark.parametrize("make", ROUNDS)
def test_pettingzoos_own_tests_of_the_parallel_form_pass(make: Callable[[], gem.Env]) -> None:
    zoo_tests.parallel_api_test(parallel_env(make()), num_cycles=40)
    zoo_tests.parallel_seed_test(lambda: parallel_env(make()), num_cycles=40)


def test_pettingzoos_own_test_of_max_cycles_passes() -> None:
    def env(max_cycles: int) -> Any:
        return aec_env(Bids, max_cycles=max_cycles)

    def parallel(max_cycles: int) -> Any:
        return parallel_env(Bids, max_cycles=max_cycles)

    zoo_tests.max_cycles_test(types.SimpleNamespace(env=env, parallel_env=parallel))


def test_a_limit_of_cycles_truncates_a_game_in_turn_once_all_have_acted_so_often() -> None:
    zoo_env = aec_env(Kuhn, max_cycles=1)
    zoo_env.reset(seed=1)

    zoo_env.step(r"\boxed{pass}")
    after_one = dict(zoo_env.truncations)
    zoo_env.step(r"\boxed{bet}")  # without a limit it would be the first one's turn again

    assert after_one == {"first": False, "second": False}
    assert zoo_env.truncations == {"first": True, "second": True}
    assert zoo_env.terminations == after_one


def test_an_observation_is_a_text_with_a_dtype_that_its_space_holds() -> None:
    zoo_env = aec_env(Kuhn)
    zoo_env.reset(seed=1)

    observation, *_ = zoo_env.last()

    assert observation.startswith("Kuhn poker")
    assert observation.dtype == zoo_env.observation_space("first").dtype == np.dtype(str)
    assert zoo_env.observation_space("first").contains(observation)
    assert zoo_env.observe("second") == ""


def test_a_seeded_space_samples_valid_actions_and_changes_no_episode() -> None:
    zoo_env = aec_env(Kuhn)
    zoo_env.reset(seed=1)
    space = zoo_env.action_space("first")
    own = zoo_env.env.sample_rng.getstate()
    space.seed(5)
    first = [space.sample() for _ in range(8)]
    space.seed(5)

    assert [space.sample() for _ in range(8)] == first
    assert set(first) == {r"\boxed{bet}", r"\boxed{pass}"}
    assert zoo_env.env.sample_rng.getstate() == own


def test_a_space_samples_words_where_no_valid_action_is_known() -> None:
    class Silent(Kuhn):
        def sample_action(self) -> str:
            raise NotImplementedError

    zoo_env = aec_env(Silent)
    before = zoo_env.action_space("first").sample()  # no episode has begun
    zoo_env.reset(seed=1)

    assert before.isalpha()
    assert zoo_env.action_space("first").sample().isalpha()


def test_rewards_add_up_and_agents_that_are_out_take_a_step_of_none() -> None:
    zoo_env = aec_env(Kuhn)
    zoo_env.reset(seed=1)
    order = []
    earned = {}
    for agent in zoo_env.agent_iter():
        _, reward, terminated, truncated, _ = zoo_env.last()
        order.append(agent)
        earned[agent] = reward
        zoo_env.step(None if terminated or truncated else r"\boxed{pass}")

    assert order == ["first", "second", "first", "second"]
    assert earned == zoo_env.returns
    assert sorted(earned.values()) == [-1.0, 1.0]
    assert zoo_env.agents == []


def test_an_agent_may_be_out_before_the_others() -> None:
    zoo_env = aec_env(LastOne)
    zoo_env.reset(seed=1)
    left = []
    for agent in zoo_env.agent_iter():
        is_out = zoo_env.terminations[agent] or zoo_env.truncations[agent]
        zoo_env.step(None if is_out else zoo_env.action_space(agent).sample())
        left.append(len(zoo_env.agents))

    assert left[0] == 3
    assert 2 in left
    assert left[-1] == 0


def test_an_info_tells_an_agent_of_itself_alone() -> None:
    zoo_env = aec_env(Kuhn)
    zoo_env.reset(seed=1)

    zoo_env.step("I do not know.")
    after_error = {agent: dict(info) for agent, info in zoo_env.infos.items()}
    zoo_env.step(r"\boxed{pass}")

    assert after_error == {"first": {"action_error": "format"}, "second": {}}
    assert sorted(info["success"] for info in zoo_env.infos.values()) == [False, True]


@pytest.mark.parametrize("actions", [("spock", "rock"), ("rock", "spock")])
def test_each_agent_of_a_round_is_told_whether_its_own_action_was_refused(
    actions: tuple[str, str],
) -> None:
    in_turn = aec_env(Signs)
    in_turn.reset(seed=1)
    for action in actions:
        in_turn.step(action)
    at_once = parallel_env(Signs)
    at_once.reset(seed=1)
    *_, infos = at_once.step(dict(zip(Signs.seats, actions, strict=True)))

    errors = {"rock": {}, "spock": {"action_error": "invalid"}}
    expected = {seat: errors[act] for seat, act in zip(Signs.seats, actions, strict=True)}
    assert (in_turn.infos, infos) == (expected, expected)


def test_what_a_wrapper_says_of_an_action_stands_before_what_the_round_says() -> None:
    class Tired(gem.Wrapper):
        """Says of the last action of each round that it came too late."""

        all_seats = True

        def step(self, action: str) -> gem.Step:
            step = self.env.step(action)
            if "action_errors" not in step.info:
                return step
            return step._replace(info={**step.info, "action_error": "late"})

    zoo_env = parallel_env(Tired(Signs()))
    zoo_env.reset(seed=1)

    *_, infos = zoo_env.step({"left": "spock", "right": "spock"})

    errors = {seat: info["action_error"] for seat, info in infos.items()}
    assert errors == {"left": "invalid", "right": "late"}


def test_where_one_of_a_round_is_asked_again_the_others_are_told_that_they_are_not() -> None:
    zoo_env = parallel_env(Bids)
    zoo_env.reset(seed=1)

    observations, rewards, *_, infos = zoo_env.step({"red": "5", "green": "?", "blue": "7"})
    shown, later, *_ = zoo_env.step({"red": "99", "green": "6", "blue": "99"})

    assert observations == {"red": "", "green": "Bid a number.", "blue": ""}
    assert set(rewards.values()) == {0.0}
    assert [infos[agent].get("is_asked", True) for agent in Bids.seats] == [False, True, False]
    assert (shown["red"], later) == ("5, 6, 7", {"red": 5.0, "green": 6.0, "blue": 7.0})


def test_the_same_seed_is_the_same_episode_and_known_options_are_handed_on() -> None:
    zoo_env = aec_env(Bids)
    zoo_env.reset(seed=7)
    first = zoo_env.observe("red")
    zoo_env.reset(seed=7)
    again = zoo_env.observe("red")
    zoo_env.reset(seed=7, options={"start": 50, "unknown": 1})

    assert first == again
    assert zoo_env.observe("red") == "Bid above 50."


def test_it_renders_as_text_and_closes(capsys: pytest.CaptureFixture[str]) -> None:
    as_text = aec_env(Signs, render_mode="ansi")
    as_text.reset(seed=1)
    as_text.step("rock")
    printed = parallel_env(Signs, render_mode="human")
    printed.reset(seed=1)
    printed.render()
    as_text.close()
    as_text.close()
    printed.close()

    assert as_text.render() is not None
    assert str(as_text.render()).endswith("left answered: rock")
    assert capsys.readouterr().out.startswith("left was shown: Three rounds.")
    assert aec_env(Signs).render() is None
    with pytest.raises(gem.errors.EnvClosed):
        as_text.reset()


def wrong_uses() -> list[Any]:
    def out_of_turn() -> None:
        zoo_env = aec_env(Kuhn)
        zoo_env.reset(seed=1)
        zoo_env.step(None)

    def number() -> None:
        zoo_env = aec_env(Kuhn)
        zoo_env.reset(seed=1)
        zoo_env.step(3)  # type: ignore[arg-type]

    def after_its_end() -> None:
        zoo_env = aec_env(Kuhn)
        zoo_env.reset(seed=1)
        zoo_env.step("pass")
        zoo_env.step("pass")
        zoo_env.step(r"\boxed{bet}")

    def nobody() -> None:
        aec_env(Kuhn).observe("third")

    def one_is_silent() -> None:
        zoo_env = parallel_env(Signs)
        zoo_env.reset(seed=1)
        zoo_env.step({"left": "rock"})

    def one_too_many() -> None:
        zoo_env = parallel_env(Signs)
        zoo_env.reset(seed=1)
        zoo_env.step({"left": "rock", "right": "rock", "middle": "rock"})

    def one_is_a_number() -> None:
        zoo_env = parallel_env(Signs)
        zoo_env.reset(seed=1)
        try:
            zoo_env.step({"left": "rock", "right": 3})  # type: ignore[dict-item]
        finally:
            assert zoo_env.env.turn == 0  # nothing was taken

    return [
        pytest.param(one_is_a_number, "was given int as the action of right", id="round"),
        pytest.param(out_of_turn, "as the action of first, whose turn it is", id="None"),
        pytest.param(number, "was given int as the action of first", id="number"),
        pytest.param(after_its_end, "first, which is out. Pass None, which removes it.", id="out"),
        pytest.param(nobody, "agent 'third'. Its agents are 'first', 'second'.", id="nobody"),
        pytest.param(one_is_silent, "was given no action of right.", id="absent"),
        pytest.param(one_too_many, "Its agents are 'left', 'right'.", id="unknown"),
        pytest.param(lambda: parallel_env(Kuhn).reset(), "asks first alone", id="turns"),
        pytest.param(lambda: aec_env(Kuhn, max_cycles=0), "max_cycles=0", id="cycles"),
        pytest.param(lambda: aec_env(Kuhn, render_mode="rgb_array"), "Pass 'ansi'", id="render"),
        pytest.param(
            lambda: aec_env(Kuhn(), seed=1), "made already was given with seed", id="made"
        ),
    ]


@pytest.mark.parametrize(("use", "message"), wrong_uses())
def test_a_wrong_use_is_told_in_one_line(use: Callable[[], None], message: str) -> None:
    with pytest.raises(BadArguments) as caught:
        use()

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", [aec_env, parallel_env])
def test_a_step_before_a_reset_is_refused(make: Callable[..., Any]) -> None:
    with pytest.raises(ResetNeeded, match="no episode is running"):
        make(Signs).step({})


def test_pettingzoo_makes_ours_once_they_are_registered() -> None:
    with registrations_undone():
        gem.register("zoo_demo:Signs-v3", Signs)
        ids = register("zoo_demo:Signs-v3")
        again = register("zoo_demo:Signs-v3")

        made = pettingzoo.make("parallel", ids[0], max_cycles=2)

    assert ids == again == ["zoo_demo/Signs-v3"]
    assert (made.possible_agents, made.max_cycles) == (["left", "right"], 2)


def test_without_the_extra_one_line_says_what_to_install() -> None:
    code = """
import importlib.metadata as metadata
whole = metadata.distribution
def distribution(name):
    if name == "pettingzoo":
        raise metadata.PackageNotFoundError(name)
    return whole(name)
metadata.distribution = distribution
import gem
def attempt(call):
    try:
        call()
    except gem.errors.MissingRequirement as error:
        print(error)
attempt(lambda: __import__("gem_integrations.pettingzoo"))
attempt(lambda: gem.make("pettingzoo:Game-v0"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    lines = done.stdout.splitlines()
    assert [line.split(" needs ")[0] for line in lines] == [
        "gem_integrations.pettingzoo",
        "pettingzoo:Game-v0",
    ]
    assert all("pettingzoo" in line.partition("Run: pip install ")[2] for line in lines), done
