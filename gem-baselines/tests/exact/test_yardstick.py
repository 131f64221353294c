"""The exact values of small environments, beside closed forms and beside play."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import gem
from gem import SeatedEnv, Snapshot
from gem.cli._main import main
from gem.env import Env, Step
from gem.errors import BadArguments, SnapshotError
from gem_baselines.exact.yardstick import yardstick

pytest.importorskip("gem_envs_games", reason="gem-envs-games is not installed")

GUESS = "game:GuessTheNumber-v0"
SMALL = [
    (GUESS, {"max_number": 4, "max_turns": 3}),
    (GUESS, {"max_number": 7, "max_turns": 2}),
    ("game:TowerofHanoi-v0-easy", {}),
    ("game:TowerofHanoi-v1-easy", {}),
]


class Urn(Env):
    """A ball is drawn at each of two turns: bet on its colour, of which nothing is told."""

    max_turns: int | None = 2

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.is_odd = self.rng.randrange(3) == 0
        return "An urn.", {}

    def step(self, action: str) -> Step:
        is_red = self.rng.randrange(4) < (1 if self.is_odd else 3)
        earned = {"red": float(is_red), "blue": float(not is_red), "pass": 0.25}[action]
        return Step("red" if is_red else "blue", earned, self.turn == 1, False, {})

    def sample_action(self) -> str:
        return self.sample_rng.choice(["red", "blue", "pass"])


def by_hand(is_best: bool) -> float:
    """The value of the urn's play, by the definition: over beliefs, with Bayes' rule."""
    pick = max if is_best else min
    odd = Fraction(1, 3)

    def red(odd: Fraction) -> Fraction:
        return odd / 4 + (1 - odd) * 3 / 4

    def best_of(odd: Fraction) -> Fraction:
        return pick(red(odd), 1 - red(odd), Fraction(1, 4))

    after_red = odd / 4 / red(odd)
    after_blue = odd * 3 / 4 / (1 - red(odd))
    later = red(odd) * best_of(after_red) + (1 - red(odd)) * best_of(after_blue)
    return float(best_of(odd) + later)


def test_the_best_play_knows_no_more_than_it_was_shown() -> None:
    gem.register("urn:Urn", Urn)

    found = yardstick("urn:Urn")

    assert found.worst is not None
    assert found.best.low == pytest.approx(by_hand(is_best=True), abs=1e-12)
    assert found.worst.low == pytest.approx(by_hand(is_best=False), abs=1e-12)
    assert found.random.low == pytest.approx(2 * (1 + 0.25) / 3, abs=1e-12)
    assert found.best.turns == {2: 1.0}


@pytest.mark.parametrize(("highest", "turns"), [(4, 2.0), (7, 17 / 7), (10, 2.9)])
def test_the_best_play_of_guess_the_number_takes_the_turns_of_bisection(
    highest: int, turns: float
) -> None:
    max_turns = highest.bit_length()  # as many as bisection may need

    found = yardstick(GUESS, {"max_number": highest, "max_turns": max_turns}, episodes=2)

    assert found.best.is_exact
    assert found.best.low == 1.0
    assert found.best.mean_turns == pytest.approx(turns, abs=1e-12)


@pytest.mark.parametrize(("env_id", "env_kwargs"), SMALL)
def test_random_play_lies_within_the_interval_of_playing(
    env_id: str, env_kwargs: dict[str, Any]
) -> None:
    exact = yardstick(env_id, env_kwargs)
    played = yardstick(env_id, env_kwargs, most_steps=0, episodes=2_000)

    assert exact.random.is_exact
    assert not played.random.is_exact
    assert played.random.low <= exact.random.low <= played.random.high
    assert exact.random.turns is not None
    assert math.fsum(exact.random.turns.values()) == pytest.approx(1.0, abs=1e-12)


def test_the_solver_reaches_the_best_play_where_all_is_enumerated() -> None:
    found = yardstick("game:TowerofHanoi-v0-easy")

    assert (found.best.low, found.best.mean_turns) == (1.0, 7.0)
    assert found.worst is not None
    assert found.worst.low == 0.0
    assert found.normalised(found.best.low) == 1.0
    assert found.normalised(found.random.low) == 0.0


def test_where_too_much_would_be_enumerated_the_solver_bounds_the_best_play() -> None:
    found = yardstick("game:Mastermind-v0-hard", most_steps=100, episodes=5)

    assert not found.best.is_exact
    assert found.best.low <= 1.0
    assert found.best.high == 30.0  # of 30 turns, each might pay 1 for all that is declared
    assert found.worst is None
    assert found.normalised(0.5) is None
    assert "5 episodes" in found.random.how


class Unsolved(Urn):
    """A draw of its steps cannot be enumerated, and it has no solution."""

    def step(self, action: str) -> Step:
        self.rng.gauss(0, 1)
        return super().step(action)


def test_without_a_solution_random_play_bounds_the_best_one() -> None:
    gem.register("urn:Unsolved", Unsolved)

    found = yardstick("urn:Unsolved", episodes=50)

    assert found.best.low == found.random.low
    assert found.best.high == math.inf
    assert found.best.to_json()["high"] is None


class Coin(Urn):
    """It draws one of its actions at once, or draws again among others."""

    def sample_action(self) -> str:
        if self.sample_rng.randrange(2):
            return "pass"
        return self.sample_rng.choice(["red", "red", "blue", "pass"])


class Again(Urn):
    """It draws until the action is allowed: red is so twice as often."""

    def sample_action(self) -> str:
        action = None
        while action is None:
            action = self.sample_rng.choice(["red", "red", "pass", None])
        return action


class Turning(Urn):
    """Which action it draws depends on how many draws it took, and those have no end."""

    def sample_action(self) -> str:
        draws = 0
        while self.sample_rng.randrange(2):
            draws += 1
        return ["red", "blue"][draws % 2]


@pytest.mark.parametrize(
    ("sampler", "red", "blue"), [(Coin, 1 / 4, 1 / 8), (Again, 2 / 3, 0.0)], ids=["once", "again"]
)
def test_actions_count_as_often_as_they_are_drawn(
    sampler: type[Env], red: float, blue: float
) -> None:
    gem.register("urn:Sampled", sampler)

    found = yardstick("urn:Sampled", episodes=2)

    of_a_turn = red * 7 / 12 + blue * 5 / 12 + (1 - red - blue) / 4
    assert found.random.is_exact
    assert found.random.low == pytest.approx(2 * of_a_turn, abs=1e-12)


def test_draws_without_end_that_are_no_repetition_are_not_called_exact() -> None:
    gem.register("urn:Turning", Turning)

    found = yardstick("urn:Turning", episodes=20)

    assert not found.random.is_exact
    assert "a random action takes more than 8 draws" in found.random.how


class Dealt(Urn):
    """Its start is drawn again until it fits: it is odd with a probability of 1/4."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        drawn = 9
        while drawn > 3:
            drawn = self.rng.randrange(24)
        self.is_odd = drawn == 0
        return "An urn.", {}


