"""Rounds: several seats answer one moment, and nobody sees what another did before the end."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import gem
from gem.testing.envs import Signs


def played(*actions: str) -> list[gem.Step]:
    env = Signs()
    env.reset(seed=1)
    return [env.step(action) for action in actions]


def test_each_action_of_a_round_is_a_step_that_shows_and_pays_nothing() -> None:
    first, second = played("rock", "scissors")

    assert (first.seat, first.observations, first.rewards) == (1, {}, (0.0, 0.0))
    assert first.observation == "Three rounds. Answer rock, paper or scissors.\nRound 1."
    assert (second.seat, second.rewards, second.reward) == (0, (1.0, -1.0), -1.0)
    assert second.observations.keys() == {0, 1}


def test_a_record_tells_a_round_from_turns_that_follow_one_another() -> None:
    [episode] = gem.run(lambda request: "rock", Signs, episodes=1)

    waiting = [turn.info.get("waiting_seats") for turn in episode.turns]

    assert waiting == [[1], None] * 3
    assert all("waiting_seats" not in turn.info for turn in episode.of_seat(0).turns)


@pytest.mark.parametrize(
    ("left", "right", "errors"),
    [
        ("spock", "rock", ["invalid", None]),
        ("rock", "spock", [None, "invalid"]),
        ("spock", "spock", ["invalid", "invalid"]),
        ("rock", "rock", [None, None]),
    ],
)
def test_a_refused_action_of_a_round_is_told_in_the_part_of_its_seat(
    left: str, right: str, errors: list[str | None]
) -> None:
    policies = {"left": lambda request: left, "right": lambda request: right}
    [episode] = gem.run(policies, Signs, episodes=1)

    for part, error in zip(episode.parts(), errors, strict=True):
        assert [turn.info.get("action_error") for turn in part.turns] == [error] * 3
        assert all("action_errors" not in turn.info for turn in part.turns)


class Reworded(Signs):
    """Says otherwise than the round why the last action of it was refused."""

    def step_all(self, actions: Mapping[int, str]) -> gem.Step:
        step = super().step_all(actions)
        if "action_error" not in step.info:
            return step
        return step._replace(info={**step.info, "action_error": "format"})


def test_what_a_step_says_of_its_own_action_counts_more_than_what_the_round_says() -> None:
    policies = {"left": lambda request: "rock", "right": lambda request: "spock"}
    [episode] = gem.run(policies, Reworded, episodes=1)
    view = gem.SeatView(Reworded(), "right", lambda request: "rock")
    view.reset(seed=1)

    assert [turn.info["action_error"] for turn in episode.of_seat(1).turns] == ["format"] * 3
    assert view.step("spock").info == {"action_error": "format"}


@pytest.mark.parametrize("hidden", ["rock", "paper", "nonsense"])
def test_the_second_seat_of_a_round_sees_nothing_of_the_first(hidden: str) -> None:
    assert played(hidden) == played("scissors")


def test_turns_count_the_actions_of_all_seats() -> None:
    env = Signs()
    env.reset(seed=1)
    for _ in range(3):
        env.step("rock")
        end = env.step("nothing")

    assert (env.turn, end.terminated, end.rewards) == (6, True, (1.0, -1.0))
    assert end.info["successes"] == (True, False)
    assert end.info["action_error"] == "invalid"


@pytest.mark.parametrize(
    ("left", "right", "rewards"),
    [
        ("rock", "rock", (0.0, 0.0)),
        ("x", "y", (0.0, 0.0)),
        ("rock", "scissors", (1.0, -1.0)),
        ("rock", "paper", (-1.0, 1.0)),
        ("x", "paper", (-1.0, 1.0)),
    ],
)
def test_a_sign_beats_another_and_what_is_none(
    left: str, right: str, rewards: tuple[float, float]
) -> None:
    assert played(left, right)[-1].rewards == rewards