def test_a_start_that_is_drawn_again_counts_as_often_as_it_is_drawn() -> None:
    gem.register("urn:Dealt", Dealt)

    found = yardstick("urn:Dealt", episodes=2)

    red = 1 / 4 * 1 / 4 + 3 / 4 * 3 / 4
    assert found.random.is_exact
    assert found.random.low == pytest.approx(2 * (red + (1 - red) + 0.25) / 3, abs=1e-12)
    assert found.best.turns == {2: 1.0}


class Hidden(Env):
    """A step draws what the next one pays, and says nothing of it."""

    max_turns = 2

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.pays = 0
        return "Go on.", {}

    def step(self, action: str) -> Step:
        paid = self.pays
        self.pays = self.rng.choice([0, 3])
        return Step("", float(paid), self.turn == 1, False, {})

    def sample_action(self) -> str:
        return "on"

    def solve(self) -> str:
        return "on"


def test_what_a_step_draws_in_secret_counts_in_every_play() -> None:
    gem.register("urn:Hidden", Hidden)

    found = yardstick("urn:Hidden", episodes=2)

    assert (found.best.low, found.random.low) == (1.5, 1.5)


class Faulty(Urn):
    """It fails in a state that few episodes reach."""

    def step(self, action: str) -> Step:
        if self.turn == 1 and action == "blue":
            raise ValueError("no\nblue here")
        return super().step(action)


class Endless(Urn):
    """No episode of it ends."""

    max_turns = None
    resets = 0

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        Endless.resets += 1
        return super().reset()

    def step(self, action: str) -> Step:
        return Step("", 0.0, False, False, {})

    def sample_action(self) -> str:
        return "wait"


def test_an_environment_that_fails_in_some_state_is_refused_in_one_line() -> None:
    gem.register("urn:Faulty", Faulty)

    with pytest.raises(BadArguments, match=r"ValueError: no blue here") as caught:
        yardstick("urn:Faulty", episodes=2, seed=1)

    assert "\n" not in str(caught.value)


def test_of_an_environment_that_never_ends_one_episode_is_played() -> None:
    gem.register("urn:Endless", Endless)

    with pytest.raises(BadArguments, match="over 10,000 turns"):
        yardstick("urn:Endless", episodes=1_000)

    assert Endless.resets <= 2


def test_what_is_summed_counts_as_a_step_too() -> None:
    # It has 816 questions, and a sum over 408 outcomes.
    found = yardstick("game:TowerofHanoi-v0-easy", most_steps=1_000, episodes=2)

    assert not found.random.is_exact


class Unsaved(Urn):
    """No state of it can be saved, which it says in two lines."""

    def snapshot(self) -> Snapshot:
        raise SnapshotError("no\nsnapshot")


def test_a_reason_of_two_lines_is_printed_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    gem.register("urn:Unsaved", Unsaved)

    assert main(["yardstick", "urn:Unsaved", "--episodes", "2"]) == 0

    table = capsys.readouterr().out
    assert len(table.splitlines()) == 4
    assert "(a state that cannot be saved (no snapshot))" in table


class Mute(Env):
    """It offers no action."""

    max_turns = 1

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Say something.", {}

    def step(self, action: str) -> Step:
        return Step("", 0.0, True, False, {})


def test_an_environment_that_offers_no_action_is_refused() -> None:
    gem.register("urn:Mute", Mute)

    with pytest.raises(BadArguments, match="Mute defines no sample_action"):
        yardstick("urn:Mute")


# The best and the random play against players at random; OpenSpiel has the sum of the best of both
# seats of Leduc poker as 4.747, and 1 - 1/192 for X of tic-tac-toe is often published.
SEATS = [
    ("game:TicTacToe-v0", "X", 191 / 192, 0.2968253968253968),
    ("game:KuhnPoker-v0", "first", 1 / 2, 1 / 8),
    ("game:KuhnPoker-v0", "second", 5 / 12, -1 / 8),
    ("game:LeducPoker-v0", "first", 2.0875, -0.078125),
    ("game:LeducPoker-v0", "second", 2.659722222222222, 0.078125),
    ("game:PrisonersDilemma-v0", "second", 15.0, 11.25),
]


@pytest.mark.parametrize(("env_id", "seat", "best", "random"), SEATS)
def test_a_seat_is_measured_against_random_play(
    env_id: str, seat: str, best: float, random: float
) -> None:
    found = yardstick(env_id, seat=seat)

    assert found.seat == seat
    assert found.best.low == pytest.approx(best, abs=1e-12)
    assert found.random.low == pytest.approx(random, abs=1e-12)
    assert found.worst is not None
    assert found.worst.is_exact


@pytest.mark.parametrize("env_id", ["game:KuhnPoker-v0", "game:LeducPoker-v0"])
def test_the_best_plays_of_all_seats_are_the_exploitability_of_random_play(env_id: str) -> None:
    with gem.make(env_id) as env:
        exploitability = env.unwrapped.hint_exploitability("sample_action")  # type: ignore[attr-defined]
        best = [yardstick(env_id, seat=seat, episodes=2).best.low for seat in env.seats]

    assert sum(best) / 2 == pytest.approx(exploitability, abs=1e-9)


@pytest.mark.parametrize("env_id", ["game:KuhnPoker-v0", "game:Nim-v0"])
def test_without_a_seat_what_all_seats_earn_adds_up_to_nothing_in_a_zero_sum_game(
    env_id: str,
) -> None:
    kwargs = {"piles": [1, 2]} if env_id == "game:Nim-v0" else {}
    found = yardstick(env_id, kwargs, episodes=2)

    assert found.worst is not None
    assert (found.best.low, found.random.low, found.worst.low) == (0.0, 0.0, 0.0)
    assert found.best.is_exact


def test_without_a_seat_the_exact_return_is_that_of_the_records() -> None:
    exact = yardstick("game:PrisonersDilemma-v0")
    played = yardstick("game:PrisonersDilemma-v0", most_steps=0, episodes=2_000)

    assert exact.random.is_exact
    assert played.random.low <= exact.random.low <= played.random.high
    assert exact.best.low > played.random.high
    assert played.best.high == math.inf  # what is declared is of one seat


def test_what_a_seat_earns_lies_within_the_interval_of_its_view() -> None:
    exact = yardstick("game:KuhnPoker-v0", seat="second")
    played = yardstick("game:KuhnPoker-v0", seat="second", most_steps=0, episodes=2_000)

    assert not played.random.is_exact
    assert played.random.low <= exact.random.low <= played.random.high
    assert played.best.high == math.inf  # its own steps are not all that pays it


class Late(SeatedEnv):
    """By a coin the first seat is asked alone, and then the second has no turn."""

    seats = ("first", "second")
    reward_range = (0.0, 1.0)

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        self.tell_all("Say yes or no.")
        return self.begin(self.rng.randrange(2))

    def step(self, action: str) -> Step:
        self.tell_all("Over.")
        return self.end({self.seat: float(action == "yes"), 1 - self.seat: 0.25})

    def sample_action(self) -> str:
        return self.sample_rng.choice(["yes", "no"])


def test_an_episode_without_a_turn_of_the_seat_is_begun_again() -> None:
    gem.register("urn:Late", Late)

    found = yardstick("urn:Late", seat="second", episodes=2)

    assert (found.best.low, found.random.low) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("env_id", "seat", "why"),
    [
        ("game:TicTacToe-v0", "Z", "take X or O"),
        ("game:GuessTheNumber-v0-easy", "X", "it has one seat: ask without"),
    ],
)
def test_a_seat_that_there_is_not_is_refused(env_id: str, seat: str, why: str) -> None:
    with pytest.raises(BadArguments, match=why):
        yardstick(env_id, seat=seat)
